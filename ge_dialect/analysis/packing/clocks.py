"""Conflicts between buffers of several streams, by vector clocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ge_dialect.analysis.packing.conflicts import IntervalConflicts, PackingError
from ge_dialect.analysis.packing.lists import (
    Ints,
    Lists,
    lists_of_arrays,
    lists_of_pairs,
    ranges,
)


@dataclass(frozen=True, slots=True)
class Writers:
    """Where buffers are written: `chain` numbers the streams, `place` grows along each of them and with all that clocks
    order. Several buffers may be written at one place."""

    chain: Ints
    place: Ints

    def restricted(self, kept: Ints) -> Writers:
        """Those of some buffers."""
        return Writers(self.chain[kept], self.place[kept])


class ClockConflicts:
    """Buffers of several streams: one may take another's bytes when all uses of that are done before it is written.

    `release[u, s]`: the place on stream s of the last use of buffer u there, any negative number without one.
    `acquire[u, s]`: the last place on stream s that is certainly done before buffer u is first written. Buffers u and v
    conflict unless release[u] <= acquire[v] on every stream, or the other way round. The writer counts as a use, so a
    release is never within the own acquire (PackingError). Memory is n x streams.

    With `writers` a buffer is compared with those written at about the time of its life instead of with all. Along a
    chain acquires must not fall (PackingError).
    """

    def __init__(
        self, release: ArrayLike, acquire: ArrayLike, writers: Writers | None = None
    ) -> None:
        self.release: Ints = np.ascontiguousarray(release, dtype=np.int64)
        self.acquire: Ints = np.maximum(np.asarray(acquire, dtype=np.int64), -1)
        if self.release.shape != self.acquire.shape or self.release.ndim != 2:
            raise PackingError("releases and acquires have the shape buffers x streams")
        self.release = np.maximum(self.release, -1)
        if (early := np.flatnonzero((self.release <= self.acquire).all(axis=1))).size:
            raise PackingError(f"buffer {early[0]} is done before it is written")
        self.writers = writers
        # A row a stream, so that one buffer is compared with all at the speed of memory.
        self._released = np.ascontiguousarray(self.release.T)
        self._acquired = np.ascontiguousarray(self.acquire.T)
        self.chains = None if writers is None else Chains(self.release, self.acquire, writers)

    @property
    def count(self) -> int:
        """How many buffers there are."""
        return len(self.release)

    def restricted(self, kept: Ints) -> ClockConflicts:
        """Those of some buffers, renumbered in their order."""
        writers = None if self.writers is None else self.writers.restricted(kept)
        return ClockConflicts(self.release[kept], self.acquire[kept], writers)

    def before(self, buffer: int) -> NDArray[np.bool_]:
        """For each buffer whether it can be written only after the last use of `buffer`."""
        found = np.ones(self.count, dtype=np.bool_)
        for last, acquired in zip(self.release[buffer], self._acquired, strict=True):
            found &= acquired >= last
        return found

    def after(self, buffer: int) -> NDArray[np.bool_]:
        """For each buffer whether its last use is done before `buffer` is written."""
        found = np.ones(self.count, dtype=np.bool_)
        for done, released in zip(self.acquire[buffer], self._released, strict=True):
            found &= released <= done
        return found

    @cached_property
    def inner(self) -> IntervalConflicts:
        """Life times on one time line that meet only where buffers conflict; most conflicts are among them.

        The line runs through the buffers in an order that keeps all the clocks say; a life ends with the first buffer
        that can take its bytes. O(n log n x streams) with chains, else O(n^2 x streams) time.
        """
        if self.chains is not None:
            return self.chains.line()
        order = np.argsort(self.acquire.sum(axis=1), kind="stable")
        place = np.empty(self.count, dtype=np.int64)
        place[order] = np.arange(self.count)
        end = np.full(self.count, self.count, dtype=np.int64)
        for buffer in range(self.count):
            later = self.before(buffer)[order]
            at = int(later.argmax())
            if later[at]:
                end[buffer] = at
        return IntervalConflicts(place, np.maximum(end, place + 1))

    def near(self, buffer: int) -> Ints:
        """The buffers in conflict with one, ascending. O(n x streams); with chains one in a hundred is looked at on
        each, and those that are written nearby."""
        if self.chains is not None:
            return self.chains.near(buffer)
        free = self.before(buffer) | self.after(buffer)
        free[buffer] = True
        return np.flatnonzero(~free)

    @cached_property
    def _lists(self) -> Lists:
        if self.chains is not None:
            return self.chains.pairs()
        return lists_of_arrays(self.near(buffer) for buffer in range(self.count))

    @property
    def pair_count(self) -> int:
        """How many ordered pairs are in conflict. Without chains it makes them."""
        return len(self._lists.items) if self.chains is None else self.chains.pair_count

    def pairs(self) -> Lists:
        """`near` of all. O(n^2 x streams) time at most, memory of the pairs."""
        return self._lists


class Chains:
    """What chains make of clocks: from some place of a chain on, all is written after a buffer's last use.

    `order` lists the buffers chain by chain, each in order of its places; places here are indices into it. `start` and
    `end` are those of chains, `place` those of buffers, `chain` their chains. `after[u, t]` is the place on chain t
    from which on buffers are written after all uses of buffer u, `end[t]` when there are none.
    """

    def __init__(self, release: Ints, acquire: Ints, writers: Writers) -> None:
        count = len(release)
        names, chain = np.unique(writers.chain, return_inverse=True)
        self.chain: Ints = chain.reshape(-1).astype(np.int64)
        self.count = len(names)
        self._time = writers.place
        self.order: Ints = np.lexsort((np.arange(count), writers.place, self.chain))
        self.place: Ints = np.empty(count, dtype=np.int64)
        self.place[self.order] = np.arange(count)
        self.end: Ints = np.cumsum(np.bincount(self.chain, minlength=self.count))
        self.start: Ints = self.end - np.bincount(self.chain, minlength=self.count)
        self.after: Ints = np.empty((count, self.count), dtype=np.int64)
        for number, (low, high) in enumerate(zip(self.start, self.end, strict=True)):
            known = acquire[self.order[low:high]]
            if (np.diff(known, axis=0) < 0).any():
                raise PackingError("what is done before a buffer is not done before a later one")
            first = np.zeros(count, dtype=np.int64)
            for stream in range(release.shape[1]):
                column = np.ascontiguousarray(known[:, stream])
                np.maximum(first, np.searchsorted(column, release[:, stream]), out=first)
            self.after[:, number] = low + first

    @property
    def pair_count(self) -> int:
        """How many ordered pairs are in conflict: all but those of which one is over before the other."""
        count = len(self.chain)
        return count * (count - 1) - 2 * int((self.end - self.after).sum())

    def line(self) -> IntervalConflicts:
        """`ClockConflicts.inner`, along the writers' places."""
        count = len(self.chain)
        order = np.lexsort((self.place, self._time))
        rank = np.empty(count + 1, dtype=np.int64)
        rank[self.place[order]] = np.arange(count)
        rank[count] = count
        ends = np.where(self.after < self.end, rank[self.after], count)
        start = rank[self.place]
        return IntervalConflicts(start, np.maximum(ends.min(axis=1, initial=count), start + 1))

    @cached_property
    def _lives(self) -> list[list[tuple[Ints, Ints, Ints, int]]]:
        """For chains t and x: for the places of t, the places on x from which on they are over; the least of those from
        a place on; the places that need long for it, and how long the others need at the most."""
        found: list[list[tuple[Ints, Ints, Ints, int]]] = []
        for low, high in zip(self.start, self.end, strict=True):
            row: list[tuple[Ints, Ints, Ints, int]] = []
            for other in range(self.count):
                over = np.ascontiguousarray(self.after[self.order[low:high], other])
                least = np.minimum.accumulate(over[::-1])[::-1]
                life = over - least
                longest = int(np.quantile(life, 0.99)) if life.size else 0
                row.append((over, least, np.flatnonzero(life > longest), longest))
            found.append(row)
        return found

    def near(self, buffer: int) -> Ints:
        """The buffers in conflict with one, ascending."""
        place, own = int(self.place[buffer]), int(self.chain[buffer])
        parts: list[Ints] = []
        for number in range(self.count):
            over, least, long, longest = self._lives[number][own]
            low = int(self.start[number])
            high = int(self.after[buffer, number]) - low
            # Written before the buffer is over, and not over when it is written.
            first = int(np.searchsorted(least, place - longest, side="right"))
            if first < high:
                window = np.flatnonzero(over[first:high] > place) + first
                parts.append(self.order[low + window])
            kept = long[(long < min(first, high)) & (over[long] > place)]
            if kept.size:
                parts.append(self.order[low + kept])
        near = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        near = near[near != buffer]
        near.sort()
        return near

    def pairs(self) -> Lists:
        """`near` of all."""
        nothing = np.zeros(0, dtype=np.int64)
        first, second = [nothing], [nothing]
        for own in range(self.count):
            places: Ints = np.arange(int(self.start[own]), int(self.end[own]), dtype=np.int64)
            buffers = self.order[places]
            for number in range(self.count):
                over, least, long, longest = self._lives[number][own]
                low = int(self.start[number])
                high = self.after[buffers, number] - low
                since: Ints = np.searchsorted(least, places - longest, side="right")
                other, owner = ranges(since, high)
                met = over[other] > places[owner]
                first.append(buffers[owner[met]])
                second.append(self.order[low + other[met]])
                # The few that live long: each against all buffers of the chain.
                until = np.minimum(since, high)
                for place in long.tolist():
                    owner = np.flatnonzero((place < until) & (over[place] > places))
                    first.append(buffers[owner])
                    second.append(np.full(len(owner), self.order[low + place]))
        a, b = np.concatenate(first), np.concatenate(second)
        apart = a != b
        return lists_of_pairs(a[apart], b[apart], len(self.chain))
