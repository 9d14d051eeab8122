"""What list scheduling decides on: times of nodes, who waits for whom, what an event costs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

FREE = None
"""The lane of a node that may run on any of the N streams."""


@dataclass(frozen=True, slots=True)
class SyncTimes:
    """What an event between two streams costs: `record` on the sender's stream and `wait` on the receiver's, and
    `latency` from the end of the record to the beginning of the wait."""

    record: float = 0.0
    wait: float = 0.0
    latency: float = 0.0


@dataclass(frozen=True, slots=True)
class Problem:
    """Nodes in topological order: how long each takes and which (smaller numbers) it waits for.

    `lanes` say which nodes have a stream of their own, together with all nodes of the same lane; the others are `FREE`.
    Empty: all are.
    """

    times: Sequence[float]
    sources: Sequence[Sequence[int]]
    sync: SyncTimes
    lanes: Sequence[Hashable] = ()

    @property
    def work(self) -> float:
        """The time of all nodes one by one."""
        return sum(self.times)

    def critical_path(self) -> float:
        """The time of the longest chain of nodes, each waiting for the one before it, without events."""
        return max(self.ranks(), default=0.0)

    def bound(self, streams: int) -> float:
        """No schedule on so many streams takes less: the critical path, or the work shared evenly; nodes with a lane
        one after the other."""
        work: dict[Hashable, float] = {}
        for lane, time in zip(self.lanes or [FREE] * len(self.times), self.times, strict=True):
            work[lane] = work.get(lane, 0.0) + time
        free = work.pop(FREE, 0.0)
        return max(self.critical_path(), free / streams, *work.values(), 0.0)

    def ranks(self, edge: float = 0.0) -> list[float]:
        """HEFT's upward ranks: the time from the start of each node to the end, on the longest way, with `edge` on top
        for every edge (Topcuoglu, Hariri and Wu 2002)."""
        ranks = [0.0] * len(self.times)
        for node in reversed(range(len(ranks))):
            ranks[node] += self.times[node]
            behind = ranks[node] + edge
            for source in self.sources[node]:
                ranks[source] = max(ranks[source], behind)
        return ranks

    def lane(self, node: int) -> Hashable:
        """The lane of a node."""
        return self.lanes[node] if self.lanes else FREE


def in_new_order(problem: Problem, order: Sequence[int]) -> Problem:
    """The same problem with its nodes in another topological order: `order[i]` is what node i was called."""
    place = [0] * len(order)
    for number, node in enumerate(order):
        place[node] = number
    return Problem(
        [problem.times[node] for node in order],
        [[place[source] for source in problem.sources[node]] for node in order],
        problem.sync,
        [problem.lanes[node] for node in order] if problem.lanes else (),
    )
