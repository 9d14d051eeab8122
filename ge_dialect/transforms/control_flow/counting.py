"""Counting turns, and conditions over the count."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.transforms.control_flow.flat_graph import BOOL, FlatGraph, shape_of
from ge_dialect.transforms.control_flow.loop import Update
from ge_dialect.transforms.control_flow.turns import Turns


class Counter:
    """A state that holds the number of the turn, an int64 scalar. It is increased last in a turn."""

    def __init__(self, flat: FlatGraph, owner: Operation, turns: Turns) -> None:
        self._flat = flat
        self._owner = owner
        self._state = turns.state(flat.copy(owner, flat.number(0)))

    def value(self, states: Sequence[SSAValue]) -> SSAValue:
        """The number of the turn."""
        return states[self._state]

    def less(self, states: Sequence[SSAValue], end: SSAValue) -> SSAValue:
        """Whether the number is less than `end`, a tensor of one element."""
        kind = tensor_type(BOOL, shape_of(end))
        return self._flat.node(self._owner, "Less", [self.value(states), end], kind)

    def all_of(self, flags: Sequence[SSAValue]) -> SSAValue:
        """Whether all of one or two flags, tensors of one element, are set."""
        if len(flags) == 1:
            return flags[0]
        highest = max(flags, key=lambda flag: len(shape_of(flag)))
        return self._flat.node(self._owner, "LogicalAnd", flags, highest.type)

    def updates(self) -> dict[int, Update]:
        """What happens to the state at the end of a turn."""

        def increase(value: SSAValue) -> SSAValue:
            operands = [value, self._flat.number(1)]
            return self._flat.node(self._owner, "Add", operands, value.type, reuse_input=0)

        return {self._state: increase}
