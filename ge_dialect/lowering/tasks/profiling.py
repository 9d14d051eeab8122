"""Time stamps around nodes, for profiling (spec/tasks.md section 1.3).

The numbers, their order and when they are left out are the reference's. How it finds the points by itself is not
known: here they are the nodes that an attribute of their own forces, and those that `Profile` names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_attr, ge_type, node_name
from ge_dialect.dialects.ge_task import ProfilerTraceOp
from ge_dialect.dialects.ge_task.task import TaskOp

FORWARD, BACKWARD, ITERATION_END = 2, 3, 4
"""Numbers of the stamps before the forward point, behind the backward point and behind the end of an iteration."""

ALL_REDUCE, GET_NEXT = 10_000, 20_000
"""Numbers before the first all-reduce and the first GetNext; each takes two."""

FORCED = ("_fp_profiling_task", "_bp_profiling_task", "_end_profiling_task")
"""Attributes of a node that is one of the three points whatever `Profile` says."""

ALL_REDUCE_TYPES = frozenset({"HcomAllReduce"})
GET_NEXT_TYPES = frozenset({"GetNext", "DynamicGetNext", "DynamicGetNextV2", "IteratorGetNext"})


@dataclass(frozen=True, slots=True)
class Points:
    """The names of the nodes at which the forward pass begins, the backward pass and the iteration end; "": none."""

    forward: str = ""
    backward: str = ""
    end: str = ""


@dataclass
class Profile:
    """The stamps of one model, node by node in the order of the list."""

    points: Points
    _before: bool = field(default=False, init=False)
    _behind: bool = field(default=False, init=False)
    _counts: dict[int, int] = field(default_factory=dict[int, int], init=False)

    def look(self, nodes: Iterable[Operation]) -> None:
        """Find the points among all nodes, in walk order: node 0 is no backward point."""
        backward = False
        for place, op in enumerate(nodes):
            _, is_backward, is_end = self._roles(op)
            backward = backward or (is_backward and place > 0)
            self._behind = self._behind or is_end
        self._before = backward and self._behind

    def around(self, op: Operation, made: Sequence[TaskOp]) -> list[TaskOp]:
        """The tasks of a node with the stamps before and behind them, on the stream of the first."""
        if not made:
            return []
        before, behind = self._numbers(op)
        return [
            *(_stamp(number, made[0]) for number in before),
            *made,
            *(_stamp(number, made[0]) for number in behind),
        ]

    def _roles(self, op: Operation) -> tuple[bool, bool, bool]:
        name = node_name(op)
        named = (self.points.forward, self.points.backward, self.points.end)
        forward, backward, end = (
            bool(ge_attr(op, key)) or (point != "" and point == name)
            for key, point in zip(FORCED, named, strict=True)
        )
        return forward, backward, end

    def _numbers(self, op: Operation) -> tuple[list[int], list[int]]:
        forward, backward, end = self._roles(op)
        before = [FORWARD] if forward else []
        behind = [BACKWARD] if backward else []
        if end:
            behind.append(ITERATION_END)
        for first, types in ((ALL_REDUCE, ALL_REDUCE_TYPES), (GET_NEXT, GET_NEXT_TYPES)):
            if ge_type(op) in types:
                number = first + 2 * self._counts.get(first, 0)
                self._counts[first] = self._counts.get(first, 0) + 1
                before.append(number)
                behind.append(number + 1)
        forced = any(ge_attr(op, key) for key in FORCED)
        return before if forced or self._before else [], behind if forced or self._behind else []


def _stamp(number: int, of: TaskOp) -> ProfilerTraceOp:
    index = of.op_index
    return ProfilerTraceOp.make(
        number,
        notify=number == ITERATION_END,
        stream=of.stream.value.data,
        op_index=None if index is None else index.value.data,
        attributes=of.attributes,
    )
