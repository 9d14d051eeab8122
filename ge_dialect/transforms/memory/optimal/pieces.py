"""Requests cut into pieces that live on their own: the members of a run are written one by one, at fixed distances."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ge_dialect.analysis.liveness import stream_of
from ge_dialect.analysis.memory.clusters import Cluster
from ge_dialect.analysis.memory.continuity import is_outside_pools
from ge_dialect.analysis.memory.model import Node, Output
from ge_dialect.transforms.memory.reference.requests import Request


@dataclass(slots=True, eq=False)
class Piece:
    """`size` bytes at `offset` in the memory of a request. `writers` write it first, `users` are the last of each
    stream who touch it."""

    request: Request
    offset: int
    size: int
    writers: list[Node]
    users: list[Node]


def _users(
    outputs: Sequence[tuple[Output, int]], starts: Sequence[int], end: int
) -> list[list[Node]]:
    """Of the pieces that begin at `starts`, the first at the lowest place of all, and end with the next or at `end`:
    who writes or reads bytes of them, of those on one stream the last. Outputs come with their places.

    Uses are painted over pieces from the last to the first, and what is painted is stepped over: O(n log n) for a
    stream, also where the runs of nested concats all begin at one place and each has readers of its own.
    """
    uses: dict[int | None, list[tuple[Node, int, int]]] = {}
    for output, place in outputs:
        if place >= end:
            continue
        first = max(bisect_right(starts, place) - 1, 0)
        behind = bisect_left(starts, min(place + max(output.exact, 1), end))
        last: dict[int | None, Node] = {}
        for user in (output.node, *(consumer for consumer, _ in output.consumers)):
            if not user.renames:
                stream = stream_of(user.op)
                if stream not in last or last[stream].id < user.id:
                    last[stream] = user
        for stream, user in last.items():
            uses.setdefault(stream, []).append((user, first, behind))
    found: list[list[Node]] = [[] for _ in starts]
    for of_stream in uses.values():
        of_stream.sort(key=lambda use: -use[0].id)
        _paint(of_stream, found)
    return found


def _paint(uses: Sequence[tuple[Node, int, int]], found: list[list[Node]]) -> None:
    """Give each piece the first of the uses that meets it; those come with their first piece and the one behind."""
    free = list(range(len(found) + 1))  # where the next piece without user may be
    for user, at, behind in uses:
        while True:
            while free[at] != at:
                free[at] = free[free[at]]
                at = free[at]
            if at >= behind:
                break
            found[at].append(user)
            free[at] = at + 1


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
        users = _users(outputs, [0], 1 << 62)[0]
        return [Piece(request, 0, request.size, writers, users or writers)]
    starts = [0, *(place for place, _ in producers[1:])]
    ends = [*starts[1:], request.size]
    users = _users(outputs, starts, request.size)
    return [
        Piece(request, start, end - start, [output.node], own)
        for (_, output), start, end, own in zip(producers, starts, ends, users, strict=True)
    ]
