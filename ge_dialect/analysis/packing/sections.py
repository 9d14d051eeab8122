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
    """Cliques for pairs that no known one holds, largest buffers first, at most two that start from a buffer.

    Sets of buffers are bits in order of size, so that the largest of a set is its lowest bit.
    """
    count = len(sizes)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    bits = [_bits(place[near.items[near.start[u] : near.start[u + 1]]], count) for u in order]
    open_pairs = list(bits)
    for index in range(len(known)):
        section = place[known.items[known.start[index] : known.start[index + 1]]]
        _close(section.tolist(), _bits(section, count), open_pairs)
    cliques: list[list[int]] = []
    for start in range(count):
        for _ in range(2):
            if open_pairs[start] or not (bits[start] or len(known)):
                cliques.append(_grow(start, bits, open_pairs))
            if not open_pairs[start]:
                break
    return [np.sort(order[clique]).tolist() for clique in cliques]


def _bits(members: Ints, count: int) -> int:
    flags = np.zeros(count, dtype=np.bool_)
    flags[members] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _close(clique: list[int], mask: int, open_pairs: list[int]) -> None:
    for member in clique:
        open_pairs[member] &= ~mask


def _grow(start: int, bits: list[int], open_pairs: list[int]) -> list[int]:
    """A maximal clique with `start`: pairs in no clique yet come first, among those the largest buffer."""
    clique, mask = [start], 1 << start
    possible, wanted = bits[start], open_pairs[start]
    while possible:
        among = possible & wanted or possible
        lowest = among & -among
        choice = lowest.bit_length() - 1
        clique.append(choice)
        mask |= lowest
        possible &= bits[choice]
    _close(clique, mask, open_pairs)
    return clique
