"""Which buffers may not share bytes: by life times or pair by pair; by vector clocks: clocks.py.

Every kind answers for one buffer at a time (`near`) in linear memory; all pairs at once (`pairs`) are for problems with
few enough of them, which `pair_count` tells before they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ge_dialect.analysis.packing.lists import (
    Ints,
    Lists,
    lists_of,
    lists_of_pairs,
    ranges,
)
from ge_dialect.formats.errors import GeError


class PackingError(GeError):
    """A packing problem that contradicts itself, or that cannot be solved as asked."""


class Conflicts(Protocol):
    """A symmetric relation on buffers 0 .. count - 1 without pairs (i, i)."""

    @property
    def count(self) -> int:
        """How many buffers there are."""
        ...

    @property
    def pair_count(self) -> int:
        """How many ordered pairs are in conflict."""
        ...

    def near(self, buffer: int) -> Ints:
        """The buffers in conflict with one, ascending."""
        ...

    def pairs(self) -> Lists:
        """`near` of all."""
        ...


class IntervalConflicts:
    """Buffers in use over [start, end) of one time line conflict when these meet; an empty life meets nothing."""

    def __init__(self, start: ArrayLike, end: ArrayLike) -> None:
        self.start: Ints = np.asarray(start, dtype=np.int64)
        self.end: Ints = np.asarray(end, dtype=np.int64)
        if self.start.shape != self.end.shape or self.start.ndim != 1:
            raise PackingError("as many starts as ends are needed")
        if (late := np.flatnonzero(self.end < self.start)).size:
            raise PackingError(f"buffer {late[0]} ends before it starts")
        self._alive = self.end > self.start

    @property
    def count(self) -> int:
        """How many buffers there are."""
        return len(self.start)

    @cached_property
    def _later(self) -> tuple[Ints, Ints]:
        """The living buffers by start, and for each place there the first place that starts too late to meet it."""
        order = np.flatnonzero(self._alive)
        order = order[np.argsort(self.start[order], kind="stable")]
        return order, np.searchsorted(self.start[order], self.end[order], side="left")

    @property
    def pair_count(self) -> int:
        """How many ordered pairs are in conflict. O(n log n)."""
        order, high = self._later
        return 2 * int((high - np.arange(1, len(order) + 1)).sum())

    @cached_property
    def _by_length(self) -> tuple[Ints, Ints, Ints, int]:
        """The long lives; the others by start, those starts, and the length that none of the others exceeds."""
        alive = np.flatnonzero(self._alive)
        life = self.end[alive] - self.start[alive]
        longest = int(np.quantile(life, 0.99)) if alive.size else 0
        short = alive[life <= longest]
        short = short[np.argsort(self.start[short], kind="stable")]
        return alive[life > longest], short, self.start[short], longest

    def near(self, buffer: int) -> Ints:
        """The buffers in conflict with one, ascending. One in a hundred is looked at, and those that start nearby."""
        if not self._alive[buffer]:
            return np.zeros(0, dtype=np.int64)
        start, end = self.start[buffer], self.end[buffer]
        long, short, starts, longest = self._by_length
        low, high = np.searchsorted(starts, (start - longest, end))
        near = np.concatenate([long, short[low:high]])
        near = near[(self.start[near] < end) & (self.end[near] > start) & (near != buffer)]
        near.sort()
        return near

    def pairs(self) -> Lists:
        """`near` of all. O(n log n + pairs)."""
        order, high = self._later
        other, owner = ranges(np.arange(1, len(order) + 1), high)
        first, second = order[owner], order[other]
        return lists_of_pairs(
            np.concatenate([first, second]), np.concatenate([second, first]), self.count
        )


class PairConflicts:
    """Conflicts that are listed: `near[i]` are the buffers that i may not share bytes with."""

    def __init__(self, near: Sequence[Sequence[int]]) -> None:
        count = len(near)
        given = lists_of(near)
        outside = (given.items < 0) | (given.items >= count)
        if outside.any():
            raise PackingError(f"there is no buffer {given.items[outside][0]}")
        first, second = given.owners(), given.items
        keys = np.unique(np.concatenate([first * count + second, second * count + first]))
        rows, columns = keys // max(count, 1), keys % max(count, 1)
        kept = rows != columns
        self._lists = lists_of_pairs(rows[kept], columns[kept], count)

    @classmethod
    def of_predicate(cls, count: int, near: Callable[[int], ArrayLike]) -> PairConflicts:
        """From a function that gives for one buffer a row of `count` truth values."""
        rows = [np.flatnonzero(np.asarray(near(buffer))).tolist() for buffer in range(count)]
        return cls(rows)

    @classmethod
    def of_bits(cls, rows: NDArray[np.uint8], count: int) -> PairConflicts:
        """From a matrix of bits, a row a buffer, packed as by `numpy.packbits(..., bitorder="little")`."""
        return cls.of_predicate(
            count, lambda buffer: np.unpackbits(rows[buffer], count=count, bitorder="little")
        )

    @property
    def count(self) -> int:
        """How many buffers there are."""
        return len(self._lists)

    @property
    def pair_count(self) -> int:
        """How many ordered pairs are in conflict."""
        return len(self._lists.items)

    def near(self, buffer: int) -> Ints:
        """The buffers in conflict with one, ascending."""
        return self._lists[buffer]

    def pairs(self) -> Lists:
        """`near` of all."""
        return self._lists
