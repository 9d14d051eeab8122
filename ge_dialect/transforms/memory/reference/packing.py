"""Level 2: whole blocks move into larger ones whose life does not meet theirs.

Source: spec/memory.md section 4.3. For each block all later ones are tested at once on arrays; what may move into it, a
part of them, is tested against each place that comes up, and only those that can move are looked at one by one. So the
time is that of blocks squared in numpy and of moves in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from ge_dialect.analysis.memory.streams import StreamEdges
from ge_dialect.transforms.memory.reference.blocks import Block
from ge_dialect.transforms.memory.reference.requests import Request

MAX_DEPTH = 100

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Lives = tuple[Numbers, Numbers]
"""Begins and ends of the members of a block, in order."""


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

    def __init__(self, blocks: Sequence[Block], edges: StreamEdges, *, priority: bool) -> None:
        self.edges = edges
        self.priority = priority
        streams = sorted(
            {block.owner.stream for block in blocks}
            | {stream for block in blocks for stream in block.members[-1].ends}
        )
        self.column = {stream: index for index, stream in enumerate(streams)}
        self.streams = streams
        count = len(blocks)
        self.begin: Numbers = np.zeros(count, np.int64)
        self.stream: Numbers = np.zeros(count, np.int64)
        self.size: Numbers = np.zeros(count, np.int64)
        self.last: Numbers = np.zeros(count, np.int64)
        self.ends: Numbers = np.zeros((count, len(streams)), np.int64)
        self.known: Numbers = np.full((count, len(streams)), -1, np.int64)
        self.end_stream: Numbers = np.full(count, -1, np.int64)
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
        self.end_stream[row] = -1
        for stream, end in last.ends.items():
            self.end_stream[row] = self.column[stream]
            self.ends[row, self.column[stream]] = end
        if len(self.streams) > 1:
            for column, stream in enumerate(self.streams):
                self.known[row, column] = self.edges.known(owner.stream, stream, owner.begin)
        self.open[row] = all(x.reusable for x in block.members) and not block.is_child
        self.serial[row] = _is_serial(block)
        self.special[row] = owner.continuous or owner.zero_copy

    def refresh_spans(self, blocks: Sequence[Block]) -> None:
        """Begin, end and row of every member of the serial blocks that may still move."""
        usable: list[bool] = (self.serial & self.open).tolist()
        rows = [
            (x.begin, x.end, row)
            for row, block in enumerate(blocks)
            if usable[row]
            for x in block.members
        ]
        table = np.array(rows, np.int64).reshape(len(rows), 3)
        self.spans = (table[:, 0], table[:, 1], table[:, 2])

    def restricted(self, rows: Numbers) -> _Facts:
        """The facts of some rows, ascending, numbered anew. `serial`, `open` and `special` stay as they are."""
        found = copy(self)
        found.begin, found.stream, found.last = self.begin[rows], self.stream[rows], self.last[rows]
        found.ends, found.known = self.ends[rows], self.known[rows]
        found.end_stream = self.end_stream[rows]
        begins, ends, owners = self.spans
        number = np.full(len(self.begin), -1, np.int64)
        number[rows] = np.arange(len(rows))
        owners = number[owners]
        kept = owners >= 0
        found.spans = (begins[kept], ends[kept], owners[kept])
        return found

    def follows(self, block: Block, since: int = 0) -> Mask:
        """Which blocks from row `since` on may come after `block`, and which may come before it: either will do
        (section 5.3).

        With memory priority an end that is known on one other stream is compared there, not on the own stream.
        """
        owner, last = block.owner, block.members[-1]
        own = self.column[owner.stream]
        begin, stream, ends_of = self.begin[since:], self.stream[since:], self.ends[since:]
        known_of, end_stream = self.known[since:], self.end_stream[since:]
        after = begin > last.end
        before = owner.begin > ends_of[:, own]
        if len(self.streams) == 1:
            return after | before
        known = np.array(
            [self.edges.known(owner.stream, stream, owner.begin) for stream in self.streams],
            np.int64,
        )
        ends = np.array([last.end_on(stream) for stream in self.streams], np.int64)
        peer, peer_here = known_of[:, own], known[stream]
        over = peer > ends[stream]
        over_here = peer_here > ends_of[:, own]
        if self.priority:
            rows = np.arange(len(begin))
            for name, end in last.ends.items():
                column = self.column[name]
                over = np.where(stream == column, begin > end, known_of[:, column] >= end)
            end_here = ends_of[rows, end_stream]
            there = np.where(
                end_stream == own, owner.begin > end_here, known[end_stream] >= end_here
            )
            over_here = np.where(end_stream >= 0, there, over_here)
        last_of = self.last[since:]
        other_after = (peer >= last.at) & (last.at > 0) & over
        other_before = (peer_here >= last_of) & (last_of > 0) & over_here
        return np.where(stream == own, after | before, other_after | other_before)

    def gaps(self, block: Block, lives: Lives, since: int = 0) -> Mask:
        """Which serial blocks of the same stream, from row `since` on, have a member that fits between the members of
        `block`."""
        found = np.zeros(len(self.begin) - since, np.bool_)
        if _is_serial(block):
            begins, ends, rows = self.spans
            first = int(np.searchsorted(rows, since))
            clear = _clear(lives, (begins[first:], ends[first:]))
            found[rows[first:][clear] - since] = True
            found &= self.stream[since:] == self.column[block.owner.stream]
        return found


def _lives(block: Block) -> Lives:
    begins = np.array([x.begin for x in block.members], np.int64)
    return begins, np.array([x.end for x in block.members], np.int64)


def _clear(taken: Lives, wanted: Lives) -> Mask:
    """Which of the wanted lives meet none of the taken ones, which are disjoint and ascending."""
    index = np.searchsorted(taken[0], wanted[1], side="right") - 1
    return (index < 0) | (taken[1][np.maximum(index, 0)] < wanted[0])


def _merged(first: Lives, second: Lives) -> Lives:
    """The lives of both, which meet nowhere."""
    begins = np.concatenate([first[0], second[0]])
    order = np.argsort(begins, kind="stable")
    return begins[order], np.concatenate([first[1], second[1]])[order]


class _Tree:
    """The block that is being filled and all blocks in it, as places for further ones.

    A place is the number of one of `blocks`; `above` is the place that it lies in. Rows are those of the blocks that
    may find a place, in the order in which they are tried; they never come back, so that a place knows of those behind
    the one that made it, `since`, alone. `fits[place, row]`: whether (a member of) block `row` can lie there by its
    life, in all blocks around that place too. `around` are the lives of a place and of all above it. `order` lists the
    places children first, as they are tried; `room` are bytes left, none in places that lie too deep.
    """

    def __init__(self, facts: _Facts, top: Block, whole: Mask, fits: Mask) -> None:
        self.facts = facts
        self.blocks: list[Block] = []
        self.above: list[int] = []
        self.depth: list[int] = []
        self.since: list[int] = []
        self.whole: list[Mask] = []
        self.lives: list[Lives] = []
        self.around: list[Lives] = []
        self.fits: Mask = np.zeros((8, len(facts.begin)), np.bool_)
        self.room: Numbers = np.zeros(8, np.int64)
        self._order: Numbers = np.zeros(8, np.int64)
        self._append(top, -1, 0, 0, whole, fits)

    @property
    def order(self) -> Numbers:
        """Places, children first."""
        return self._order[: len(self.blocks)]

    def _append(
        self, block: Block, above: int, at: int, since: int, whole: Mask, fits: Mask
    ) -> None:
        """Add a place, to be tried as number `at`; masks are of the rows from `since` on."""
        place = len(self.blocks)
        if place == len(self.room):
            self.room = np.concatenate([self.room, np.zeros_like(self.room)])
            self._order = np.concatenate([self._order, np.zeros_like(self._order)])
            self.fits = np.concatenate([self.fits, np.zeros_like(self.fits)])
        lives = _lives(block)
        self.blocks.append(block)
        self.above.append(above)
        self.depth.append(self.depth[above] + 1 if above >= 0 else 0)
        self.since.append(since)
        self.whole.append(whole)
        self.lives.append(lives)
        self.around.append(_merged(self.around[above], lives) if above >= 0 else lives)
        self.fits[place, since:] = fits
        self.room[place] = _own_room(block) if self.depth[place] < MAX_DEPTH else 0
        self._order[at + 1 : place + 1] = self._order[at:place].copy()
        self._order[at] = place

    def put(self, place: int, child: Block, row: int) -> None:
        """Put a block, which is (part of) that of `row`, into the one at `place`."""
        _adopt(self.blocks[place], child)
        self.room[place] = _own_room(self.blocks[place])
        whole = self.facts.follows(child, row + 1)
        fits = whole | self.facts.gaps(child, _lives(child), row + 1)
        fits &= self.fits[place, row + 1 :]
        at = int(np.flatnonzero(self.order == place)[0])
        self._append(child, place, at, row + 1, whole, fits)

    def largest(self) -> int:
        """The largest block that may still find space."""
        return int(self.room[: len(self.blocks)].max())

    def find(self, child: Block, row: int) -> tuple[int, list[Request]] | None:
        """The first place that takes (some of) the block's members, and which; None when there is none."""
        order = self.order
        possible: Numbers = order[self.room[order] >= child.size]
        possible = possible[self.fits[possible, row]]
        if not len(possible):
            return None
        wanted = _lives(child)
        places: list[int] = possible.tolist()
        for place in places:
            clear = self._clear_at(place, row, wanted)
            count = int(np.count_nonzero(clear))
            if count and _has_space(self.blocks[place], child, count == len(clear)):
                kept = zip(child.members, clear.tolist(), strict=True)
                return place, [member for member, free in kept if free]
        return None

    def _clear_at(self, place: int, row: int, wanted: Lives) -> Mask:
        """Which members meet neither the block at `place` nor those around it."""
        if len(self.facts.streams) == 1:
            return _clear(self.around[place], wanted)
        clear = np.ones(len(wanted[0]), np.bool_)
        while place >= 0 and clear.any():
            if not self.whole[place][row - self.since[place]]:
                clear &= _clear(self.lives[place], wanted)
            place = self.above[place]
        return clear


