"""Which events queues need at least, by clocks: for each stream, how many nodes of every other are done for certain."""

from __future__ import annotations

from collections.abc import Sequence


def least_waits(sources: Sequence[Sequence[int]], streams: Sequence[int]) -> list[list[int]]:
    """For each node those of its sources on other streams that it has to wait for by an event.

    `sources` are those of nodes in topological order (smaller numbers). Streams are queues in the order of nodes and
    numbered from 0 without gaps. The rest is done for certain: by queues, or because another event says so. What is
    left is the part between streams of the one transitive reduction of queues and sources. Time: edges times streams.
    """
    count = 1 + max(streams, default=-1)
    # What each stream knows; a clock is shared until somebody has to write to it.
    now = [[0] * count for _ in range(count)]
    length = [0] * count
    position: list[int] = []
    waited_for = [False] * len(streams)
    for node, each in enumerate(sources):
        own = streams[node]
        for source in each:
            if streams[source] != own:
                waited_for[source] = True
    known: dict[int, list[int]] = {}
    waits: list[list[int]] = []
    for node, each in enumerate(sources):
        own = streams[node]
        clock = now[own]
        latest: dict[int, int] = {}
        for source in each:
            row = streams[source]
            if row != own and position[source] > clock[row] and source > latest.get(row, -1):
                latest[row] = source
        needed = list(latest.values())
        if len(needed) > 1:
            needed = _uncovered(needed, known, streams, position)
        if needed:
            clock = list(map(max, clock, *(known[x] for x in needed)))
        length[own] += 1
        position.append(length[own])
        if needed or waited_for[node]:
            clock = clock if needed else [*clock]
            clock[own] = length[own]
            now[own] = clock
        if waited_for[node]:
            known[node] = clock
        waits.append(needed)
    return waits


def _uncovered(
    needed: list[int], known: dict[int, list[int]], streams: Sequence[int], position: list[int]
) -> list[int]:
    """Those that no other of them is certain to be behind."""
    clocks = [known[node] for node in needed]
    return [
        node
        for node, own in zip(needed, clocks, strict=True)
        if not any(clock[streams[node]] >= position[node] for clock in clocks if clock is not own)
    ]
