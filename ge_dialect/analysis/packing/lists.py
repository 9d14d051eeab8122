"""Lists of lists of integers in two arrays, the form that numpy and the compiled kernel read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lists:
    """List i is `items[start[i]:start[i + 1]]`; both arrays are int64 and contiguous."""

    start: Ints
    items: Ints

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, index: int) -> Ints:
        return self.items[self.start[index] : self.start[index + 1]]

    def lengths(self) -> Ints:
        """How long each list is."""
        return np.diff(self.start)

    def as_python(self) -> list[list[int]]:
        """The same as Python lists, for loops that numpy does not pay in."""
        items, start = self.items.tolist(), self.start.tolist()
        return [items[a:b] for a, b in pairwise(start)]

    def owners(self) -> Ints:
        """For each item the number of the list that it is in."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths())

    def inverse(self, count: int) -> Lists:
        """For each of the items 0 .. count - 1 the numbers of the lists that hold it, ascending."""
        order = np.argsort(self.items, kind="stable")
        return Lists(_starts(np.bincount(self.items, minlength=count)), self.owners()[order])


def _starts(lengths: NDArray[np.integer]) -> Ints:
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


def lists_of(rows: Sequence[Sequence[int]]) -> Lists:
    """From Python lists."""
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    start = _starts(lengths)
    items = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(start[-1]))
    return Lists(start, items)


def lists_of_arrays(rows: Iterable[Ints]) -> Lists:
    """From arrays."""
    kept = list(rows)
    start = _starts(np.array([len(row) for row in kept], dtype=np.int64))
    return Lists(start, np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64))


def lists_of_pairs(first: Ints, second: Ints, count: int) -> Lists:
    """From pairs (first[i], second[i]): list `first[i]` holds `second[i]`, ascending."""
    order = np.lexsort((second, first))
    return Lists(_starts(np.bincount(first, minlength=count)), np.ascontiguousarray(second[order]))


def ranges(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """All integers of the ranges [low[i], high[i]), in order, and the i that each belongs to."""
    lengths = np.maximum(high - low, 0)
    total = int(lengths.sum())
    owner = np.repeat(np.arange(len(low), dtype=np.int64), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(total, dtype=np.int64) - np.repeat(before - low, lengths), owner