class _Packer:
    def __init__(
        self, blocks: list[Block], edges: StreamEdges, *, priority: bool, last_clean: int
    ) -> None:
        self.blocks = blocks
        self.last_clean = last_clean
        self.facts = _Facts(blocks, edges, priority=priority)

    def run(self) -> None:
        """Visit every block that is no child yet as parent, largest first."""
        moved = 0
        for row, parent in enumerate(self.blocks):
            if parent.is_child or not self.facts.open[row]:
                continue
            moved += self._fill(row, parent)
            if moved > max(64, len(self.facts.spans[0]) // 32):
                # Rows of children and of what was split off have changed; until now they were looked at in vain.
                self.facts.refresh_spans(self.blocks)
                moved = 0

    def _candidates(self, row: int, parent: Block) -> tuple[Numbers, Mask, Mask]:
        """The later blocks that may go into `parent`, or, where they are special, around it; of each whether its life
        as a whole, and whether that of a member, meets none of the parent's."""
        facts, since = self.facts, row + 1
        whole = facts.follows(parent, since)
        fits = whole | facts.gaps(parent, _lives(parent), since)
        is_open, special, size = facts.open[since:], facts.special[since:], facts.size[since:]
        is_special = bool(facts.special[row])
        found = is_open & ~special
        found &= whole if is_special else fits
        if not is_special:
            found |= is_open & special & whole & (size == parent.size)
        found &= size <= _own_room(parent)
        rows = np.flatnonzero(found)
        return rows + since, whole[rows], fits[rows]

    def _fill(self, row: int, parent: Block) -> int:
        """Put later blocks into `parent` and its children; how many (parts) moved."""
        rows, whole, fits = self._candidates(row, parent)
        if not len(rows):
            return 0
        tree = _Tree(self.facts.restricted(rows), parent, whole, fits)
        moved = 0
        largest = tree.largest()
        indices: list[int] = rows.tolist()
        for number, index in enumerate(indices):
            child = self.blocks[index]
            if child.children or child.size > largest or not _compatible(parent, child):
                continue
            if parent.owner.continuous and child.owner.at < self.last_clean:
                continue
            if self.facts.special[index]:
                if not parent.children and _fits_special(child, parent):
                    # A continuous or zero-copy block is the parent though it comes later: both are of one size.
                    _adopt(child, parent)
                    self.facts.open[row] = False
                    return moved + 1
                continue
            found = tree.find(child, number)
            if found is not None:
                self._move(tree, *found, index, number)
                largest = tree.largest()
                moved += 1
        return moved

    def _move(self, tree: _Tree, place: int, members: list[Request], row: int, number: int) -> None:
        """Move members of the block of a row, which is `number` in the tree, to a place."""
        child = self.blocks[row]
        if len(members) == len(child.members):
            self.facts.open[row] = False
            tree.put(place, child, number)
            return
        # Only some members can move: they become a block of their own, the others stay.
        chosen = {id(x) for x in members}
        part = Block(child.size, members, io_input=child.io_input, zeroed=child.zeroed)
        child.members = [x for x in child.members if id(x) not in chosen]
        self.facts.update(row, child)
        tree.put(place, part, number)


def _adopt(parent: Block, child: Block) -> None:
    child.is_child = True
    parent.children.append(child)
    parent.used += child.size


def _has_space(parent: Block, child: Block, whole: bool) -> bool:
    """The space rule: half a step beyond an ordinary parent's size, as that was rounded up; none beyond a special
    one, which takes whole blocks only."""
    if parent.owner.continuous or parent.owner.zero_copy:
        return whole and _fits_special(parent, child)
    limit = parent.size + 512 if child.size != 512 else parent.size
    return parent.used + child.size <= limit


def _own_room(block: Block) -> int:
    """The largest child that could still lie in the block itself."""
    slack = 0 if block.owner.continuous or block.owner.zero_copy else 512
    return block.size + slack - block.used


def _compatible(parent: Block, child: Block) -> bool:
    first, second = parent.owner, child.owner
    if first.space != second.space or first.batch != second.batch:
        return False
    if (first.zero_copy and second.continuous) or (first.continuous and second.zero_copy):
        return False
    if (first.zero_copy and not second.refreshable) or (second.zero_copy and not first.refreshable):
        return False
    return not ((parent.io_input and child.zeroed) or (parent.zeroed and child.io_input))


def _fits_special(parent: Block, child: Block) -> bool:
    """The space rule of continuous and zero-copy parents: no slack beyond what they really hold."""
    if parent.owner.zero_copy and not parent.used and not child.used and parent.size == child.size:
        return True
    return parent.size >= child.size and parent.used + child.size <= parent.owner.exact


def level_two(
    blocks: Sequence[Block],
    edges: StreamEdges,
    *,
    ascending: bool,
    priority: bool = False,
    last_clean: int = -1,
) -> list[Block]:
    """Put blocks into blocks; the list in the order in which parents are placed, children included.

    `last_clean`: the id of the last node that zeroes memory centrally; what earlier nodes made lies in no continuous
    block.
    """
    ordered = sorted(blocks, key=lambda block: _sort_key(block, ascending))
    _Packer(ordered, edges, priority=priority, last_clean=last_clean).run()
    return ordered
