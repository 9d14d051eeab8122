"""What may be removed, merged or computed beforehand: which nodes do nothing but make their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import (
    control_operands,
    control_result,
    ge_type,
    source_op,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import AbsentOp, GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import ConstantOp, NetOutputOp
from ge_dialect.kernels import OpSpec, UnsupportedOpError, find

PURE_DOMAINS = frozenset(
    {"ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"}
)
"""Domains all of whose operators only make outputs. Operators of other domains are nobody's to remove."""

RANDOM_TYPES = frozenset(
    {
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
        "Dropout",
    }
)
"""Operators whose results differ from run to run (Dropout: in training; at inference it is forwarded, not folded)."""


@cache
def _known_to_kernels(ge_type: str) -> bool:
    """Whether a GE type is one that our kernels compute: an operator library type that nobody described is not."""
    try:
        find(OpSpec(ge_type, {}, 1))
    except UnsupportedOpError:
        return False
    return True


def takes_part_in_control(op: Operation) -> bool:
    """Whether a control edge that somebody reads begins or ends at the node: then its place in the order matters."""
    if control_operands(op):
        return True
    result = control_result(op)
    return result is not None and result.first_use is not None


def is_plain(op: Operation) -> bool:
    """Whether all that the node does is make its outputs from its inputs; nodes that own graphs are not plain."""
    if not isinstance(op, GeNode) or "subgraphs" in op.properties:
        return False
    source = source_op(op)
    if source is not None:
        return source.domain in PURE_DOMAINS
    return isinstance(op, ConstantOp) or _known_to_kernels(ge_type(op))


def is_repeatable(op: Operation) -> bool:
    """Whether the node is plain and gives the same outputs each time: what may be folded and merged."""
    return is_plain(op) and ge_type(op) not in RANDOM_TYPES


def is_removable(op: Operation, table: Mapping[str, GraphOp]) -> bool:
    """Whether the node may go when nobody reads it: it is plain, or it owns graphs all of whose nodes are removable.

    Graph inputs, NetOutput, variables, collectives, sends and receives, nodes on control edges and types that nobody
    described stay.
    """
    if isinstance(op, AbsentOp):
        return True
    if takes_part_in_control(op):
        return False
    if is_plain(op):
        return True
    if not isinstance(op, GeNode) or "subgraphs" not in op.properties:
        return False
    owned = [table.get(name) for name in subgraph_names(op)]
    return all(graph is not None and _only_computes(graph, table) for graph in owned)


def _only_computes(graph: GraphOp, table: Mapping[str, GraphOp]) -> bool:
    return all(
        isinstance(op, NetOutputOp) or ge_type(op) == "Data" or is_removable(op, table)
        for op in graph.block.ops
    )
