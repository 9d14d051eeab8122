"""Sections: sets of buffers that are all in conflict with each other, so that their sizes add up.

For life times they are the moments at which most is alive (the maximal cliques of the interval graph, in time order);
for clocks the moments of one order that keeps them; pairs that are left over get cliques that are grown greedily.
The search reasons about sections; conflicts that no section holds are still kept, they only help less.
"""

from __future__ import annotations

import numpy as np

from ge_dialect.analysis.packing.clocks import ClockConflicts
from ge_dialect.analysis.packing.conflicts import Conflicts, IntervalConflicts
from ge_dialect.analysis.packing.lists import Ints, Lists, lists_of, lists_of_pairs, ranges

MOST_COVERED = 2000
"""Buffers of a problem without life times up to which cliques are sought; they need n^2 bits."""


def sections_of(conflicts: Conflicts, sizes: Ints) -> Lists:
    """Sections that hold every buffer with a size at least once; none for problems that are too large."""
    if isinstance(conflicts, IntervalConflicts):
        return _moments(conflicts)
    known = _moments(conflicts.inner) if isinstance(conflicts, ClockConflicts) else lists_of([])
    if conflicts.count <= MOST_COVERED:
        return lists_of(known.as_python() + _cover(conflicts.pairs(), sizes, known))
    return known if len(known) else _singles(sizes)


def spans(conflicts: IntervalConflicts) -> tuple[Ints, Ints, int]:
    """First section and end of sections of every buffer, and how many sections there are. O(n log n)."""
    starts, ends = np.sort(conflicts.start), np.unique(conflicts.end)
    # A moment is maximal right before an end that has a start between it and the end before it.
    counts = np.searchsorted(starts, ends, side="left")
    maximal = ends[np.diff(counts, prepend=0) > 0]
    first = np.searchsorted(maximal, conflicts.start, side="right")
    last = np.searchsorted(maximal, conflicts.end, side="right")
    return first, np.where(conflicts.end > conflicts.start, last, first), len(maximal)


def _moments(conflicts: IntervalConflicts) -> Lists:
    first, last, count = spans(conflicts)
    section, owner = ranges(first, last)
    alone = np.flatnonzero(first == last)  # never in use, but placed all the same
    return lists_of_pairs(
        np.concatenate([section, count + np.arange(len(alone))]),
        np.concatenate([owner, alone]),
        count + len(alone),
    )


def section_totals(conflicts: IntervalConflicts, sizes: Ints) -> Ints:
    """Bytes alive in each section. O(n log n), without the lists of who they are."""
    first, last, count = spans(conflicts)
    change = np.zeros(count + 1, dtype=np.int64)
    np.add.at(change, first, sizes)
    np.add.at(change, last, -sizes)
    return np.cumsum(change)[:-1]


def _singles(sizes: Ints) -> Lists:
    return lists_of([[index] for index in range(len(sizes))])


def _cover(near: Lists, sizes: Ints, known: Lists) -> list[list[int]]:
    """Cliques for pairs that no known one holds, largest buffers first, at most two that start from a buffer."""
    rows = near.as_python()
    bits = [sum(1 << other for other in row) for row in rows]
    open_pairs = list(bits)
    for section in known.as_python():
        _close(section, open_pairs)
    cliques: list[list[int]] = []
    weight = sizes.tolist()
    for start in np.argsort(-sizes, kind="stable").tolist():
        for _ in range(2):
            if open_pairs[start] or not (rows[start] or len(known)):
                cliques.append(_grow(start, bits, open_pairs, weight))
            if not open_pairs[start]:
                break
    return cliques


def _close(clique: list[int], open_pairs: list[int]) -> None:
    mask = sum(1 << member for member in clique)
    for member in clique:
        open_pairs[member] &= ~mask


def _grow(start: int, bits: list[int], open_pairs: list[int], weight: list[int]) -> list[int]:
    """A maximal clique with `start`: pairs in no clique yet come first, among those the largest buffer."""
    clique = [start]
    possible, wanted = bits[start], open_pairs[start]
    while possible:
        choice = _heaviest(possible & wanted or possible, weight)
        clique.append(choice)
        possible &= bits[choice]
    _close(clique, open_pairs)
    return sorted(clique)


def _heaviest(mask: int, weight: list[int]) -> int:
    best = -1
    while mask:
        low = mask & -mask
        index = low.bit_length() - 1
        if best < 0 or weight[index] > weight[best]:
            best = index
        mask ^= low
    return best
