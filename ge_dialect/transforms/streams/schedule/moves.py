"""Local search on a schedule: single nodes go to a neighbour's stream where the simulated step gets shorter."""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.transforms.streams.schedule.problem import FREE, Problem
from ge_dialect.transforms.streams.schedule.simulation import Outcome, simulate

VISITS = 150_000
"""Nodes simulated in one search, all tries together: it takes a fraction of a second, whatever the graph."""

_LESS = 1 - 1e-9


def improve(
    problem: Problem, streams: Sequence[int], outcome: Outcome
) -> tuple[list[int], Outcome]:
    """Better streams (numbered from 0 in the order of first nodes), and what a step on them comes to.

    Node by node in the order of the problem, each free node is tried on the streams of the nodes that it waits for and
    of those that wait for it, and stays where the time of the whole step is less; again, until a round changes nothing
    or `VISITS` are used up. Nodes with a lane stay, and no free node goes to the stream of a lane.
    """
    count = len(problem.times)
    tries = VISITS // max(count, 1)
    now, best = list(streams), outcome
    free = {stream for node, stream in enumerate(now) if problem.lane(node) is FREE}
    neighbours = _neighbours(problem.sources)
    changed = True
    while changed and tries:
        changed = False
        for node in range(count):
            if problem.lane(node) is not FREE:
                continue
            for target in dict.fromkeys(now[each] for each in neighbours[node]):
                before = now[node]
                if target == before or target not in free:
                    continue
                if not tries:
                    break
                tries -= 1
                now[node] = target
                tried = simulate(problem, renumbered(now))
                if tried.makespan < best.makespan * _LESS:
                    best, changed = tried, True
                else:
                    now[node] = before
    return renumbered(now), best


def renumbered(streams: Sequence[int]) -> list[int]:
    """The same streams, numbered from 0 in the order of first nodes."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(stream, len(numbers)) for stream in streams]


def _neighbours(sources: Sequence[Sequence[int]]) -> list[list[int]]:
    found: list[list[int]] = [list(each) for each in sources]
    for node, each in enumerate(sources):
        for source in each:
            found[source].append(node)
    return found
