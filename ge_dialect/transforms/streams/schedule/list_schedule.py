"""List scheduling: nodes in some order, each on the stream on which it is done first (HEFT).

Topcuoglu, Hariri, Wu: Performance-effective and low-complexity task scheduling for heterogeneous computing, 2002.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from heapq import heapify, heappop, heappush

from ge_dialect.transforms.streams.schedule.problem import FREE, Problem


def by_priority(sources: Sequence[Sequence[int]], priority: Sequence[float]) -> list[int]:
    """The topological order that takes of the nodes that are ready the one with the highest priority."""
    missing = [len(each) for each in sources]
    readers: list[list[int]] = [[] for _ in sources]
    for node, each in enumerate(sources):
        for source in each:
            readers[source].append(node)
    ready = [(-priority[node], node) for node, count in enumerate(missing) if count == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, node = heappop(ready)
        order.append(node)
        for reader in readers[node]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heappush(ready, (-priority[reader], reader))
    return order


def list_schedule(problem: Problem, limit: int, caution: float = 0.0) -> list[int]:
    """The stream of each node, numbered from 0 in the order of their first nodes; at most `limit` for free nodes, and
    one for each lane.

    Node by node, in the order of the problem, the stream on which it is done first; of equal ones the one that idles
    least before it, so that a stream is only opened where it saves time. With `caution` every event counts so many
    times more: a stream that needs one has to save that much, because what an event costs the other stream, and later
    nodes, does not show yet. Time: (nodes + edges) times streams.
    """
    return _ListSchedule(problem, limit, caution).run()


class _ListSchedule:
    def __init__(self, problem: Problem, limit: int, caution: float) -> None:
        self._problem = problem
        sync = problem.sync
        self._dread = caution * (sync.record + sync.wait + sync.latency)
        self._limit = limit
        self._free: list[float] = []  # when each stream has done what it was given
        self._open: list[int] = []  # streams of free nodes
        self._of_lane: dict[Hashable, int] = {}
        self._last: list[int] = []
        self._seen: list[
            dict[int, int]
        ] = []  # by stream: the latest node of each other stream that it waited for
        self._end: list[float] = []
        self._streams: list[int] = []

    def run(self) -> list[int]:
        """Place all nodes."""
        problem = self._problem
        for node, time in enumerate(problem.times):
            lane = problem.lane(node)
            if lane is FREE:
                stream, start = self._best(node)
            else:
                stream = self._of_lane.get(lane, -1)
                if stream < 0:
                    stream = self._of_lane[lane] = self._new()
                start, _ = self._start_and_key(node, stream)
            self._place(node, stream, start + time)
        return self._streams

    def _new(self) -> int:
        self._free.append(0.0)
        self._last.append(-1)
        self._seen.append({})
        return len(self._free) - 1

    def _best(self, node: int) -> tuple[int, float]:
        best, best_start, best_key, best_free = -1, 0.0, 0.0, 0.0
        for stream in self._open:
            start, key = self._start_and_key(node, stream)
            free = self._free[stream]
            if best < 0 or key < best_key or (key == best_key and free > best_free):
                best, best_start, best_key, best_free = stream, start, key, free
        if len(self._open) < self._limit and (best < 0 or best_key > 0.0):
            start, key = self._start_and_key(node, -1)
            if best < 0 or key < best_key:
                best, best_start = self._new(), start
                self._open.append(best)
        return best, best_start

    def _start_and_key(self, node: int, stream: int) -> tuple[float, float]:
        """When the node could start on the stream (-1: one that nothing runs on yet), and by what it is chosen."""
        sync, end, streams = self._problem.sync, self._end, self._streams
        at = self._free[stream] if stream >= 0 else 0.0
        waits = 0
        for source in self._problem.sources[node]:
            other = streams[source]
            if other != stream:
                ready = end[source] + sync.record + sync.latency
                if ready > at:
                    at = ready
                if stream < 0 or self._seen[stream].get(other, -1) < source:
                    waits += 1
        if not waits:
            return at, at
        at += waits * sync.wait
        return at, at + waits * self._dread

    def _place(self, node: int, stream: int, end: float) -> None:
        seen = self._seen[stream]
        record = self._problem.sync.record
        for source in self._problem.sources[node]:
            other = self._streams[source]
            if other != stream and seen.get(other, -1) < source:
                seen[other] = source
                if self._last[other] == source:
                    self._free[other] += record
        self._streams.append(stream)
        self._end.append(end)
        self._free[stream] = end
        self._last[stream] = node
