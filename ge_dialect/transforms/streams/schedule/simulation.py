"""How long a graph takes on given streams: queues in order, and the least set of events between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_dialect.analysis.streams.least_waits import least_waits
from ge_dialect.transforms.streams.schedule.problem import Problem


@dataclass(frozen=True, slots=True)
class Outcome:
    """A simulated step: its time, the events that it needs, the streams that it uses."""

    makespan: float
    events: int
    streams: int


def simulate(problem: Problem, streams: Sequence[int]) -> Outcome:
    """One step of a problem whose nodes run on `streams`, numbered from 0 without gaps."""
    times, sync = problem.times, problem.sync
    waits = least_waits(problem.sources, streams)
    records = [0] * len(streams)
    for each in waits:
        for source in each:
            records[source] += 1
    free = [0.0] * (1 + max(streams, default=-1))
    recorded = [0.0] * len(streams)  # when the next record behind a node ends
    for node, each in enumerate(waits):
        at = free[streams[node]]
        for source in sorted(each):  # as the list has them: events are waited for in block order
            recorded[source] += sync.record
            at = max(at, recorded[source] + sync.latency) + sync.wait
        at += times[node]
        recorded[node] = at
        free[streams[node]] = at + records[node] * sync.record
    return Outcome(max(free, default=0.0), sum(records), len(free))
