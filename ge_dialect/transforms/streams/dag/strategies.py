"""How units choose streams: spec/streams.md section 14.3, step 4."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ge_dialect.transforms.streams.dag.problem import Unit

WINDOW = 6
"""Levels that are looked at, from the first of the unit on."""

LIGHTEST = 3
_EPSILON = 1e-9

CUT_WEIGHT, BALANCE_WEIGHT, CONFLICT_WEIGHT, NEW_WEIGHT, SOLO_WEIGHT = 3.0, 4.0, 4.0, 2.0, 4.0
NODE_WEIGHT, TIME_WEIGHT = 1.0, 2.0


@dataclass(eq=False, slots=True)
class Stream:
    """A stream under construction: nodes and microseconds a level, and in all."""

    number: int
    loads: dict[int, int] = field(default_factory=dict[int, int])
    times: dict[int, float] = field(default_factory=dict[int, float])
    size: int = 0
    time: float = 0.0

    def take(self, unit: Unit) -> None:
        """Put a unit on the stream."""
        for level, count in unit.loads.items():
            self.loads[level] = self.loads.get(level, 0) + count
        for level, time in unit.times.items():
            self.times[level] = self.times.get(level, 0.0) + time
        self.size += unit.size
        self.time += unit.time

    def window_load(self, level: int) -> int:
        """Nodes on the levels of the window from `level` on."""
        return sum(self.loads.get(each, 0) for each in range(level, level + WINDOW))

    def window_time(self, level: int) -> float:
        """Microseconds on the levels of the window from `level` on."""
        return sum(self.times.get(each, 0.0) for each in range(level, level + WINDOW))


@dataclass(slots=True)
class Choice:
    """One unit and what its choice depends on: the streams that there are, and its edges to units already placed, by
    stream."""

    unit: Unit
    streams: Sequence[Stream]
    edges: dict[int, int]
    may_open: bool

    def cut(self, stream: Stream | None) -> int:
        """Edges to other streams than this one."""
        own = 0 if stream is None else self.edges.get(stream.number, 0)
        return sum(self.edges.values()) - own


Score = tuple[float, ...]
"""A score and what decides between equal ones, lower is better."""


class Strategy(ABC):
    """One way to order units and to choose streams. None stands for a new stream."""

    max_candidates = 6
    opened_at_start = 0

    def order(self, unit: Unit) -> tuple[float, ...]:
        """The key by which units are sorted."""
        return (unit.first_level, -unit.size, -unit.cross_edges, -unit.peak, unit.number)

    def choose(self, choice: Choice) -> Stream | None:
        """The stream that the unit goes on."""
        found: list[Stream | None] = list(dict.fromkeys(self.candidates(choice)))
        if choice.may_open:
            found.append(None)
        scored = [(self.score(choice, each), each) for each in found[: self.max_candidates]]
        best = scored[0]
        for each in scored[1:]:
            if _better(each[0], best[0]):
                best = each
        return best[1]

    @abstractmethod
    def candidates(self, choice: Choice) -> Iterable[Stream]:
        """Existing streams to consider, in order."""

    @abstractmethod
    def score(self, choice: Choice, stream: Stream | None) -> Score:
        """How good a stream is."""


def _better(one: Score, other: Score) -> bool:
    """Whether one score is lower; its parts count as equal within 1e-9."""
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > _EPSILON:
            return a < b
    return False


def _number(choice: Choice, stream: Stream | None) -> int:
    return len(choice.streams) if stream is None else stream.number


class LoadBalance(Strategy):
    """Even loads, few waits: streams of neighbours and the lightest ones, weighed by cut, balance and size."""

    def candidates(self, choice: Choice) -> Iterable[Stream]:
        level = choice.unit.first_level
        near = [choice.streams[number] for number in choice.edges]
        near.sort(key=lambda each: (-choice.edges[each.number], each.size, each.number))
        light = sorted(
            choice.streams, key=lambda each: (each.window_load(level), each.size, each.number)
        )
        return [*near, *light[:LIGHTEST]]

    def score(self, choice: Choice, stream: Stream | None) -> Score:
        unit, cut = choice.unit, choice.cut(stream)
        level = unit.first_level
        added = sum(unit.loads.get(each, 0) for each in range(level, level + WINDOW))
        loads = [
            each.window_load(level) + (added if each is stream else 0) for each in choice.streams
        ]
        if stream is None:
            loads.append(added)
        mean = sum(loads) / len(loads)
        balance = max(loads) + sum((load - mean) ** 2 for load in loads) / len(loads)
        load = unit.size + (0 if stream is None else stream.size)
        total = (
            CUT_WEIGHT * cut
            + BALANCE_WEIGHT * balance
            + NODE_WEIGHT * load
            + NEW_WEIGHT * (stream is None)
        )
        return (total, cut, balance, load, _number(choice, stream))


class MainStream(Strategy):
    """Stream 0 carries what runs alone; what runs beside it goes where it meets least."""

    opened_at_start = 1

    def __init__(self, nodes_on_level: Sequence[int]) -> None:
        self._nodes_on_level = nodes_on_level

    def _solo(self, unit: Unit) -> int:
        """Nodes of the unit that are alone on their level in the whole graph."""
        return sum(1 for level in unit.loads if self._nodes_on_level[level] == 1)

    def choose(self, choice: Choice) -> Stream | None:
        unit = choice.unit
        if self._nodes_on_level[unit.first_level] == 1 or self._solo(unit) == unit.size:
            return choice.streams[0]
        return super().choose(choice)

    def candidates(self, choice: Choice) -> Iterable[Stream]:
        near = [choice.streams[number] for number in choice.edges]
        near.sort(key=lambda each: (-choice.edges[each.number], each.number))
        calm = sorted(choice.streams, key=lambda each: (_conflict(choice, each), each.number))
        return [choice.streams[0], *near, *calm[:LIGHTEST]]

    def score(self, choice: Choice, stream: Stream | None) -> Score:
        cut, conflict = choice.cut(stream), _conflict(choice, stream)
        new = stream is None
        bonus = self._solo(choice.unit) if stream is not None and stream.number == 0 else 0
        total = (
            CUT_WEIGHT * cut + CONFLICT_WEIGHT * conflict + NEW_WEIGHT * new - SOLO_WEIGHT * bonus
        )
        return (total, cut, conflict, new, -bonus)


def _conflict(choice: Choice, stream: Stream | None) -> int:
    if stream is None:
        return 0
    unit, first = choice.unit, choice.unit.first_level
    return sum(
        unit.loads.get(level, 0) * stream.loads.get(level, 0)
        for level in range(first, first + WINDOW)
    )


class WeightedLoadBalance(Strategy):
    """As `LoadBalance`, in microseconds. Unknown times count nothing.

    GE also simulates the three best choices; its simulation comes to the same figure for all of them (it runs one node
    at a time), so the score decides.
    """

    max_candidates = 8

    def order(self, unit: Unit) -> tuple[float, ...]:
        return (
            unit.first_level,
            -unit.time,
            -unit.core_time,
            -unit.peak_cores,
            -unit.cross_edges,
            unit.number,
        )

    def candidates(self, choice: Choice) -> Iterable[Stream]:
        level = choice.unit.first_level
        near = [choice.streams[number] for number in choice.edges]
        near.sort(key=lambda each: (-choice.edges[each.number], each.time, each.number))
        light = sorted(
            choice.streams, key=lambda each: (each.window_time(level), each.time, each.number)
        )
        return [*near, *light[:LIGHTEST]]

    def score(self, choice: Choice, stream: Stream | None) -> Score:
        unit, cut = choice.unit, choice.cut(stream)
        conflict = 0.0 if stream is None else self._time_conflict(unit, stream)
        load = unit.time + (0.0 if stream is None else stream.time)
        total = (
            CUT_WEIGHT * cut
            + CONFLICT_WEIGHT * conflict
            + TIME_WEIGHT * load
            + NEW_WEIGHT * (stream is None)
        )
        return (total, conflict, cut, load, _number(choice, stream))

    def _time_conflict(self, unit: Unit, stream: Stream) -> float:
        first = unit.first_level
        inside = [level for level in unit.times if first <= level < first + WINDOW]
        return sum(
            unit.times[level] * stream.times.get(level, 0.0) for level in inside or unit.times
        )
