"""Places at which every order has the same node: what lies between two of them is ordered by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ge_dialect.analysis.ordering.problem import OrderProblem


def segments(problem: OrderProblem, order: Sequence[int]) -> list[tuple[int, int]]:
    """The parts [low, high) of an order that hold the same nodes in every order. Linear.

    They are cut before and behind each node that is ordered with all others: there it is the only node that is ready,
    read from either end. A node without memory that nothing follows, or that follows nothing, is no obstacle, as it
    can stand anywhere; such nodes are taken to stay in their part.
    """
    idle = _idle(problem)
    forward = _alone(problem.before, problem.after, order, idle)
    backward = _alone(problem.after, problem.before, order[::-1], idle)
    cuts = {0, problem.count}
    for place, node in enumerate(order):
        if forward[node] and backward[node]:
            cuts.update((place, place + 1))
    places = sorted(cuts)
    return list(pairwise(places))


def _idle(problem: OrderProblem) -> bytearray:
    """Marks nodes without memory that only such nodes precede, or follow."""
    idle = bytearray(problem.count)
    for nodes, sides in (
        (range(problem.count), problem.before),
        (range(problem.count - 1, -1, -1), problem.after),
    ):
        mark = bytearray(problem.count)
        for node in nodes:
            if not problem.uses[node] and all(mark[each] for each in sides[node]):
                mark[node] = idle[node] = 1
    return idle


def _alone(
    before: Sequence[Sequence[int]],
    after: Sequence[Sequence[int]],
    order: Sequence[int],
    idle: bytearray,
) -> bytearray:
    """Marks the nodes beside which no other is ready when they come in `order`, idle ones left aside."""
    waiting = [sum(not idle[each] for each in found) for found in before]
    ready = sum(not count and not idle[node] for node, count in enumerate(waiting))
    alone = bytearray(len(order))
    for node in order:
        if idle[node]:
            continue
        alone[node] = ready == 1
        ready -= 1
        for reader in after[node]:
            if not idle[reader]:
                waiting[reader] -= 1
                ready += not waiting[reader]
    return alone
