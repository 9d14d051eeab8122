"""What is to be placed: sizes, conflicts, alignment, fixed addresses and rigid groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm

import numpy as np
from numpy.typing import ArrayLike

from ge_dialect.analysis.packing.conflicts import Conflicts, PackingError
from ge_dialect.analysis.packing.lists import Ints

__all__ = ["Group", "OverlapError", "PackingError", "Problem"]


class OverlapError(PackingError):
    """Two `buffers` in conflict whose given places share bytes."""

    def __init__(self, what: str, first: int, second: int) -> None:
        super().__init__(f"in {what}, {first} and {second} overlap")
        self.buffers = (first, second)


@dataclass(frozen=True, slots=True)
class Group:
    """Buffers whose distances are given: member i lies `offsets[i]` bytes behind the base of the group.

    The least offset is 0. The base is a multiple of every member's alignment, so each offset must be one of its own.
    Members have a size: leave out what has none.
    """

    members: tuple[int, ...]
    offsets: tuple[int, ...]

    @staticmethod
    def end_to_end(members: Sequence[int], sizes: Sequence[int]) -> Group:
        """Members one right behind the other; `sizes` are theirs, in the same order."""
        ends = np.cumsum([0, *sizes]).tolist()
        return Group(tuple(members), tuple(ends[:-1]))


class Problem:
    """Buffers 0 .. n - 1, in bytes.

    A buffer without size conflicts with nothing, whatever `conflicts` says. `base_alignments` are those of the bases of
    groups for their members, else `alignments`.
    `fixed` gives addresses that are not to be chosen. Raises PackingError when sizes are negative, an alignment is not
    positive, a buffer is in two groups or both fixed and in a group, or fixed addresses or groups contradict
    conflicts or alignments.
    """

    def __init__(
        self,
        sizes: ArrayLike,
        conflicts: Conflicts,
        *,
        alignments: ArrayLike | int = 1,
        fixed: Mapping[int, int] | None = None,
        groups: Sequence[Group] = (),
    ) -> None:
        self.sizes: Ints = np.ascontiguousarray(sizes, dtype=np.int64)
        self.conflicts = conflicts
        self.count = len(self.sizes)
        self.alignments: Ints = np.array(
            np.broadcast_to(np.asarray(alignments, dtype=np.int64), (self.count,))
        )
        self.base_alignments: Ints = self.alignments.copy()
        self.fixed: dict[int, int] = dict(fixed or {})
        self.groups: tuple[Group, ...] = tuple(groups)
        self.relative: Ints = np.zeros(self.count, dtype=np.int64)
        self.group_of: Ints = np.full(self.count, -1, dtype=np.int64)
        self._check_buffers()
        for number, group in enumerate(self.groups):
            self._add_group(number, group)
        self._check_fixed()

    def _check_buffers(self) -> None:
        if self.conflicts.count != self.count:
            raise PackingError(f"{self.count} sizes, but conflicts of {self.conflicts.count}")
        if (bad := np.flatnonzero(self.sizes < 0)).size:
            raise PackingError(f"buffer {bad[0]} has the size {self.sizes[bad[0]]}")
        if (bad := np.flatnonzero(self.alignments < 1)).size:
            raise PackingError(f"buffer {bad[0]} has the alignment {self.alignments[bad[0]]}")

    def _add_group(self, number: int, group: Group) -> None:
        if len(group.members) != len(group.offsets) or not group.members:
            raise PackingError(f"group {number} has not as many offsets as members")
        if min(group.offsets) != 0:
            raise PackingError(f"the least offset of group {number} is not 0")
        base = lcm(*(int(self.alignments[member]) for member in group.members))
        for member, offset in zip(group.members, group.offsets, strict=True):
            if self.group_of[member] >= 0:
                raise PackingError(f"buffer {member} is twice in groups")
            if not self.sizes[member]:
                raise PackingError(f"buffer {member} of group {number} has no size")
            if offset % int(self.alignments[member]):
                raise PackingError(f"offset {offset} in group {number} is not aligned for {member}")
            self.group_of[member] = number
            self.relative[member] = offset
        self._check_disjoint(group.members, f"group {number}", self.relative)
        self.base_alignments[list(group.members)] = base

    def _check_fixed(self) -> None:
        place = np.zeros(self.count, dtype=np.int64)
        for buffer, address in self.fixed.items():
            if not 0 <= buffer < self.count or address < 0:
                raise PackingError(f"buffer {buffer} cannot be fixed to {address}")
            if address % int(self.alignments[buffer]):
                raise PackingError(f"buffer {buffer} is fixed to {address}, which is not aligned")
            if self.group_of[buffer] >= 0:
                raise PackingError(f"buffer {buffer} is fixed and in a group")
            place[buffer] = address
        self._check_disjoint(tuple(self.fixed), "the fixed buffers", place)

    def _check_disjoint(self, members: Sequence[int], what: str, place: Ints) -> None:
        chosen = np.zeros(self.count, dtype=np.bool_)
        chosen[list(members)] = True
        for buffer in members:
            near = self.conflicts.near(buffer)
            near = near[chosen[near]]
            end = place[buffer] + self.sizes[buffer]
            clash = (place[near] < end) & (place[near] + self.sizes[near] > place[buffer])
            if clash.any() and self.sizes[buffer]:
                raise OverlapError(what, buffer, int(near[clash][0]))

    def unit(self) -> int:
        """The greatest number of bytes of which all sizes, alignments and given offsets are multiples."""
        steps = np.concatenate(
            [
                self.sizes,
                self.relative,
                self.base_alignments[self.base_alignments > 1],
                np.array(list(self.fixed.values()), dtype=np.int64),
            ]
        )
        return gcd(*np.unique(steps).tolist()) or 1

    def peak_of(self, offsets: Ints) -> int:
        """The first byte behind everything."""
        return int((offsets + self.sizes)[self.sizes > 0].max(initial=0))
