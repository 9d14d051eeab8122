"""Level 2: whole blocks move into larger ones whose life does not meet theirs.

Source: spec/memory.md section 4.3. For each block all later ones are tested at once on arrays; only those that can
move are looked at one by one, so the time is that of blocks squared in numpy and of moves in Python.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ge_dialect.analysis.memory.streams import StreamEdges
from ge_dialect.transforms.memory.reference.blocks import Block
from ge_dialect.transforms.memory.reference.requests import Request

MAX_DEPTH = 100

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]


def _sort_key(block: Block, ascending: bool) -> tuple[int, int, int]:
    size = block.owner.exact if block.owner.continuous else block.size
    if ascending:
        return -size, len(block.members), block.begin
    return -size, -block.begin, 0


def _is_serial(block: Block) -> bool:
    """Whether all its uses are on its own stream, so that gaps between them can be given away."""
    return (
        not block.owner.continuous
        and not block.owner.zero_copy
        and all(x.same_stream and not x.ends for x in block.members)
    )


class _Facts:
    """What the tests need of all blocks, as arrays; rows follow the sorted list."""

    def __init__(self, blocks: Sequence[Block], edges: StreamEdges) -> None:
        self.edges = edges
        streams = sorted({block.owner.stream for block in blocks})
        self.column = {stream: index for index, stream in enumerate(streams)}
        self.streams = streams
        count = len(blocks)
        self.begin: Numbers = np.zeros(count, np.int64)
        self.stream: Numbers = np.zeros(count, np.int64)
        self.size: Numbers = np.zeros(count, np.int64)
        self.last: Numbers = np.zeros(count, np.int64)
        self.ends: Numbers = np.zeros((count, len(streams)), np.int64)
        self.known: Numbers = np.full((count, len(streams)), -1, np.int64)
        self.open: Mask = np.zeros(count, np.bool_)
        self.serial: Mask = np.zeros(count, np.bool_)
        self.special: Mask = np.zeros(count, np.bool_)
        self.spans: tuple[Numbers, Numbers, Numbers] = (self.begin, self.begin, self.begin)
        for row, block in enumerate(blocks):
            self.update(row, block)
        self.refresh_spans(blocks)

    def update(self, row: int, block: Block) -> None:
        """Read one block again."""
        owner, last = block.owner, block.members[-1]
        self.begin[row] = owner.begin
        self.stream[row] = self.column[owner.stream]
        self.size[row] = block.size
        self.last[row] = last.at
        self.ends[row, :] = last.end
        for stream, end in last.ends.items():
            if stream in self.column:
                self.ends[row, self.column[stream]] = end
        if len(self.streams) > 1:
            for column, stream in enumerate(self.streams):
                self.known[row, column] = self.edges.known(owner.stream, stream, owner.begin)
        self.open[row] = all(x.reusable for x in block.members) and not block.is_child
        self.serial[row] = _is_serial(block)
        self.special[row] = owner.continuous or owner.zero_copy

    def refresh_spans(self, blocks: Sequence[Block]) -> None:
        """Begin, end and row of every member of the serial blocks."""
        rows = [
            (x.begin, x.end, row)
            for row, block in enumerate(blocks)
            if self.serial[row]
            for x in block.members
        ]
        table = np.array(rows, np.int64).reshape(len(rows), 3)
        self.spans = (table[:, 0], table[:, 1], table[:, 2])

    def follows(self, row: int) -> Mask:
        """Which blocks may come after block `row`, and which may come before it: either will do (section 5.3)."""
        own = self.stream[row]
        same = self.stream == own
        after = self.begin > self.ends[row, own]
        before = self.begin[row] > self.ends[:, own]
        if len(self.streams) == 1:
            return after | before
        peer = self.known[:, own]
        other_after = (
            (peer >= self.last[row]) & (self.last[row] > 0) & (peer > self.ends[row, self.stream])
        )
        peer_here = self.known[row, self.stream]
        other_before = (peer_here >= self.last) & (self.last > 0) & (peer_here > self.ends[:, own])
        return np.where(same, after | before, other_after | other_before)

    def gaps(self, row: int, block: Block) -> Mask:
        """Which serial blocks of the same stream have a member that fits between the members of `block`."""
        found = np.zeros(len(self.begin), np.bool_)
        if not self.serial[row]:
            return found
        begins, ends, rows = self.spans
        own_begins = np.array([x.begin for x in block.members], np.int64)
        own_ends = np.array([x.end for x in block.members], np.int64)
        index = np.searchsorted(own_begins, ends, side="right") - 1
        clear = (index < 0) | (own_ends[np.maximum(index, 0)] < begins)
        found[rows[clear]] = True
        return found & (self.stream == self.stream[row])


def _meets(begins: Sequence[int], block: Block, request: Request) -> bool:
    """Whether the request's life meets that of a member of `block` (whose begins are given)."""
    index = bisect_right(begins, request.end) - 1
    return index >= 0 and block.members[index].end >= request.begin


def _clear_members(parent: Block, members: Sequence[Request]) -> list[Request]:
    begins = [x.begin for x in parent.members]
    return [x for x in members if not _meets(begins, parent, x)]


