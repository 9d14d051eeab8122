"""A problem without some of its buffers."""

from __future__ import annotations

import numpy as np

from ge_dialect.analysis.packing.clocks import ClockConflicts
from ge_dialect.analysis.packing.conflicts import (
    Conflicts,
    IntervalConflicts,
    PairConflicts,
)
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.problem import Group, Problem


def restricted(problem: Problem, kept: Ints) -> Problem:
    """The problem of the buffers `kept`, ascending, renumbered in order; all members of groups must be kept."""
    number = np.full(problem.count, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return Problem(
        problem.sizes[kept],
        _conflicts(problem.conflicts, kept, number),
        alignments=problem.alignments[kept],
        fixed={int(number[i]): at for i, at in problem.fixed.items() if number[i] >= 0},
        groups=[Group(tuple(number[list(g.members)].tolist()), g.offsets) for g in problem.groups],
    )


def _conflicts(conflicts: Conflicts, kept: Ints, number: Ints) -> Conflicts:
    if isinstance(conflicts, IntervalConflicts):
        return IntervalConflicts(conflicts.start[kept], conflicts.end[kept])
    if isinstance(conflicts, ClockConflicts):
        return conflicts.restricted(kept)
    rows: list[list[int]] = []
    for buffer in kept.tolist():
        near = number[conflicts.near(buffer)]
        rows.append(near[near >= 0].tolist())
    return PairConflicts(rows)
