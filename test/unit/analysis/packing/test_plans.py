"""Plans of random problems: right, not under the bound, and as good as trying everything."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing_problems import ENGINES, SLOW, brute_force, problems

from ge_dialect.analysis.packing import (
    ClockConflicts,
    IntervalConflicts,
    Options,
    PairConflicts,
    Problem,
    check_plan,
    plan,
)
from ge_dialect.analysis.packing.outcome import Feature


@pytest.mark.parametrize("compiled", ENGINES)
@given(problem=problems(6, 4))
@SLOW
def test_search_is_as_good_as_trying_everything(compiled: bool, problem: Problem) -> None:
    found = plan(problem, Options(budget_ms=20_000, compiled=compiled))
    assert check_plan(problem, found.offsets, found.peak) == []
    assert found.peak == brute_force(problem)
    assert found.is_optimal


@pytest.mark.parametrize("compiled", ENGINES)
@given(problem=problems(24, 40), budget=st.sampled_from([0, 30]))
@SLOW
def test_plans_are_right(compiled: bool, problem: Problem, budget: int) -> None:
    found = plan(problem, Options(budget_ms=budget, compiled=compiled))
    assert check_plan(problem, found.offsets, found.peak) == []
    assert problem.peak_of(found.offsets) == found.peak >= found.bound.bytes


@given(problem=problems(9, 12), without=st.sampled_from(list(Feature)))
@SLOW
def test_no_technique_loses_plans(problem: Problem, without: Feature) -> None:
    """Each of them only saves work: without it the search comes to the same number of bytes."""
    complete = plan(problem, Options(budget_ms=20_000))
    reduced = plan(problem, Options(budget_ms=20_000, features=Feature.ALL & ~without))
    assert reduced.peak == complete.peak


@given(problem=problems(10, 12, bound=False), shift=st.integers(0, 3))
@SLOW
def test_a_capacity_is_kept_or_proved_impossible(problem: Problem, shift: int) -> None:
    best = plan(problem, Options(budget_ms=20_000)).peak
    enough = plan(problem, Options(capacity=best + shift, budget_ms=20_000))
    assert enough.peak <= best + shift
    if best > 1:
        less = plan(problem, Options(capacity=best - 1, budget_ms=20_000))
        assert less.peak >= best
        assert less.bound.bytes == best


def test_options_of_the_search_are_all_used() -> None:
    assert (
        Feature.ALL
        == Feature.TABLE | Feature.DOMINANCE | Feature.INFERENCE | Feature.SPLIT | Feature.RESTART
    )


def test_the_product_of_engines_and_conflicts_agrees() -> None:
    """One problem said in three ways has one answer."""
    start, end, sizes = [0, 1, 2, 4, 5], [3, 4, 6, 7, 8], [3, 5, 2, 4, 3]
    by_time = IntervalConflicts(start, end)
    by_clock = ClockConflicts(np.array(end)[:, None], np.array(start)[:, None])
    by_pair = PairConflicts([by_time.near(i).tolist() for i in range(5)])
    peaks = {
        plan(Problem(sizes, conflicts), Options(compiled=compiled)).peak
        for conflicts, compiled in product((by_time, by_clock, by_pair), (False, True))
    }
    assert len(peaks) == 1
