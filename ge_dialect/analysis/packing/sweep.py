"""First fit for problems with too many conflicts to list: conflicts are asked for one buffer at a time."""

from __future__ import annotations

import numpy as np

from ge_dialect.analysis.packing.conflicts import IntervalConflicts
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.problem import Problem


def sweep_orders(problem: Problem) -> list[tuple[str, Ints]]:
    """Orders that need no list of conflicts."""
    sizes = problem.sizes
    if not isinstance(problem.conflicts, IntervalConflicts):
        return [("size", np.lexsort((np.arange(problem.count), -sizes)))]
    start, life = problem.conflicts.start, problem.conflicts.end - problem.conflicts.start
    return [
        ("start", np.lexsort((-sizes, start))),
        ("size", np.lexsort((start, -life, -sizes))),
    ]


def sweep(problem: Problem, order: Ints) -> tuple[Ints, int]:
    """Offsets and peak in bytes. Linear memory, O(n) a buffer."""
    sizes, offsets = problem.sizes, np.full(problem.count, -1, dtype=np.int64)
    for buffer, address in problem.fixed.items():
        offsets[buffer] = address
    for buffer in order.tolist():
        if offsets[buffer] >= 0:
            continue
        group = int(problem.group_of[buffer])
        members = problem.groups[group].members if group >= 0 else (buffer,)
        taken = [_taken(problem, offsets, member) for member in members]
        base = 0
        while True:
            before = base
            for member, (starts, ends) in zip(members, taken, strict=True):
                shift = int(problem.relative[member])
                align = int(problem.base_alignments[member])
                base = _lowest(starts, ends, base + shift, int(sizes[member]), align, shift) - shift
            if base == before or len(members) == 1:
                break
        for member in members:
            offsets[member] = base + problem.relative[member]
    return offsets, problem.peak_of(offsets)


def _taken(problem: Problem, offsets: Ints, buffer: int) -> tuple[Ints, Ints]:
    """Starts and ends of what is placed beside a buffer, by start; ends never fall."""
    near = problem.conflicts.near(buffer)
    near = near[(offsets[near] >= 0) & (problem.sizes[near] > 0)]
    near = near[np.argsort(offsets[near], kind="stable")]
    return offsets[near], np.maximum.accumulate(offsets[near] + problem.sizes[near])


def _lowest(starts: Ints, ends: Ints, at: int, size: int, align: int, shift: int) -> int:
    """The first aligned place from `at` on with `size` bytes free."""
    if not starts.size:
        return at
    places = np.concatenate([[at], np.maximum(ends, at)])
    places = -((shift - places) // align) * align + shift
    free = places[:-1] + size <= starts
    return int(places[int(free.argmax())] if free.any() else places[-1])
