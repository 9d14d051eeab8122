"""Blocks of memory, and level 1: a request takes a whole free block of its own size.

Source: spec/memory.md sections 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log2

from ge_dialect.transforms.memory.reference.requests import Request

KEPT_TYPES = frozenset({"Const", "Constant", "FastrcnnPredictions"})
"""Types whose readers do not give the memory back at level 1 (section 4.2, step 4)."""

_BIG = 8 << 20


@dataclass(slots=True, eq=False)
class Block:
    """Memory that its members use one after the other.

    `size`: bytes in whole blocks of 512; `members` in order of time; `children` lie inside it side by side, `used`
    bytes of it. `io_input`/`zeroed`: some member is a model input, or is
    zeroed centrally.
    """

    size: int
    members: list[Request]
    children: list[Block] = field(default_factory=list["Block"])
    is_child: bool = False
    used: int = 0
    io_input: bool = False
    zeroed: bool = False

    def add(self, member: Request) -> None:
        """Let a request use the block after those that do already."""
        self.members.append(member)
        self.io_input |= member.io_input
        self.zeroed |= member.zeroed

    @property
    def owner(self) -> Request:
        """The member that made the block."""
        return self.members[0]

    @property
    def begin(self) -> int:
        """Begin of the first member."""
        return self.members[0].begin

    @property
    def end(self) -> int:
        """End of the last member on the block's own stream."""
        return self.members[-1].end


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of assigning blocks (section 4.1)."""

    name: str
    ascending: bool = True
    release_first: bool = False
    one_size: bool = False
    size_classes: bool = False


def variants(*, memory_priority: bool, release_first: bool) -> tuple[Variant, ...]:
    """The ways that are tried, in the order in which equals win."""
    found = [
        Variant("binary-block", release_first=release_first),
        Variant("max-block", release_first=release_first, one_size=True),
    ]
    if memory_priority:
        for ascending in (False, True):
            for first in (True, False):
                name = f"{'ascending' if ascending else 'descending'}, {'first' if first else 'last'} released first"
                found.append(Variant(name, ascending, first, size_classes=True))
    return tuple(found)


def size_classes(sizes: Sequence[int]) -> list[int]:
    """The block sizes that requests are rounded up to, ascending (section 4.1)."""
    ordered = sorted(sizes)
    if not ordered:
        return []
    top = ordered[-1]
    floor = 512 if top > 512 else ordered[0]
    count = max(1, ceil(log2(top / floor))) if floor else 1
    groups: list[list[int]] = []
    ceiling, rest = top, ordered
    for _ in range(count):
        ceiling //= 2
        groups.append([size for size in rest if size > ceiling + 512])
        rest = [size for size in rest if size <= ceiling + 512]
    groups.append(rest)
    filled = [group for group in groups if group][::-1]  # smallest sizes first
    least = len(ordered) // len(filled)
    classes: list[list[int]] = []
    for group in filled:
        previous = classes[-1] if classes else None
        if previous is not None and len(previous) < least and sum(x >= _BIG for x in previous) < 2:
            previous.extend(group)
        else:
            classes.append(list(group))
    return [max(group) for group in classes]


def _wanted(request: Request, variant: Variant, classes: Sequence[int], largest: int) -> int:
    if variant.one_size:
        return largest
    if variant.size_classes and request.reusable:
        return next((size for size in classes if size >= request.size), request.size)
    return request.size


def _may_take(block: Block, request: Request) -> bool:
    return request.begin > block.end and not _types_conflict(block, request)


def _types_conflict(block: Block, request: Request) -> bool:
    """Memory of a model input and memory that is zeroed centrally never mix (section 4.2)."""
    return (request.io_input and block.zeroed) or (request.zeroed and block.io_input)


_Key = tuple[str, int, str, int]


class _LevelOne:
    def __init__(self, variant: Variant, classes: Sequence[int], largest: int) -> None:
        self.variant = variant
        self.classes = classes
        self.largest = largest
        self.blocks: list[Block] = []
        self.free: dict[_Key, list[Block]] = {}

    def place(self, request: Request) -> Block:
        """Give the request a free block or a new one."""
        size = _wanted(request, self.variant, self.classes, self.largest)
        alone = not request.reusable or request.continuous or request.zero_copy
        if not alone:
            waiting = self.free.get((request.space, request.stream, request.batch, size), [])
            order = range(len(waiting))
            for index in order if self.variant.release_first else reversed(order):
                if _may_take(waiting[index], request):
                    block = waiting.pop(index)
                    block.add(request)
                    return block
        block = Block(size, [])
        block.add(request)
        self.blocks.append(block)
        return block

    def release(self, block: Block) -> None:
        """Put the block on the free list of its stream unless nobody may take it."""
        last = block.members[-1]
        owner = block.owner
        if last.cluster is not None and last.node.type in KEPT_TYPES:
            return
        if not last.reusable or owner.continuous or owner.zero_copy or last.cross_stream_first:
            return
        self.free.setdefault((owner.space, owner.stream, owner.batch, block.size), []).append(block)


def level_one(requests: Sequence[Request], variant: Variant) -> list[Block]:
    """The blocks of all requests, which are in the order of their nodes; walks over the nodes once.

    A block is free again after the node that read it last, or, when nobody reads it, before the next node.
    """
    sizes = [x.size for x in requests]
    classes = size_classes(sizes) if variant.size_classes else []
    largest = max(sizes, default=0)
    state = _LevelOne(variant, classes, largest)
    by_node: dict[int, list[Request]] = {}
    for request in requests:
        by_node.setdefault(request.at, []).append(request)
    due: dict[int, list[tuple[int, Block]]] = {}
    nodes = sorted({*by_node, *(x.freed + (x.slot < 0) for x in requests)})
    for node in nodes:
        releases = due.pop(node, [])
        releases.sort(key=lambda item: item[0])
        for slot, block in releases:
            if slot < 0:
                state.release(block)
        for request in by_node.get(node, ()):
            block = state.place(request)
            when = request.freed + (request.slot < 0)
            entry = (request.slot, block)
            if when == node:
                releases.append(entry)
            else:
                due.setdefault(when, []).append(entry)
        if variant.size_classes:
            releases.sort(key=lambda item: item[1].members[-1].at)
        for slot, block in releases:
            if slot >= 0:
                state.release(block)
    return state.blocks
