"""Graphs that a node owns: what comes in and what goes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge.access import data_operands, get_int, get_text
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import DataOp, NetOutputOp


@dataclass(frozen=True, slots=True)
class OwnedGraph:
    """A graph, its inputs in block order and the values that it gives."""

    graph: GraphOp
    formals: tuple[DataOp, ...]
    outputs: tuple[SSAValue, ...]

    def index_of(self, formal: DataOp) -> int | None:
        """Which input of the owner a graph input is."""
        return get_int(formal, "ge.parent_node_index")


def owned_graph(graph: GraphOp) -> OwnedGraph:
    """The borders of a graph; without `ge.net_output` it gives nothing."""
    formals = tuple(op for op in graph.block.ops if isinstance(op, DataOp))
    outputs: Sequence[SSAValue] = ()
    for op in graph.block.ops:
        if isinstance(op, NetOutputOp):
            outputs = data_operands(op)
    return OwnedGraph(graph, formals, tuple(outputs))


def formal_kind(formal: DataOp) -> str | None:
    """`iteration`, `condition`, `captured`; None for an input that the owner feeds."""
    return get_text(formal, "ge.formal")


def own_inputs(op: Operation, body: OwnedGraph) -> int:
    """How many inputs of an ONNX loop are its own; captured values follow."""
    captured = [
        index
        for formal in body.formals
        if formal_kind(formal) == "captured" and (index := body.index_of(formal)) is not None
    ]
    return min(captured, default=len(data_operands(op)))
