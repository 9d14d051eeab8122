"""Requests cut into pieces that live on their own: the members of a run are written one by one, at fixed distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ge_dialect.analysis.memory.clusters import Cluster
from ge_dialect.analysis.memory.continuity import is_outside_pools
from ge_dialect.analysis.memory.model import Node, Output
from ge_dialect.transforms.memory.reference.requests import Request


@dataclass(slots=True, eq=False)
class Piece:
    """`size` bytes at `offset` in the memory of a request. `writers` write it first, `users` are all who touch it."""

    request: Request
    offset: int
    size: int
    writers: list[Node]
    users: list[Node]


def _users(outputs: Sequence[tuple[Output, int]], start: int, end: int) -> list[Node]:
    """Who writes or reads bytes of [start, end); outputs come with their places."""
    found: dict[Node, None] = {}
    for output, place in outputs:
        if place >= end or place + max(output.exact, 1) <= start:
            continue
        if not output.node.renames:
            found[output.node] = None
        for consumer, _ in output.consumers:
            if not consumer.renames:
                found[consumer] = None
    return list(found)


def _run(cluster: Cluster, woven: set[int]) -> list[tuple[int, Output]] | None:
    """The producers of a run by place; None for a single one, or when their bytes lie between each other."""
    producers = [
        (place, output)
        for output, place in zip(cluster.outputs, cluster.places, strict=True)
        if output.source is None and output.stored > 0 and not is_outside_pools(output)
    ]
    if len(producers) < 2 or cluster.chained or any(x.uid in woven for _, x in producers):
        return None
    producers.sort(key=lambda item: (item[0], item[1].uid))
    for (place, output), (following, _) in pairwise(producers):
        if place + max(output.exact, 1) > following:
            return None
    return producers


def pieces_of(request: Request, woven: set[int]) -> list[Piece]:
    """The pieces of one request, in order of their places; together they are all of its bytes.

    `woven`: `uid`s of outputs whose bytes lie between those of others.
    """
    cluster = request.cluster
    if cluster is None:
        return [Piece(request, 0, request.size, [request.node], [request.node])]
    outputs = list(zip(cluster.outputs, cluster.places, strict=True))
    producers = _run(cluster, woven)
    if producers is None:
        writers = [x.node for x in cluster.producers if x.stored > 0]
        return [
            Piece(request, 0, request.size, writers, _users(outputs, -1 << 62, 1 << 62) or writers)
        ]
    starts = [0, *(place for place, _ in producers[1:])]
    ends = [*starts[1:], request.size]
    return [
        Piece(request, start, end - start, [output.node], _users(outputs, start, end))
        for (_, output), start, end in zip(producers, starts, ends, strict=True)
    ]
