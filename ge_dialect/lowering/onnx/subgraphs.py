"""Operators that own graphs: which graph is which, and what the inputs of a body stand for."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import GraphProto, NodeProto
from xdsl.ir import Attribute, SSAValue

from ge_dialect.dialects.attrs import i64 as i64_attr
from ge_dialect.dialects.attrs import string
from ge_dialect.dialects.ge import SequenceType
from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.lowering.onnx.order import graphs_of
from ge_dialect.lowering.onnx.value_types import UNKNOWN, with_unknown_rank

GRAPH_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "If": ("then_branch", "else_branch"),
    "Loop": ("body",),
    "Scan": ("body",),
    "SequenceMap": ("body",),
}
"""ONNX operators that own graphs, with the attributes that hold them in slot order. Other operators (of other domains,
or added to ONNX later) note the names of theirs in `ge.subgraph_names`."""

LOOP_OWN_INPUTS = ("iteration", "condition")
"""The first inputs of a Loop's body, which the loop itself makes (`ge.formal`)."""

CAPTURED = "captured"
"""`ge.formal` of a `ge.data` that stands for a value of an enclosing graph, in bodies that have inputs of their own."""


def owned_graphs(node: NodeProto) -> list[tuple[str, GraphProto]]:
    """The graphs of a node with the names of their attributes, in slot order; unknown attributes by name."""
    order = GRAPH_ATTRIBUTES.get(node.op_type, ())
    rank = {name: i for i, name in enumerate(order)}
    return sorted(graphs_of(node), key=lambda item: (rank.get(item[0], len(order)), item[0]))


def attributes_in_slots(op: str, domain: str) -> tuple[str, ...] | None:
    """The attributes that hold the graphs of an operator of ONNX, None when it is not in the table."""
    return None if domain else GRAPH_ATTRIBUTES.get(op)


def parent_input(op: str, version: int, index: int) -> int | None:
    """Which input of the owning node input `index` of its body is; None for what a loop makes itself.

    Scan of opset 8 has the lengths of the sequences as its first input.
    """
    if op == "Loop":
        return None if index < len(LOOP_OWN_INPUTS) else index
    if op == "Scan" and version == 8:
        return index + 1
    return index


ARGUMENT = "argument"
"""`ge.formal` of a `ge.data` that an operator outside the table feeds in a way of its own."""


def formal_attributes(op: str, version: int, index: int) -> dict[str, Attribute]:
    """The attributes of the `ge.data` of a body's own input."""
    if op not in GRAPH_ATTRIBUTES:
        return {"ge.formal": string(ARGUMENT)}
    parent = parent_input(op, version, index)
    if parent is None:
        return {"ge.formal": string(LOOP_OWN_INPUTS[index])}
    return {"ge.parent_node_index": i64_attr(parent)}


def formal_type(
    op: str, version: int, index: int, declared: Attribute, operands: Sequence[SSAValue]
) -> Attribute:
    """The type of a body's own input: as declared, else as far as it follows from the owner's input.

    The number of the iteration is a scalar, the condition has one element. A value that a loop carries may change its
    shape, and an element of a scan has one dimension less; so only the element type is taken over.
    """
    parent = parent_input(op, version, index) if op in GRAPH_ATTRIBUTES else index
    if parent is None:
        if dims_of(declared) is not None:
            return declared
        number = tensor_type(dtype_by_name("INT64"), ())
        condition = with_unknown_rank(tensor_type(dtype_by_name("BOOL"), ()))
        return number if index == 0 else condition
    if declared != UNKNOWN or op not in GRAPH_ATTRIBUTES:
        return declared
    if parent >= len(operands):
        return declared
    kind = operands[parent].type
    if isinstance(kind, SequenceType) and op == "SequenceMap":
        return kind.element
    return with_unknown_rank(kind)
