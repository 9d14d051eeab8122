"""Proves a plan from the problem alone; shares no code with what makes plans."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.problem import Problem

_MOST = 20
"""Faults that are reported at most: one wrong rule makes thousands."""


def check_plan(problem: Problem, offsets: ArrayLike, capacity: int | None = None) -> list[str]:
    """What is wrong with a plan, at most 20 faults; nothing when it is right.

    Checked: one offset a buffer, none negative, each aligned, fixed and grouped buffers where they must be, no two
    buffers in conflict on one byte, nothing behind `capacity`.
    """
    place = np.asarray(offsets, dtype=np.int64)
    if place.shape != (problem.count,):
        return [f"{problem.count} buffers, but offsets of the shape {place.shape}"]
    faults = [*_alone(problem, place, capacity), *_given(problem, place)]
    return (faults + _overlaps(problem, place, _MOST - len(faults)))[:_MOST]


def _alone(problem: Problem, place: Ints, capacity: int | None) -> list[str]:
    end = place + problem.sizes
    faults = [f"buffer {i} has the offset {place[i]}" for i in np.flatnonzero(place < 0)]
    if capacity is not None:
        late = np.flatnonzero((end > capacity) & (problem.sizes > 0))
        faults += [f"buffer {i} ends at {end[i]}, behind {capacity}" for i in late]
    for i in np.flatnonzero(place % problem.alignments):
        if problem.sizes[i]:
            faults.append(f"buffer {i} at {place[i]} is not aligned to {problem.alignments[i]}")
    return faults


def _given(problem: Problem, place: Ints) -> list[str]:
    faults = [
        f"buffer {i} is fixed to {address}, not {place[i]}"
        for i, address in problem.fixed.items()
        if place[i] != address
    ]
    for number, group in enumerate(problem.groups):
        bases = {int(place[i]) - at for i, at in zip(group.members, group.offsets, strict=True)}
        if len(bases) > 1:
            faults.append(f"group {number} is torn apart: bases {sorted(bases)}")
    return faults


def _overlaps(problem: Problem, place: Ints, most: int) -> list[str]:
    faults: list[str] = []
    end = place + problem.sizes
    for i in np.flatnonzero(problem.sizes > 0).tolist():
        if len(faults) >= most:
            break
        near = problem.conflicts.near(i)
        near = near[(near > i) & (problem.sizes[near] > 0)]
        clash = near[(place[near] < end[i]) & (end[near] > place[i])]
        faults += [
            f"buffers {i} and {j} overlap: [{place[i]}, {end[i]}) and [{place[j]}, {end[j]})"
            for j in clash.tolist()
        ]
    return faults
