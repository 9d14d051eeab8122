"""Random packing problems for hypothesis, and the answer by trying everything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from ge_dialect.analysis.packing import (
    ClockConflicts,
    Conflicts,
    Group,
    IntervalConflicts,
    PairConflicts,
    Problem,
    Writers,
    lower_bound,
)
from ge_dialect.analysis.packing.kernel.binding import kernel

ENGINES = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(kernel() is None, reason="no compiled kernel")),
]
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def intervals(draw: st.DrawFn, count: int) -> IntervalConflicts:
    starts = draw(st.lists(st.integers(0, 8), min_size=count, max_size=count))
    lives = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    return IntervalConflicts(starts, [a + b for a, b in zip(starts, lives, strict=True)])


@st.composite
def pairs(draw: st.DrawFn, count: int) -> PairConflicts:
    possible = [(i, j) for i in range(count) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    near: list[list[int]] = [[] for _ in range(count)]
    for i, j in chosen:
        near[i].append(j)
    return PairConflicts(near)


@st.composite
def clocks(
    draw: st.DrawFn, count: int, streams: int = 3, *, written: bool | None = None
) -> ClockConflicts:
    """Nodes on streams with random waits; buffer i is written by node i and read by later nodes. `written`: whether
    the conflicts know where buffers are written (None: either)."""
    node_stream = draw(st.lists(st.integers(0, streams - 1), min_size=count, max_size=count))
    position = [0] * streams
    clock: list[list[int]] = []
    release = np.full((count, streams), -1)
    acquire = np.full((count, streams), -1)
    here: list[int] = []
    last: list[list[int]] = [[-1] * streams for _ in range(streams)]
    for node in range(count):
        stream = node_stream[node]
        known = list(last[stream])
        readers = draw(st.lists(st.integers(0, node - 1), max_size=2)) if node else []
        for source in readers:
            known = [max(a, b) for a, b in zip(known, clock[source], strict=True)]
        acquire[node] = known
        here.append(position[stream])
        release[node, stream] = position[stream]
        for source in readers:
            release[source, stream] = max(release[source, stream], position[stream])
        known[stream] = position[stream]
        position[stream] += 1
        clock.append(known)
        last[stream] = known
    if draw(st.booleans()) if written is None else written:
        writers = Writers(np.array(node_stream), np.arange(count))
        return ClockConflicts(release, acquire, writers)
    return ClockConflicts(release, acquire)


@st.composite
def problems(draw: st.DrawFn, most: int, largest: int = 6, *, bound: bool = True) -> Problem:
    count = draw(st.integers(1, most))
    conflicts: Conflicts = draw(st.one_of(intervals(count), pairs(count), clocks(count)))
    sizes = draw(st.lists(st.integers(0, largest), min_size=count, max_size=count))
    if not bound:
        return Problem(sizes, conflicts)
    alignments = draw(st.lists(st.sampled_from([1, 1, 2, 4]), min_size=count, max_size=count))
    free = [i for i in range(count) if sizes[i]]
    fixed: dict[int, int] = {}
    groups: list[Group] = []
    place = 0
    if free and draw(st.booleans()):
        for _ in range(draw(st.integers(1, 2))):
            if free:
                buffer = free.pop(draw(st.integers(0, len(free) - 1)))
                place = -(-place // alignments[buffer]) * alignments[buffer]
                fixed[buffer] = place
                place += sizes[buffer] + draw(st.integers(0, 2))
    if len(free) > 1 and draw(st.booleans()):
        members = free[: draw(st.integers(2, min(3, len(free))))]
        for member in members:
            alignments[member] = 1
        if draw(st.booleans()):
            alignments[members[0]] = 2
        groups.append(Group.end_to_end(members, [sizes[i] for i in members]))
    return Problem(sizes, conflicts, alignments=alignments, fixed=fixed, groups=groups)


def brute_force(problem: Problem) -> int:
    """The fewest bytes: place item by item everywhere, lowest peak first."""
    grouped = {member for group in problem.groups for member in group.members}
    items = [list(zip(g.members, g.offsets, strict=True)) for g in problem.groups]
    items += [[(i, 0)] for i in range(problem.count) if i not in grouped and problem.sizes[i]]
    near = [set(problem.conflicts.near(i).tolist()) for i in range(problem.count)]
    peak = lower_bound(problem).bytes
    while not any(_fill(problem, items, near, peak, {})):
        peak += 1
    return peak


def _fill(
    problem: Problem,
    items: list[list[tuple[int, int]]],
    near: list[set[int]],
    capacity: int,
    place: dict[int, int],
) -> Iterator[bool]:
    if not items:
        yield True
        return
    first, *rest = items
    for base in range(capacity):
        if all(_fits(problem, near, capacity, place, i, base + at) for i, at in first):
            yield from _fill(
                problem, rest, near, capacity, place | {i: base + at for i, at in first}
            )


def _fits(
    problem: Problem, near: list[set[int]], capacity: int, place: dict[int, int], i: int, at: int
) -> bool:
    size = int(problem.sizes[i])
    if at % problem.alignments[i] or at + size > capacity or problem.fixed.get(i, at) != at:
        return False
    return all(
        j not in near[i] or at + size <= other or other + problem.sizes[j] <= at
        for j, other in place.items()
    )
