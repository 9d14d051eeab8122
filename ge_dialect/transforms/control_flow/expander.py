"""Taking nodes that own graphs apart, from the outside to the inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.control_flow.owned_graph import OwnedGraph, owned_graph
from ge_dialect.dialects.ge.access import (
    control_operands,
    control_result,
    data_operands,
    ensure_control_result,
    ge_type,
    node_name,
    source_op,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import DataOp, NetOutputOp
from ge_dialect.transforms.control_flow.flat_graph import FlatGraph
from ge_dialect.transforms.control_flow.routes import bind_formals


class Lower(Protocol):
    """Puts a construct in the place of a node that owns graphs, and its values in the place of the node's results."""

    def __call__(self, expander: Expander, op: Operation) -> None: ...


class Expander:
    """One run over a model. `lowerings` says how each type is taken apart (`key_of`)."""

    def __init__(
        self, root: GraphOp, table: dict[str, GraphOp], lowerings: Mapping[str, Lower]
    ) -> None:
        self.flat = FlatGraph(root, [x for x in table.values() if x is not root])
        self.table = table
        self.constructs = 0
        self._lowerings = lowerings

    def run(self) -> None:
        """Take apart every node of the root graph that owns graphs."""
        for op in list(self.flat.root.block.ops):
            if subgraph_names(op):
                self.flat.place = op
                self.expand(op)
                self.flat.place = None
                self.flat.root.block.erase_op(op)

    def expand(self, op: Operation) -> None:
        """Put the construct before `place`; the node itself stays, without readers."""
        self.constructs += 1
        self._lowerings[key_of(op)](self, op)

    def owned(self, op: Operation) -> list[OwnedGraph]:
        """The graphs of a node, in slot order."""
        return [owned_graph(self.table[name]) for name in subgraph_names(op)]

    def splice(
        self, owner: Operation, graph: OwnedGraph, values: Mapping[DataOp, SSAValue]
    ) -> list[SSAValue]:
        """Put the nodes of an owned graph before `place`, in order; its outputs."""
        bind_formals(graph, values)
        prefix = node_name(owner)
        outputs: list[SSAValue] = []
        block = graph.graph.block
        for op in list(block.ops):
            if isinstance(op, DataOp):
                continue
            if isinstance(op, NetOutputOp):
                outputs = list(data_operands(op))
            elif subgraph_names(op):
                self.expand(op)
            else:
                name = node_name(op)
                taken = name in self.flat.names
                self.flat.move(op, f"{prefix}/{name}" if taken else name)
                continue
            block.erase_op(op)
        return outputs

    def order_edges(self, op: Operation, first: Operation, last: Operation) -> None:
        """Control edges that led to and from `op` lead to the first and from the last node of its construct."""
        if edges := list(control_operands(op)):
            first.operands = [*first.operands, *edges]
        if (result := control_result(op)) is not None and result.first_use is not None:
            result.replace_all_uses_with(ensure_control_result(last))


def key_of(op: Operation) -> str:
    """The name under which a node that owns graphs is looked up: GE's type, or `onnx.` and ONNX's."""
    source = source_op(op)
    return (
        ge_type(op) if source is None else f"onnx.{source.op}" if source.domain == "ai.onnx" else ""
    )
