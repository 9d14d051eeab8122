"""From requests for memory to a packing problem: who may never share bytes with whom.

Two pieces may share bytes iff all uses of the one happen before the first write of the other. On one queue that is a
question of life times, on several streams one of vector clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ge_dialect.analysis.memory.model import MemoryGraph
from ge_dialect.analysis.packing import (
    Bound,
    ClockConflicts,
    Conflicts,
    Group,
    IntervalConflicts,
    Problem,
    Writers,
    lower_bound,
)
from ge_dialect.analysis.reach import HappensBefore
from ge_dialect.analysis.sizes import BLOCK_ALIGN
from ge_dialect.dialects.attrs import check_range
from ge_dialect.transforms.memory.optimal.pieces import Piece, pieces_of
from ge_dialect.transforms.memory.reference.requests import Request

_NEVER = 1 << 40
"""A place in a block that no op has."""


@dataclass(frozen=True, slots=True)
class SpaceProblem:
    """What is to be packed in one memory space: piece i is buffer i of the problem."""

    pieces: list[Piece]
    problem: Problem
    untimed: tuple[int, ...] = ()
    """Pieces that a node without stream uses: they are kept apart from all others, though some plan might not."""

    def bounded(self, found: Bound) -> Bound:
        """A bound of the problem as one of all safe plans: untimed pieces do not count."""
        if not self.untimed:
            return found
        sizes = self.problem.sizes.copy()
        sizes[list(self.untimed)] = 0
        return lower_bound(Problem(sizes, self.problem.conflicts))

    def offsets_of(self, offsets: Sequence[int]) -> dict[int, int]:
        """The offset of each request, by its id, from those of the pieces."""
        found: dict[int, int] = {}
        for piece, offset in zip(self.pieces, offsets, strict=True):
            if not piece.offset:
                found[id(piece.request)] = offset
        return found


def space_problem(
    graph: MemoryGraph, requests: Sequence[Request], order: HappensBefore | None, woven: set[int]
) -> SpaceProblem:
    """The problem of the requests of one space; `order` is None where one queue runs everything."""
    pieces: list[Piece] = []
    groups: list[Group] = []
    alignments: list[int] = []
    for request in requests:
        made = [piece for piece in pieces_of(request, woven) if piece.size > 0]
        if len(made) > 1:
            members = tuple(range(len(pieces), len(pieces) + len(made)))
            groups.append(Group(members, tuple(piece.offset for piece in made)))
        alignments += [BLOCK_ALIGN if not piece.offset else 1 for piece in made]
        pieces += made
    untimed: tuple[int, ...] = ()
    if order is None:
        conflicts = _life_times(graph, pieces)
    else:
        conflicts, untimed = _clocks(pieces, order)
    check_range(sum(piece.size for piece in pieces))
    sizes = np.array([piece.size for piece in pieces], np.int64)
    problem = Problem(sizes, conflicts, alignments=alignments or 1, groups=groups)
    return SpaceProblem(pieces, problem, untimed)


def _life_times(graph: MemoryGraph, pieces: Sequence[Piece]) -> Conflicts:
    count = len(graph.nodes)
    starts = [min(x.id for x in piece.writers) if piece.request.pre else 0 for piece in pieces]
    ends = [max(x.id for x in piece.users) + 1 if piece.request.post else count for piece in pieces]
    return IntervalConflicts(starts, ends)


def _clocks(pieces: Sequence[Piece], order: HappensBefore) -> tuple[Conflicts, tuple[int, ...]]:
    untimed: list[int] = []
    release = np.full((len(pieces), order.streams), -1, np.int64)
    acquire = np.full((len(pieces), order.streams), -1, np.int64)
    chain = np.zeros(len(pieces), np.int64)
    written = np.full(len(pieces), -1, np.int64)
    for index, piece in enumerate(pieces):
        places = [order.position(node.op) for node in piece.users]
        # Who runs on no stream can run at any time.
        timed = all(row is not None for row, _ in places)
        if not timed and (piece.request.pre or piece.request.post):
            untimed.append(index)
        if not (piece.request.post and timed):
            release[index] = _NEVER
        else:
            row = release[index]
            for column, place in places:
                if column is not None and row[column] < place:
                    row[column] = place
        streams = {order.position(writer.op)[0] for writer in piece.writers}
        if piece.request.pre and timed and len(streams) == 1:
            first = min(piece.writers, key=lambda writer: order.position(writer.op)[1])
            column, place = order.position(first.op)
            assert column is not None
            acquire[index] = order.done_before(first.op)
            chain[index], written[index] = column, place
        elif piece.request.pre and timed:
            untimed.append(index)  # written on several streams
    return ClockConflicts(release, acquire, Writers(chain, written)), tuple(untimed)
