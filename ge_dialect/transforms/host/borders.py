"""Who feeds the inputs of graphs that nodes own (spec/host_execution.md sections 6.4 and 6.5)."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.dialects.ge.access import (
    data_operands,
    ge_type,
    get_int,
    get_text,
    graph_of,
    graph_table,
    is_absent,
    nodes,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GateOp, GraphOp
from ge_dialect.transforms.host.roles import DATA_LIKE, producer

CALL = "PartitionedCall"


class Borders:
    """The graphs of a module with their owners, and the way of a value through them.

    Nothing here may be asked after nodes were added or removed.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.table = graph_table(module)
        self._owners: dict[GraphOp, Operation] = {}
        self._outputs: dict[GraphOp, Operation | None] = {}
        self._inputs: dict[GraphOp, Mapping[int, list[Operation]]] = {}
        self._makers: dict[SSAValue, Operation | None] = {}
        for graph in self.table.values():
            for op in graph.block.ops:
                if "subgraphs" in op.properties:
                    for owned in self.owned(op):
                        if owned is not None:
                            self._owners.setdefault(owned, op)

    def owned(self, op: Operation) -> list[GraphOp | None]:
        """The graphs of a node in slot order, None for a name without a graph."""
        return [self.table.get(name) for name in subgraph_names(op)]

    def inputs(self, graph: GraphOp) -> Mapping[int, list[Operation]]:
        """The inputs of a graph by the slot of the owner that they stand for."""
        if graph not in self._inputs:
            found: dict[int, list[Operation]] = {}
            for op in nodes(graph):
                if ge_type(op) not in DATA_LIKE:
                    continue
                if (slot := get_int(op, "ge.parent_node_index")) is not None:
                    found.setdefault(slot, []).append(op)
            self._inputs[graph] = found
        return self._inputs[graph]

    def maker_across_calls(self, value: SSAValue) -> Operation | None:
        """The node that makes a value, seen through PartitionedCalls: into one that outputs it, and out of one whose
        input it is. None when the way ends at an input of the root graph or at a call without outputs.
        """
        way: list[SSAValue] = []
        at: SSAValue | Operation | None = value
        while isinstance(at, SSAValue):
            if at in self._makers:
                at = self._makers[at]
                break
            way.append(at)
            self._makers[at] = None
            at = self._step(at)
        for passed in way:
            self._makers[passed] = at
        return at

    def _step(self, value: SSAValue) -> SSAValue | Operation | None:
        """The next value on the way, the node where it ends, or None where it ends without one."""
        while isinstance(gate := value.owner, GateOp):
            value = gate.value
        op = producer(value)
        kind = ge_type(op)
        if kind == CALL and isinstance(value, OpResult):
            graph = next(iter(self.owned(op)), None)
            last = None if graph is None else self._net_output(graph)
            return None if last is None else wired(last, value.index)
        if kind in DATA_LIKE:
            owner = self._owners.get(graph_of(op))
            slot = get_int(op, "ge.parent_node_index")
            return None if owner is None or slot is None else wired(owner, slot)
        return op

    def _net_output(self, graph: GraphOp) -> Operation | None:
        if graph not in self._outputs:
            ends = (op for op in nodes(graph) if ge_type(op) == "NetOutput")
            self._outputs[graph] = next(ends, None)
        return self._outputs[graph]


def wired(op: Operation, slot: int) -> SSAValue | None:
    """The value at a data input of a node, None when there is no such input or it is not wired."""
    operands = data_operands(op)
    if not 0 <= slot < len(operands) or is_absent(operands[slot]):
        return None
    return operands[slot]


def formal(op: Operation) -> str | None:
    """What an input of a loop's body is when no input of the owner feeds it plainly (`ge.formal`)."""
    return get_text(op, "ge.formal")
