"""The best of several schedules, as few streams and as little change as the time allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ge_dialect.transforms.streams.schedule.list_schedule import by_priority, list_schedule
from ge_dialect.transforms.streams.schedule.problem import Problem, in_new_order
from ge_dialect.transforms.streams.schedule.simulation import Outcome, simulate

STREAM_GAIN = 0.001
"""Another stream has to save this part of the time: streams and events are scarce on a device."""

ORDER_GAIN = 0.005
"""Another order of nodes has to save this part of the time: the memory of a step depends on the order."""

CAUTIONS = (0.0, 1.0)
"""How much more than it costs by itself an event counts; both are tried."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The stream of each node, numbered from 0 in the order of first nodes, and what a step on them comes to."""

    streams: list[int]
    outcome: Outcome


def best_streams(problem: Problem, limit: int, others: Iterable[Sequence[int]] = ()) -> Schedule:
    """The schedule to take, in the order of the problem: on one stream, on 2, 4, ... up to `limit` streams, or one of
    `others`, which somebody else has found (any numbers). The shortest, but of those that come within `STREAM_GAIN` of
    it the one with the fewest streams, then events. Nodes with a lane have streams beside these."""
    limits: list[int] = []
    at = 2
    while at < limit:
        limits.append(at)
        at *= 2
    if limit > 1:
        limits.append(limit)
    found = [_timed(problem, _one_stream(problem))]
    for each in limits:
        made = [_timed(problem, list_schedule(problem, each, caution)) for caution in CAUTIONS]
        found += made
        if all(one.outcome.streams < each for one in made):
            break  # more would not be opened either
    found += (_timed(problem, _renumbered(each)) for each in others)
    fastest = min(each.outcome.makespan for each in found)
    good = [each for each in found if each.outcome.makespan <= fastest * (1 + STREAM_GAIN)]
    return min(good, key=lambda x: (x.outcome.streams, x.outcome.events, x.outcome.makespan))


def best_order(
    problem: Problem, limit: int, others: Iterable[Sequence[int]] = ()
) -> list[int] | None:
    """A topological order in which list scheduling on `limit` streams takes less time than in the present one, and than
    on the streams of `others` in that; None: the present one is good.

    Tried are upward ranks, with and without the time of an event on every edge.
    """
    if limit < 2:
        return None
    sync = problem.sync
    present = [_shortest(problem, limit)]
    present += (simulate(problem, _renumbered(each)).makespan for each in others)
    best = min(present) * (1 - ORDER_GAIN)
    chosen: list[int] | None = None
    for edge in (0.0, sync.record + sync.latency + sync.wait):
        order = by_priority(problem.sources, problem.ranks(edge))
        makespan = _shortest(in_new_order(problem, order), limit)
        if makespan < best:
            best, chosen = makespan, order
    return chosen


def _shortest(problem: Problem, limit: int) -> float:
    schedules = (list_schedule(problem, limit, caution) for caution in CAUTIONS)
    return min(simulate(problem, streams).makespan for streams in schedules)


def _timed(problem: Problem, streams: list[int]) -> Schedule:
    return Schedule(streams, simulate(problem, streams))


def _one_stream(problem: Problem) -> list[int]:
    if not problem.lanes:
        return [0] * len(problem.times)
    numbers: dict[object, int] = {}
    return [numbers.setdefault(lane, len(numbers)) for lane in problem.lanes]


def _renumbered(streams: Sequence[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(stream, len(numbers)) for stream in streams]