class _Packer:
    def __init__(self, blocks: list[Block], edges: StreamEdges) -> None:
        self.blocks = blocks
        self.edges = edges
        self.facts = _Facts(blocks, edges)
        self.row = {id(block): row for row, block in enumerate(blocks)}

    def run(self) -> None:
        """Visit every block that is no child yet as parent, largest first."""
        moved = 0
        for row, parent in enumerate(self.blocks):
            if parent.is_child or not self.facts.open[row]:
                continue
            moved += self._fill(row, parent)
            if moved > 64:  # rows of children and of what was split off have changed
                self.facts.refresh_spans(self.blocks)
                moved = 0

    def _fill(self, row: int, parent: Block) -> int:
        facts = self.facts
        special = bool(facts.special[row])
        whole = facts.follows(row)
        later = facts.open & ~facts.special
        later[: row + 1] = False
        if special:
            candidates = later & whole
        else:
            candidates = later & (whole | facts.gaps(row, parent))
            swap = facts.open & facts.special & whole & (facts.size == parent.size)
            swap[: row + 1] = False
            candidates |= swap
        candidates &= facts.size <= _room(parent)
        moved = 0
        for index in np.nonzero(candidates)[0].tolist():
            child = self.blocks[index]
            if child.is_child or child.children or not _compatible(parent, child):
                continue
            if facts.special[index]:
                if self._adopt_reversed(parent, child):
                    return moved + 1
                continue
            if child.size > _room(parent):
                continue
            moved += self._place(parent, child, index, bool(whole[index]))
        return moved

    def _adopt_reversed(self, parent: Block, special: Block) -> bool:
        """A continuous or zero-copy block is the parent, though it comes later, when both are of one size."""
        if parent.children or not _fits_special(special, parent):
            return False
        self._adopt(special, parent)
        return True

    def _place(self, parent: Block, child: Block, row: int, whole: bool) -> int:
        members = child.members if whole else _clear_members(parent, child.members)
        if not members:
            return 0
        host, members = self._host(parent, child, members, whole, 0)
        if host is None or not members:
            return 0
        if len(members) == len(child.members):
            self._adopt(host, child)
            return 1
        # Only some members can move: they become a block of their own, the others stay.
        chosen = {id(x) for x in members}
        part = Block(child.size, members)
        child.members = [x for x in child.members if id(x) not in chosen]
        self.facts.update(row, child)
        self._adopt(host, part)
        return 1

    def _host(
        self, parent: Block, child: Block, members: list[Request], whole: bool, depth: int
    ) -> tuple[Block | None, list[Request]]:
        """The block that takes (some of) the members: an existing child of `parent` rather than itself."""
        if depth > MAX_DEPTH:
            return None, []
        for inner in parent.children:
            if child.size > _room(inner):
                continue
            if self._follows(inner, child):
                rest = members
            elif _is_serial(inner) and _is_serial(child) and _same_stream(inner, child):
                rest = _clear_members(inner, members)
            else:
                continue
            if rest:
                host, taken = self._host(inner, child, rest, whole, depth + 1)
                if host is not None:
                    return host, taken
        if parent.owner.continuous or parent.owner.zero_copy:
            return (parent, members) if whole and _fits_special(parent, child) else (None, [])
        return (
            (parent, members)
            if parent.used + child.size <= _limit(parent, child.size)
            else (None, [])
        )

    def _follows(self, first: Block, second: Block) -> bool:
        return follows(first, second, self.edges) or follows(second, first, self.edges)

    def _adopt(self, parent: Block, child: Block) -> None:
        child.is_child = True
        child.head = parent.used
        parent.children.append(child)
        parent.used += child.size
        row = self.row.get(id(child))
        if row is not None:
            self.facts.open[row] = False


def follows(first: Block, second: Block, edges: StreamEdges) -> bool:
    """Whether `second` may be placed after `first` (section 5.3, normal mode)."""
    stream, other = first.owner.stream, second.owner.stream
    last = first.members[-1]
    if stream == other:
        return second.begin > last.end
    peer = edges.known(other, stream, second.begin)
    return peer >= last.at > 0 and peer > last.end_on(other)


def _same_stream(first: Block, second: Block) -> bool:
    return first.owner.stream == second.owner.stream


def _limit(parent: Block, size: int) -> int:
    """How far children may reach: half a step beyond an ordinary parent, as its own size was rounded up."""
    return parent.size + 512 if size != 512 else parent.size


def _room(parent: Block) -> int:
    """The largest child that could still go somewhere into the block."""
    if parent.owner.continuous or parent.owner.zero_copy:
        own = parent.size - parent.used
    else:
        own = parent.size + 512 - parent.used
    return max([own, *(_room(child) for child in parent.children)])


def _compatible(parent: Block, child: Block) -> bool:
    first, second = parent.owner, child.owner
    if first.space != second.space or first.batch != second.batch:
        return False
    if (first.zero_copy and second.continuous) or (first.continuous and second.zero_copy):
        return False
    if (first.zero_copy and not second.refreshable) or (second.zero_copy and not first.refreshable):
        return False
    inputs = any(x.io_input for x in (*parent.members, *child.members))
    return not (inputs and any(x.zeroed for x in (*parent.members, *child.members)))


def _fits_special(parent: Block, child: Block) -> bool:
    """The space rule of continuous and zero-copy parents: no slack beyond what they really hold."""
    if parent.owner.zero_copy and not parent.used and not child.used and parent.size == child.size:
        return True
    return parent.size >= child.size and parent.used + child.size <= parent.owner.exact


def level_two(blocks: Sequence[Block], edges: StreamEdges, *, ascending: bool) -> list[Block]:
    """Put blocks into blocks; the list in the order in which parents are placed, children included."""
    ordered = sorted(blocks, key=lambda block: _sort_key(block, ascending))
    _Packer(ordered, edges).run()
    return ordered
