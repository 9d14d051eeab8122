"""From requests to offsets: the variants, the best of them, and where everything then lies.

Source: spec/memory.md sections 4.1, 4.3 (end), 8.2 and 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ge_dialect.analysis.memory.marks import HBM
from ge_dialect.analysis.memory.streams import StreamEdges
from ge_dialect.transforms.memory.reference.blocks import Block, Variant, level_one, variants
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.packing import level_two
from ge_dialect.transforms.memory.reference.requests import Request, Requests


@dataclass(slots=True)
class Assignment:
    """Byte offsets of all requests in their spaces (by id), the bytes of each space without the zero-copy tail, the
    tail's, and the variant that won."""

    blocks: list[Block]
    variant: Variant
    offsets: dict[int, int] = field(default_factory=dict[int, int])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    zero_copy: int = 0


def _assign(wanted: Requests, edges: StreamEdges, variant: Variant) -> Assignment:
    blocks = level_one(wanted.pool, variant)
    if not variant.one_size:
        blocks = level_two(
            blocks,
            edges,
            ascending=variant.ascending,
            priority=variant.size_classes,
            last_clean=wanted.last_clean,
        )
    # Padded inputs of one node are placed behind the others, next to each other (section 6.7).
    blocks.sort(key=lambda block: block.owner.placed_last)
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


def append_tail(made: Assignment) -> None:
    """The zero-copy tail: outputs in list order, then inputs by ascending size."""
    tail = [block for block in made.blocks if block.owner.zero_copy and not block.is_child]
    outputs = [block for block in tail if not block.owner.io_input]
    inputs = [block for block in tail if block.owner.io_input]
    inputs.sort(key=lambda block: (block.size, block.owner.at))
    before = made.sizes.get(HBM, 0)
    for block in (*outputs, *inputs):
        _append(block, made)
    made.zero_copy = made.sizes.get(HBM, 0) - before


def append_atomic(atomic: Iterable[Request], made: Assignment) -> None:
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
    best = _assign(wanted, edges, tried[0])
    for variant in tried[1:]:
        other = _assign(wanted, edges, variant)
        if sum(other.sizes.values()) < sum(best.sizes.values()):
            best = other
    append_atomic(wanted.atomic, best)
    append_tail(best)
    return best


def block_of(request: Request) -> Block:
    """A block that the request has alone."""
    block = Block(request.size, [])
    block.add(request)
    return block
