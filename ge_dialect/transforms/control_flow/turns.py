"""The values of a loop's body, turn by turn: which inputs are states, which are the same in every turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.control_flow.owned_graph import OwnedGraph, formal_kind
from ge_dialect.dialects.ge.access import data_operands, get_int
from ge_dialect.dialects.ge.nodes import DataOp, NetOutputOp
from ge_dialect.transforms.control_flow.expander import Expander
from ge_dialect.transforms.control_flow.routes import Routes

LOOP_OWN = ("iteration", "condition")
"""What a loop makes for its body (`ge.formal`)."""


class Turns:
    """States and outer values of a loop that takes the place of `op`.

    `initial` are the states' values before the first turn, each in memory of its own. `pairs` says which inputs of the
    node are carried, and which output of the body follows each; one that the body gives back as it is becomes no
    state, as it is the same in every turn.
    """

    def __init__(
        self, expander: Expander, op: Operation, body: OwnedGraph, pairs: Sequence[tuple[int, int]]
    ) -> None:
        self.expander = expander
        self.op = op
        self.operands = data_operands(op)
        self.routes = Routes()
        self.initial: list[SSAValue] = []
        self.outputs: list[int] = []
        self._state_of: dict[int, int] = {}
        self._given_back: dict[int, int] = {}
        same: dict[SSAValue, int | None] = {
            formal.results[0]: body.index_of(formal)
            for formal in body.formals
            if formal_kind(formal) is None
        }
        for index, output in pairs:
            if same.get(body.outputs[output]) == index:
                self._given_back[index] = output
                continue
            self._state_of[index] = self.state(expander.flat.copy(op, self.operands[index]))
            self.outputs.append(output)

    def state(self, initial: SSAValue) -> int:
        """One more state; its number."""
        self.initial.append(initial)
        return len(self.initial) - 1

    def reads(self, graph: OwnedGraph) -> None:
        """Note the outer values that a graph of the loop reads."""
        for formal in graph.formals:
            index = graph.index_of(formal)
            if index is not None and index not in self._state_of and self._is_read(formal):
                self.routes.add(self.operands[index])

    def is_read(self, graph: OwnedGraph, index: int) -> bool:
        """Whether a graph of the loop reads input `index` of the node."""
        return any(graph.index_of(x) == index and self._is_read(x) for x in graph.formals)

    def _is_read(self, formal: DataOp) -> bool:
        """Whether anybody reads a graph input, besides the output that gives it back."""
        index = get_int(formal, "ge.parent_node_index", -1)
        back = None if formal_kind(formal) is not None else self._given_back.get(index or 0)
        return any(
            not (isinstance(use.operation, NetOutputOp) and use.index == back)
            for use in formal.results[0].uses
        )

    def splice(
        self,
        graph: OwnedGraph,
        states: Sequence[SSAValue],
        outer: Sequence[SSAValue],
        own: Mapping[str | int, SSAValue] | None = None,
    ) -> list[SSAValue]:
        """Put the nodes of a graph of the loop; its outputs.

        `own`: inputs that the loop itself makes, by kind (`iteration`, `condition`) or by number of the node's input.
        """
        values: dict[DataOp, SSAValue] = {}
        for formal in graph.formals:
            kind, index = formal_kind(formal), graph.index_of(formal)
            key = kind if kind in LOOP_OWN else index
            if own is not None and key is not None and key in own:
                values[formal] = self.expander.flat.as_type(
                    self.op, own[key], formal.results[0].type
                )
                continue
            assert index is not None
            state = self._state_of.get(index)
            values[formal] = (
                self.routes.inner(self.operands[index], outer) if state is None else states[state]
            )
        return self.expander.splice(self.op, graph, values)

    def nexts(self, outputs: Sequence[SSAValue]) -> list[SSAValue | None]:
        """The next value of each state out of the body's outputs, None for states that are no inputs of the node."""
        found: list[SSAValue | None] = [outputs[k] for k in self.outputs]
        return [*found, *[None] * (len(self.initial) - len(found))]

    def end(self, index: int, ends: Sequence[SSAValue]) -> SSAValue:
        """The last value of input `index`, out of the states behind the loop."""
        state = self._state_of.get(index)
        return self.operands[index] if state is None else ends[state]
