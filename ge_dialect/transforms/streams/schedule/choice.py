"""The best of several schedules, as few streams and as little change as the time allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ge_dialect.transforms.streams.schedule.list_schedule import by_priority, list_schedule
from ge_dialect.transforms.streams.schedule.moves import improve, renumbered
from ge_dialect.transforms.streams.schedule.problem import Problem, in_new_order
from ge_dialect.transforms.streams.schedule.simulation import Outcome, simulate

STREAM_GAIN = 0.001
"""Another stream has to save this part of the time: streams and events are scarce on a device."""

ORDER_GAIN = 0.005
"""Another order of nodes has to save this part of the time: the memory of a step depends on the order."""

CAUTIONS = (0.0, 1.0)
"""How much more than it costs by itself an event counts; all are tried."""

SMALL = 4096
"""Graphs of up to so many nodes are worth more tries: what these take does not show beside the rest of a build."""

SMALL_CAUTIONS = (0.0, 0.5, 1.0, 4.0)
_ALL_LIMITS = 8
"""Up to so many streams every smaller number is tried, too; beyond, half as many, a quarter, ..."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The stream of each node, numbered from 0 in the order of first nodes, and what a step on them comes to."""

    streams: list[int]
    outcome: Outcome


def best_streams(problem: Problem, limit: int, others: Iterable[Sequence[int]] = ()) -> Schedule:
    """The schedule to take, in the order of the problem: on one stream, on fewer streams than `limit` or so many, or
    one of `others`, which somebody else has found (any numbers). In small graphs (`SMALL`) the best for each number of
    streams goes through a local search (`moves.improve`). The shortest, but of those that come within `STREAM_GAIN` of
    it the one with the fewest streams, then events. Nodes with a lane have streams beside these."""
    found = [_timed(problem, _one_stream(problem))]
    for each in _limits(problem, limit):
        made = [
            _timed(problem, list_schedule(problem, each, caution)) for caution in _cautions(problem)
        ]
        found += made
        if _is_small(problem):
            best = min(made, key=lambda one: one.outcome.makespan)
            found.append(Schedule(*improve(problem, best.streams, best.outcome)))
        if all(one.outcome.streams < each for one in made):
            break  # more would not be opened either
    found += (_timed(problem, renumbered(each)) for each in others)
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
    limits = _limits(problem, limit) if _is_small(problem) else [limit]
    orders = [
        by_priority(problem.sources, problem.ranks(edge))
        for edge in (0.0, sync.record + sync.latency + sync.wait)
    ]
    present, *others_in = (
        _shortest(each, limits)
        for each in (problem, *(in_new_order(problem, order) for order in orders))
    )
    given = (simulate(problem, renumbered(each)).makespan for each in others)
    present[-1] = min([present[-1], *given])
    # What fewer streams alone would make of it is not given away: more streams do not make a step longer.
    needed = present[-1]
    for place, old in enumerate(present):
        new = min(times[place] for times in others_in)
        if new < old * (1 - ORDER_GAIN):
            needed = min(needed, new)
    if needed >= present[-1]:
        return None
    return min(zip(others_in, orders, strict=True), key=lambda each: each[0][-1])[1]


def _shortest(problem: Problem, limits: Sequence[int]) -> list[float]:
    """The shortest time on at most so many streams, for each of `limits` (ascending)."""
    found: list[float] = []
    for limit in limits:
        made = (list_schedule(problem, limit, caution) for caution in _cautions(problem))
        best = min(simulate(problem, streams).makespan for streams in made)
        found.append(min(best, found[-1]) if found else best)
    return found


def _timed(problem: Problem, streams: list[int]) -> Schedule:
    return Schedule(streams, simulate(problem, streams))


def _one_stream(problem: Problem) -> list[int]:
    if not problem.lanes:
        return [0] * len(problem.times)
    numbers: dict[object, int] = {}
    return [numbers.setdefault(lane, len(numbers)) for lane in problem.lanes]


def _is_small(problem: Problem) -> bool:
    return len(problem.times) <= SMALL


def _cautions(problem: Problem) -> Sequence[float]:
    return SMALL_CAUTIONS if _is_small(problem) else CAUTIONS


def _limits(problem: Problem, limit: int) -> list[int]:
    """The numbers of streams to try, ascending, `limit` the last."""
    if limit <= _ALL_LIMITS and _is_small(problem):
        return list(range(2, limit + 1))
    limits: list[int] = []
    at = 2
    while at < limit:
        limits.append(at)
        at *= 2
    return [*limits, limit] if limit > 1 else limits
