"""First-fit packing of intervals: the lowest place that is free for as long as it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

MAX_PAIRS_PER_INTERVAL = 400
"""Where more pairs of intervals than this many a interval meet in time, only the order by start is tried: it needs no
list of the pairs, and a graph that wide is dominated by what it holds at once anyway."""


@dataclass(frozen=True, slots=True)
class Interval:
    """`size` bytes in use from `start` to `end`, both included."""

    start: int
    end: int
    size: int


@dataclass(frozen=True, slots=True)
class Packing:
    """Offsets, one an interval, the bytes needed, and the order that gave them."""

    offsets: list[int]
    peak: int
    order: str


def _lowest_gap(size: int, taken: Iterable[tuple[int, int]]) -> int:
    """The lowest offset at which `size` bytes fit between the taken ranges (start, end), given in ascending order."""
    at = 0
    for start, end in taken:
        if start - at >= size:
            return at
        at = max(at, end)
    return at


def _by_start(intervals: Sequence[Interval]) -> tuple[Packing, int]:
    """Place in the order of starts, and count the pairs that meet in time."""
    order = sorted(range(len(intervals)), key=lambda i: (intervals[i].start, -intervals[i].size, i))
    offsets = [0] * len(intervals)
    active: list[tuple[int, int, int]] = []  # start and end offset, end of use; ascending
    peak = pairs = 0
    for index in order:
        interval = intervals[index]
        active = [item for item in active if item[2] >= interval.start]
        pairs += len(active)
        at = _lowest_gap(interval.size, ((start, end) for start, end, _ in active))
        offsets[index] = at
        active.append((at, at + interval.size, interval.end))
        active.sort()
        peak = max(peak, at + interval.size)
    return Packing(offsets, peak, "start"), pairs


def _neighbours(intervals: Sequence[Interval]) -> list[list[int]]:
    """For each interval the others that meet it in time."""
    found: list[list[int]] = [[] for _ in intervals]
    active: list[int] = []
    for index in sorted(range(len(intervals)), key=lambda i: (intervals[i].start, i)):
        start = intervals[index].start
        active = [other for other in active if intervals[other].end >= start]
        for other in active:
            found[other].append(index)
        found[index].extend(active)
        active.append(index)
    return found


_KEYS: tuple[tuple[str, Callable[[Interval], tuple[int, ...]]], ...] = (
    ("size", lambda x: (-x.size, x.start - x.end, x.start)),
    ("length", lambda x: (x.start - x.end, -x.size, x.start)),
    ("area", lambda x: (-x.size * (x.end - x.start + 1), x.start)),
)


def _in_order(
    intervals: Sequence[Interval],
    neighbours: list[list[int]],
    name: str,
    key: Callable[[Interval], tuple[int, ...]],
) -> Packing:
    offsets = [-1] * len(intervals)
    peak = 0
    for index in sorted(range(len(intervals)), key=lambda i: (*key(intervals[i]), i)):
        placed = (i for i in neighbours[index] if offsets[i] >= 0)
        size = intervals[index].size
        at = _lowest_gap(size, sorted((offsets[i], offsets[i] + intervals[i].size) for i in placed))
        offsets[index] = at
        peak = max(peak, at + size)
    return Packing(offsets, peak, name)


def pack(intervals: Sequence[Interval], lower_bound: int) -> Packing:
    """The best of first fit by start, by size, by length and by size x length of use; the first of equals.

    Stops at the first that needs no more than `lower_bound`. Time O(n log n + pairs that meet in time).
    """
    best, pairs = _by_start(intervals)
    if best.peak <= lower_bound or pairs > MAX_PAIRS_PER_INTERVAL * len(intervals):
        return best
    neighbours = _neighbours(intervals)
    for name, key in _KEYS:
        other = _in_order(intervals, neighbours, name, key)
        if other.peak < best.peak:
            best = other
        if best.peak <= lower_bound:
            break
    return best
