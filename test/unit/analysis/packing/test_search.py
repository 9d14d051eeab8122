"""The tree search alone, without the orders that come before it: in Python, compiled, and with techniques left out."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing_problems import SLOW, brute_force, problems

from ge_dialect.analysis.packing import IntervalConflicts, Problem, check_plan, lower_bound
from ge_dialect.analysis.packing.kernel.binding import kernel
from ge_dialect.analysis.packing.model import Model, model_of
from ge_dialect.analysis.packing.outcome import Feature, Limits, Outcome, Verdict
from ge_dialect.analysis.packing.peel import peel, put_back
from ge_dialect.analysis.packing.problem import Group
from ge_dialect.analysis.packing.search_state import SearchState
from ge_dialect.analysis.packing.search_tree import search
from ge_dialect.analysis.packing.subproblem import restricted

HARD = Problem(
    [4, 3, 5, 2, 6, 3, 4, 2],
    IntervalConflicts([0, 0, 2, 3, 4, 5, 7, 8], [3, 5, 4, 8, 6, 9, 9, 9]),
)


def sized(problem: Problem) -> Problem:
    return restricted(problem, (problem.sizes > 0).nonzero()[0])


def both(
    model: Model, capacity: int, features: Feature, nodes: int = 1 << 40, table_bits: int = 20
) -> Outcome:
    """The outcome in Python; the kernel, where there is one, must walk the same tree."""
    limits = Limits(60.0, nodes, first_nodes=40, features=features, table_bits=table_bits)
    outcome = search(model, capacity, limits)
    compiled = kernel()
    if compiled is not None:
        other = compiled.search(model, capacity, limits)
        assert (other.verdict, other.nodes, other.restarts) == (
            outcome.verdict,
            outcome.nodes,
            outcome.restarts,
        )
        if outcome.offsets is not None:
            assert other.offsets is not None
            assert other.offsets.tolist() == outcome.offsets.tolist()
    return outcome


@given(problem=problems(6, 4), features=st.sampled_from([Feature.ALL, *Feature, Feature(0)]))
@SLOW
def test_decides_the_best_capacity_and_one_less(problem: Problem, features: Feature) -> None:
    problem = sized(problem)
    best = brute_force(problem)
    model = model_of(problem, 1)
    found = both(model, best, features)
    assert found.verdict is Verdict.FITS
    assert found.offsets is not None
    assert check_plan(problem, found.offsets, best) == []
    if best:
        assert both(model, best - 1, features).verdict is Verdict.NONE


@given(problem=problems(16, 30), slack=st.integers(0, 4), table_bits=st.sampled_from([1, 3, 20]))
@SLOW
def test_python_and_kernel_walk_the_same_tree(
    problem: Problem, slack: int, table_bits: int
) -> None:
    problem = sized(problem)
    model = model_of(problem, 1)
    totals = [int(model.size[section].sum()) for section in map(list, model.sections.as_python())]
    both(model, max(totals, default=0) + slack, Feature.ALL, 400, table_bits)


@pytest.mark.parametrize("table_bits", [0, 2, 4, 20])
def test_both_forget_the_same_states(table_bits: int) -> None:
    """In a small table failed states take each other's places, which costs nodes."""
    problem = _made(24, 717)
    model, bound = model_of(problem, 1), lower_bound(problem).bytes
    found = both(model, bound, Feature.ALL, table_bits=table_bits)
    assert found.verdict is Verdict.FITS
    assert (found.nodes > both(model, bound, Feature.ALL).nodes) is (table_bits < 4)


@given(problem=problems(8, 5), slack=st.integers(0, 6))
@SLOW
def test_peeled_buffers_always_find_a_place(problem: Problem, slack: int) -> None:
    problem = sized(problem)
    model = model_of(problem, 1)
    capacity = brute_force(problem) + slack
    peeled = peel(model, capacity)
    core = search(model.restricted(peeled.core), capacity, Limits(60.0))
    assert core.offsets is not None
    offsets = put_back(model, peeled, core.offsets, kernel())
    assert check_plan(problem, offsets, capacity) == []


def test_ends_at_the_limit_of_nodes() -> None:
    outcome = both(model_of(HARD, 1), 12, Feature.ALL, nodes=2)
    assert outcome.verdict is Verdict.LIMIT
    assert outcome.offsets is None


def test_group_is_kept_off_a_fixed_buffer() -> None:
    """The upper member of a group hits a fixed buffer although the lower one would fit on the ground."""
    problem = Problem(
        [2, 2, 3],
        IntervalConflicts([0, 0, 0], [1, 1, 1]),
        fixed={2: 3},
        groups=[Group((0, 1), (0, 2))],
    )
    model = model_of(problem, 1)
    assert both(model, 9, Feature.ALL).verdict is Verdict.NONE
    found = both(model, 10, Feature.ALL)
    assert found.offsets is not None
    assert found.offsets.tolist() == [6, 8, 3]


@pytest.mark.parametrize(
    ("feature", "count", "seed"),
    [
        (Feature.INFERENCE, 14, 707),
        (Feature.SPLIT, 14, 3463),
        (Feature.RESTART, 18, 1218),
        (Feature.DOMINANCE, 18, 1402),
        (Feature.TABLE, 24, 717),
    ],
)
def test_each_technique_saves_nodes(feature: Feature, count: int, seed: int) -> None:
    """Problems on which the search visits more nodes without it."""
    problem = _made(count, seed)
    model, bound = model_of(problem, 1), lower_bound(problem).bytes
    complete = both(model, bound, Feature.ALL)
    without = both(model, bound, Feature.ALL & ~feature)
    assert complete.verdict is without.verdict is Verdict.FITS
    assert complete.nodes < without.nodes


def _made(count: int, seed: int) -> Problem:
    random = Random(seed)
    starts, ends, sizes = [], [], []
    for _ in range(count):
        starts.append(random.randrange(count // 2))
        ends.append(starts[-1] + random.randrange(1, count // 3))
        sizes.append(random.randrange(1, 30))
    return Problem(sizes, IntervalConflicts(starts, ends))


def test_groups_of_thousands_are_raised_without_recursion() -> None:
    count = 1500
    group = Group.end_to_end(range(1, count + 1), [1] * count)
    problem = Problem(
        [2] + [1] * count, IntervalConflicts([0] * (count + 1), [1] * (count + 1)), groups=[group]
    )
    state = SearchState(model_of(problem, 1), count + 2, inference=True)
    assert state.raise_to(1, 2)
    assert state.low[1:] == list(range(2, count + 2))
    assert not state.raise_to(count, count + 2)
