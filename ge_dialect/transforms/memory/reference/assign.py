"""From requests to offsets: the variants, the best of them, and where everything then lies.

Source: spec/memory.md sections 4.1, 4.3 (end), 8.2 and 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ge_dialect.analysis.memory.marks import HBM
from ge_dialect.analysis.memory.streams import StreamEdges
from ge_dialect.transforms.memory.first_fit import Interval, pack
from ge_dialect.transforms.memory.reference.blocks import Block, Variant, level_one, variants
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.packing import level_two
from ge_dialect.transforms.memory.reference.requests import MAX, MIN, Request, Requests


@dataclass(slots=True)
class Assignment:
    """Byte offsets of all requests in their spaces (by id), the bytes of each space without the zero-copy tail, the
    tail's, and the variant that won."""

    blocks: list[Block]
    variant: Variant
    offsets: dict[int, int] = field(default_factory=dict[int, int])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    zero_copy: int = 0


def _assign(pool: Sequence[Request], edges: StreamEdges, variant: Variant) -> Assignment:
    blocks = level_one(pool, variant)
    if not variant.one_size:
        blocks = level_two(
            blocks, edges, ascending=variant.ascending, priority=variant.size_classes
        )
    # Padded runs are placed behind the others (section 6.7).
    blocks.sort(key=lambda block: block.owner.continuous)
    made = Assignment(blocks, variant)
    for block in blocks:
        if not block.is_child and not block.owner.zero_copy:
            _append(block, made)
    return made


def _append(block: Block, made: Assignment) -> None:
    space = block.owner.space
    at = made.sizes.get(space, 0)
    made.sizes[space] = at + _settle(block, at, made.offsets)


def _settle(block: Block, at: int, offsets: dict[int, int]) -> int:
    """Place a block and, side by side from its start, all in it; the bytes that it takes with them (section 4.3)."""
    for member in block.members:
        offsets[id(member)] = at
    used = 0
    for child in block.children:
        used += _settle(child, at + used, offsets)
    return max(block.size, used)


def _append_tail(made: Assignment) -> None:
    """The zero-copy tail: outputs in list order, then inputs by ascending size."""
    tail = [block for block in made.blocks if block.owner.zero_copy and not block.is_child]
    outputs = [block for block in tail if not block.owner.io_input]
    outputs.sort(key=lambda block: block.owner.at)
    inputs = [block for block in tail if block.owner.io_input]
    inputs.sort(key=lambda block: (block.size, block.owner.at))
    before = made.sizes.get(HBM, 0)
    for block in (*outputs, *inputs):
        _append(block, made)
    made.zero_copy = made.sizes.get(HBM, 0) - before


def _append_atomic(atomic: Iterable[Request], made: Assignment) -> None:
    """The area that one central node zeroes: batches lie on top of each other (section 8.2)."""
    start = dict(made.sizes)
    reach: dict[tuple[str, str], int] = {}
    for request in atomic:
        key = (request.space, request.batch)
        at = reach.get(key, start.get(request.space, 0))
        made.offsets[id(request)] = at
        reach[key] = at + request.size
        made.sizes[request.space] = max(made.sizes.get(request.space, 0), reach[key])


def assign(wanted: Requests, edges: StreamEdges, options: PlanOptions) -> Assignment:
    """The assignment that needs the fewest bytes over all spaces; of equals the first in `variants`."""
    tried = variants(memory_priority=options.memory_priority, release_first=options.release_first)
    best = _assign(wanted.pool, edges, tried[0])
    for variant in tried[1:]:
        other = _assign(wanted.pool, edges, variant)
        if sum(other.sizes.values()) < sum(best.sizes.values()):
            best = other
    _append_atomic(wanted.atomic, best)
    _append_tail(best)
    return best


def assign_first_fit(wanted: Requests) -> Assignment:
    """The same requests at the lowest free places instead: the best of four orders of placing.

    Right only where one stream runs everything, as it takes the order of nodes for that of time.
    """
    blocks = [_block_of(request) for request in wanted.pool if request.zero_copy]
    made = Assignment(blocks, Variant("first-fit"))
    spaces: dict[str, list[Request]] = {}
    for request in wanted.pool:
        if not request.zero_copy:
            spaces.setdefault(request.space, []).append(request)
    for space, requests in spaces.items():
        last = max(request.last for request in requests)
        intervals = [_interval(request, last) for request in requests]
        packing = pack(intervals, _most_at_once(intervals, last))
        for request, offset in zip(requests, packing.offsets, strict=True):
            made.offsets[id(request)] = offset
        made.sizes[space] = packing.peak
        if space == HBM:
            made.variant = Variant(packing.order)
    _append_atomic(wanted.atomic, made)
    _append_tail(made)
    return made


def _block_of(request: Request) -> Block:
    block = Block(request.size, [])
    block.add(request)
    return block


def _interval(request: Request, last: int) -> Interval:
    start = 0 if request.begin == MIN else request.first
    return Interval(start, last if request.end >= MAX else request.last, request.size)


def _most_at_once(intervals: Sequence[Interval], last: int) -> int:
    change = [0] * (last + 2)
    for interval in intervals:
        change[interval.start] += interval.size
        change[interval.end + 1] -= interval.size
    most = live = 0
    for step in change:
        live += step
        most = max(most, live)
    return most
