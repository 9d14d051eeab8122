"""Which graphs host execution is for (spec/host_execution.md section 2.2)."""

from __future__ import annotations

from ge_dialect.analysis.known_shape import type_reason
from ge_dialect.dialects.ge.access import ge_attr, ge_type, get_flag, nodes, source_op
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.kernels.shapes.facts import is_data_dependent
from ge_dialect.kernels.spec import OpSpec

SINGLE_OP_SCENE = "_single_op_scene"


def is_dynamic(graph: GraphOp) -> bool:
    """Whether the graph is scheduled by the host: it was cut into clusters, or its unknown-shape flag is set.

    A graph that carries neither attribute, as importers of models leave it, answers by its nodes: is some output's
    size known at run time only?
    """
    if get_flag(graph, "ge.dynamic_shape_partitioned") or get_flag(graph, "ge.unknown_shape"):
        return True
    if "ge.unknown_shape" in graph.attributes:
        return False
    sized: set[int] = set()
    return any(_has_unknown_size(op, sized) for op in nodes(graph) if isinstance(op, GeNode))


def _has_unknown_size(op: GeNode, sized: set[int]) -> bool:
    """`sized`: identities of the types that are known to have a size; models have few types."""
    for result in op.results:
        if id(result.type) not in sized:
            if type_reason(result.type) is not None:
                return True
            sized.add(id(result.type))
    return is_data_dependent(OpSpec(ge_type(op), {}, 0, source_op(op)))


def is_single_op(graph: GraphOp) -> bool:
    """Whether the graph is run for the sake of one operator: the graph says so, or where it is silent some node."""
    if "ge.single_op_scene" in graph.attributes:
        return get_flag(graph, "ge.single_op_scene")
    return any(bool(ge_attr(op, SINGLE_OP_SCENE, False)) for op in nodes(graph))


def skip_reason(graph: GraphOp) -> str | None:
    """Why the graph and what it calls is left alone, None for a graph to work on."""
    if is_single_op(graph):
        return "single-op-scene"
    return None if is_dynamic(graph) else "static-graph"
