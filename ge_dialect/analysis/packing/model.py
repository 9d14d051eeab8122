"""A problem in the form that the searches read: whole units instead of bytes, flat lists, no empty buffers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ge_dialect.analysis.packing.conflicts import IntervalConflicts
from ge_dialect.analysis.packing.lists import Ints, Lists, lists_of, lists_of_pairs
from ge_dialect.analysis.packing.problem import Problem
from ge_dialect.analysis.packing.sections import sections_of, spans


@dataclass(frozen=True, slots=True)
class Model:
    """Buffers 0 .. n - 1, all lengths in units.

    `fixed`: address or -1. `group`: number or -1; `align` of a member is that of the base of its group. `twin`: equal
    for buffers that may change places in any plan. `sections` cover all buffers, `sections_of` is the inverse.
    """

    size: Ints
    align: Ints
    fixed: Ints
    relative: Ints
    group: Ints
    twin: Ints
    near: Lists
    members: Lists
    sections: Lists
    sections_of: Lists

    @property
    def count(self) -> int:
        """How many buffers there are."""
        return len(self.size)

    def restricted(self, kept: NDArray[np.bool_]) -> Model:
        """The model of the buffers of a mask, renumbered in order; groups stay whole."""
        number = np.cumsum(kept) - 1
        sections = _largest(_filtered(self.sections, kept, number))
        count = int(kept.sum())
        return Model(
            self.size[kept],
            self.align[kept],
            self.fixed[kept],
            self.relative[kept],
            self.group[kept],
            self.twin[kept],
            _rows(_filtered(self.near, kept, number), kept),
            _filtered(self.members, kept, number),
            sections,
            sections.inverse(count),
        )


def _filtered(lists: Lists, kept: NDArray[np.bool_], number: Ints) -> Lists:
    chosen = kept[lists.items]
    return lists_of_pairs(lists.owners()[chosen], number[lists.items[chosen]], len(lists))


def _largest(sections: Lists) -> Lists:
    """Without those inside the one before or behind: with fewer buffers, many are no longer maximal."""
    found: list[set[int]] = []
    for section in map(set, sections.as_python()):
        while found and found[-1] <= section:
            found.pop()
        if section and not (found and section <= found[-1]):
            found.append(section)
    return lists_of([sorted(section) for section in found])


def _rows(lists: Lists, kept: NDArray[np.bool_]) -> Lists:
    lengths = lists.lengths()[kept]
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    return Lists(start, lists.items[kept[lists.owners()]])


def model_of(problem: Problem, unit: int) -> Model:
    """The model of a problem all of whose buffers have a size; `unit` divides all its lengths."""
    sections = sections_of(problem.conflicts, problem.sizes)
    near = problem.conflicts.pairs()
    fixed = np.full(problem.count, -1, dtype=np.int64)
    for buffer, address in problem.fixed.items():
        fixed[buffer] = address // unit
    return Model(
        problem.sizes // unit,
        np.maximum(problem.base_alignments // unit, 1),
        fixed,
        problem.relative // unit,
        problem.group_of,
        _twins(problem, near),
        near,
        lists_of([group.members for group in problem.groups]),
        sections,
        sections.inverse(problem.count),
    )


def _twins(problem: Problem, near: Lists) -> Ints:
    """Classes of buffers of equal size and alignment that meet the same others. Fixed and grouped ones are alone."""
    if isinstance(problem.conflicts, IntervalConflicts):
        first, last, _ = spans(problem.conflicts)
        marks = [first, last]
    else:
        # Sums of two random numbers a buffer stand for the set of neighbours and itself.
        random = np.random.default_rng(0)
        numbers = random.integers(1 << 62, size=(2, problem.count), dtype=np.int64)
        owners = near.owners()
        marks = list(numbers.copy())
        for mark, own in zip(marks, numbers, strict=True):
            np.add.at(mark, owners, own[near.items])
    alone = problem.group_of >= 0
    alone[list(problem.fixed)] = True
    own = np.where(alone, np.arange(problem.count) + 1, 0)
    keys = np.stack([*marks, problem.sizes, problem.base_alignments, own], axis=1)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
