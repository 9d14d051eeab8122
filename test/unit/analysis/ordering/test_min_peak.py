"""Orders with a low peak, on random problems: allowed, deterministic, never worse, and the least where that is known."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_dialect.analysis.ordering import (
    OrderProblem,
    Overwrite,
    Unit,
    breadth_first,
    depth_first,
    exact_peak,
    min_peak,
    reverse_depth_first,
)
from ge_dialect.analysis.ordering.list_schedule import list_schedule
from ge_dialect.analysis.ordering.segments import segments


def random_problem(seed: int, count: int) -> OrderProblem:
    """A random graph: an output a node, some scratch, some pieces that live from the start or to the end, some writing
    in place, some runs of outputs that are one piece."""
    rng = random.Random(seed)
    after: list[list[int]] = [[] for _ in range(count)]
    for node in range(1, count):
        for source in {rng.randrange(max(0, node - 8), node) for _ in range(rng.randrange(3))}:
            after[source].append(node)
    units: list[Unit] = []
    whole: dict[int, int] = {}
    for node in range(count):
        if rng.random() < 0.1:
            units.append(Unit(512 * rng.randrange(4), [node]))
        users = sorted({node, *after[node]})
        if rng.random() < 0.1 and node:
            users = sorted({node - 1, *users})
        else:
            whole[node] = len(units)
        early, late = rng.random() < 0.05, rng.random() < 0.05
        units.append(Unit(512 * rng.choice([1, 1, 2, 4, 8, 16]), users, early, late))
    overwrites: dict[int, Overwrite] = {}
    for source, readers in enumerate(after):
        for node in readers:
            if source in whole and node in whole and rng.random() < 0.4:
                own, other = units[whole[node]], units[whole[source]]
                if own.size == other.size and not own.early:
                    overwrites[node] = Overwrite(own.size, [whole[source]])
    return OrderProblem(count, after, units, overwrites)


def slow_profile(problem: OrderProblem, order: list[int]) -> list[int]:
    """Bytes in use at each place, from the definition."""
    place = {node: at for at, node in enumerate(order)}
    found: list[int] = []
    ends = [
        problem.count if unit.late else max(place[user] for user in unit.users)
        for unit in problem.units
    ]
    for at, node in enumerate(order):
        live = 0
        for unit, end in zip(problem.units, ends, strict=True):
            start = 0 if unit.early else min(place[user] for user in unit.users)
            live += unit.size if start <= at <= end else 0
        written = problem.overwrites.get(node)
        if written is not None and any(ends[index] == at for index in written.over):
            live -= written.size
        found.append(live)
    return found


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_profile_is_what_the_definition_says(seed: int, count: int) -> None:
    problem = random_problem(seed, count)
    for order in (
        list(range(count)),
        depth_first(problem.before, problem.after),
        reverse_depth_first(problem.before, problem.after),
    ):
        assert problem.profile(order).tolist() == slow_profile(problem, order)


@given(st.integers(0, 10**6), st.integers(1, 60))
def test_every_order_keeps_the_edges(seed: int, count: int) -> None:
    problem = random_problem(seed, count)
    before, after = problem.before, problem.after
    backwards = problem.reversed()
    rank = list(range(count))
    for order in (
        breadth_first(before, after),
        depth_first(before, after),
        reverse_depth_first(before, after),
        list_schedule(problem, rank),
        list_schedule(problem, rank, by_size=True),
        [count - 1 - node for node in reversed(list_schedule(backwards, rank))],
    ):
        assert problem.keeps(order)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 13))
def test_small_problems_are_solved(seed: int, count: int) -> None:
    problem = random_problem(seed, count)
    found = min_peak(problem)
    assert problem.keeps(found.order)
    assert found.peak == max(slow_profile(problem, found.order))
    assert found.bound <= exact_peak(problem) == found.peak


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(14, 300))
def test_never_above_the_given_order_nor_below_the_bound(seed: int, count: int) -> None:
    problem = random_problem(seed, count)
    found = min_peak(problem, steps=5_000)
    assert problem.keeps(found.order)
    assert found.bound <= found.peak == problem.peak(found.order) <= problem.peak(range(count))
    assert min_peak(problem, steps=5_000) == found


def branches(count: int) -> OrderProblem:
    """A fork, branches of a large and then a small tensor, a join. In step with each other all large ones live."""
    after: list[list[int]] = [[] for _ in range(2 * count + 2)]
    join = 2 * count + 1
    units = [Unit(512, [0, *range(1, count + 1)])]
    for branch in range(1, count + 1):
        after[0].append(branch)
        after[branch].append(branch + count)
        after[branch + count].append(join)
        units += [Unit(10 * 512, [branch, branch + count]), Unit(512, [branch + count, join])]
    return OrderProblem(join + 1, after, units)


def test_branches_run_one_after_the_other() -> None:
    problem = branches(8)
    assert problem.peak(range(problem.count)) == 81 * 512
    found = min_peak(problem)
    assert found.peak == found.bound == (10 + 8) * 512


def test_what_is_large_is_made_late() -> None:
    # A large tensor is ready first, and another branch needs scratch of the same size before both meet.
    after = [[2], [2], []]
    units = [Unit(8 * 512, [0, 2]), Unit(8 * 512, [1]), Unit(512, [1, 2])]
    problem = OrderProblem(3, after, units)
    assert problem.peak([0, 1, 2]) == 17 * 512
    assert min_peak(problem).order == [1, 0, 2]


def test_parts_between_common_nodes() -> None:
    # 0 -> {1, 2} -> 3 -> 4, and 5, which reads nothing and is read by nobody and has no memory.
    after = [[1, 2], [3], [3], [4], [], []]
    problem = OrderProblem(6, after, [Unit(512, [node]) for node in range(5)])
    assert segments(problem, [0, 1, 2, 3, 4, 5]) == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6)]


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_order(count: int) -> None:
    found = min_peak(OrderProblem(count, [[] for _ in range(count)], []))
    assert (found.order, found.peak, found.bound) == (list(range(count)), 0, 0)
