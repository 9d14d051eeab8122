"""Why a plan needs what it needs: the node at which the most bytes are in use, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_dialect.analysis.memory.distances import interleaved
from ge_dialect.analysis.memory.marks import HBM
from ge_dialect.analysis.memory.model import Node
from ge_dialect.transforms.memory.optimal.pieces import pieces_of
from ge_dialect.transforms.memory.reference.plan import Plan

MOST_NAMED = 4
"""Pieces that a remark names; the rest it counts."""


@dataclass(frozen=True, slots=True)
class Busiest:
    """The first node, in block order, at which the most `bytes` of the feature map are in use, and the pieces in use
    there as (first writer, bytes), largest first. On several streams block order is one of the orders that can happen.
    """

    node: Node
    bytes: int
    pieces: Sequence[tuple[Node, int]]

    def text(self) -> str:
        """For a remark."""
        named = [f'"{node.name}" {size}' for node, size in self.pieces[:MOST_NAMED]]
        if len(self.pieces) > MOST_NAMED:
            rest = self.pieces[MOST_NAMED:]
            named.append(f"{len(rest)} more {sum(size for _, size in rest)}")
        return f'most in use while "{self.node.name}" runs: {self.bytes} bytes, {", ".join(named)}'


def busiest(plan: Plan) -> Busiest | None:
    """Where the peak comes from; None when the feature map holds nothing. O(n log n)."""
    woven = set(interleaved(plan.graph))
    lives: list[tuple[int, int, int, Node]] = []
    change = [0] * (len(plan.graph.nodes) + 1)
    for request in (*plan.wanted.pool, *plan.wanted.atomic):
        if request.space != HBM or request.zero_copy:
            continue
        for piece in pieces_of(request, woven):
            if piece.size > 0 and piece.writers:
                first = min(piece.writers, key=lambda node: node.id)
                last = max(node.id for node in (*piece.writers, *piece.users))
                lives.append((first.id, last, piece.size, first))
                change[first.id] += piece.size
                change[last + 1] -= piece.size
    most = at = live = 0
    for index, step in enumerate(change):
        live += step
        if live > most:
            most, at = live, index
    if not most:
        return None
    there = [(node, size) for first, last, size, node in lives if first <= at <= last]
    return Busiest(plan.graph.nodes[at], most, sorted(there, key=lambda piece: -piece[1]))
