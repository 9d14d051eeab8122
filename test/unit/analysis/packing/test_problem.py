"""Problems that contradict themselves, the checker, and the searches for large problems."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing_problems import SLOW, clocks, problems

from ge_dialect.analysis.packing import (
    ClockConflicts,
    Group,
    IntervalConflicts,
    Options,
    PackingError,
    PairConflicts,
    Problem,
    Writers,
    check_plan,
    plan,
    planner,
)
from ge_dialect.analysis.packing.hill_climb import climb
from ge_dialect.analysis.packing.model import model_of
from ge_dialect.analysis.packing.sweep import sweep, sweep_orders

ALL_AT_ONCE = IntervalConflicts([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize(
    ("sizes", "settings", "message"),
    [
        ([1, 2], {}, "2 sizes, but conflicts of 3"),
        ([1, -2, 3], {}, "buffer 1 has the size -2"),
        ([1, 2, 3], {"alignments": [1, 0, 1]}, "buffer 1 has the alignment 0"),
        ([1, 2, 3], {"fixed": {3: 0}}, "buffer 3 cannot be fixed to 0"),
        ([1, 2, 3], {"fixed": {0: -4}}, "buffer 0 cannot be fixed to -4"),
        ([1, 2, 3], {"fixed": {0: 3}, "alignments": 2}, "fixed to 3, which is not aligned"),
        ([1, 2, 3], {"fixed": {0: 1, 1: 0}}, "in the fixed buffers, 0 and 1 overlap"),
        ([1, 2, 3], {"groups": [Group((0, 1), (0,))]}, "not as many offsets as members"),
        ([1, 2, 3], {"groups": [Group((0, 1), (1, 2))]}, "least offset of group 0 is not 0"),
        ([1, 2, 3], {"groups": [Group((0, 1), (0, 0))]}, "in group 0, 0 and 1 overlap"),
        ([1, 2, 3], {"groups": [Group((0, 0), (0, 1))]}, "buffer 0 is twice in groups"),
        ([0, 2, 3], {"groups": [Group((0, 1), (0, 0))]}, "buffer 0 of group 0 has no size"),
        ([2, 2, 3], {"groups": [Group((0, 1), (0, 3))], "alignments": 2}, "not aligned for 1"),
        (
            [1, 2, 3],
            {"groups": [Group((0, 1), (0, 1))], "fixed": {1: 7}},
            "buffer 1 is fixed and in a group",
        ),
    ],
)
def test_contradictions(sizes: list[int], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PackingError, match=message):
        Problem(sizes, ALL_AT_ONCE, **settings)


def test_contradictions_of_conflicts() -> None:
    with pytest.raises(PackingError, match="buffer 1 ends before it starts"):
        IntervalConflicts([0, 5], [1, 4])
    with pytest.raises(PackingError, match="buffer 0 is done before it is written"):
        ClockConflicts([[1]], [[1]])
    with pytest.raises(PackingError, match="there is no buffer 2"):
        PairConflicts([[2], []])


@pytest.mark.parametrize(
    ("offsets", "fault"),
    [
        ([0, 4], "offsets of the shape"),
        ([-4, 0, 4, 8], "buffer 0 has the offset -4"),
        ([0, 6, 8, 12], "buffer 1 at 6 is not aligned to 4"),
        ([0, 4, 12, 8], "buffer 3 is fixed to 12, not 8"),
        ([0, 8, 4, 12], "group 0 is torn apart: bases [0, 4]"),
        ([4, 8, 4, 12], "buffers 0 and 2 overlap: [4, 7) and [4, 8)"),
        ([12, 16, 0, 12], "buffer 1 ends at 20, behind 16"),
    ],
)
def test_checker_finds(offsets: list[int], fault: str) -> None:
    problem = Problem(
        [3, 4, 4, 2],
        IntervalConflicts([0, 0, 0, 1], [1, 1, 1, 2]),
        alignments=4,
        fixed={3: 12},
        groups=[Group((0, 1), (0, 4))],
    )
    assert check_plan(problem, [0, 4, 8, 12], 16) == []
    assert any(fault in found for found in check_plan(problem, offsets, 16))


def test_checker_stops_after_some_faults() -> None:
    many = Problem([1] * 100, IntervalConflicts([0] * 100, [1] * 100))
    assert len(check_plan(many, [0] * 100)) == 20


@given(problem=problems(20, 30))
@SLOW
def test_orders_without_pairs(problem: Problem) -> None:
    """What is done when conflicts are too many to list is right as well."""
    for _, order in sweep_orders(problem):
        offsets, peak = sweep(problem, order)
        assert check_plan(problem, offsets, peak) == []


def test_many_pairs_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem([3, 2, 1], ALL_AT_ONCE)
    monkeypatch.setattr(planner, "MOST_PAIRS", 5)
    monkeypatch.setattr(planner, "model_of", None)
    found = plan(problem)
    assert check_plan(problem, found.offsets, 6) == []


def test_climbing_improves_an_order() -> None:
    """Small ones first leaves holes that large ones do not fit into."""
    problem = Problem([1, 4, 1, 4], IntervalConflicts([0, 0, 1, 2], [2, 1, 4, 3]))
    model = model_of(problem, 1)
    order = np.array([0, 2, 3, 1])
    before = climb(model, order, None, target=0, seconds=0, steps=0)[1]
    offsets, peak = climb(model, order, None, target=5, seconds=60, steps=200)
    assert peak == 5 < before
    assert check_plan(problem, offsets, 5) == []


def test_large_problem_without_search() -> None:
    """30 000 buffers, five alive at a time: quick orders are enough, and nothing is quadratic."""
    rng = np.random.default_rng(0)
    start = np.arange(30_000)
    problem = Problem(
        rng.integers(1, 100, 30_000) * 512, IntervalConflicts(start, start + 5), alignments=512
    )
    found = plan(problem, Options(budget_ms=0))
    assert check_plan(problem, found.offsets, found.peak) == []
    assert found.peak <= 1.3 * found.bound.bytes


def test_nothing_to_place() -> None:
    empty = plan(Problem([], IntervalConflicts([], [])))
    assert (empty.peak, empty.bound.bytes, len(empty.offsets)) == (0, 0, 0)
    sizeless = plan(Problem([0, 0], PairConflicts([[1], []]), fixed={1: 64}))
    assert sizeless.offsets.tolist() == [0, 64]
    assert sizeless.peak == 0


def test_buffer_that_is_never_in_use() -> None:
    found = plan(Problem([8, 4], IntervalConflicts([0, 1], [3, 1])))
    assert (found.offsets.tolist(), found.peak) == ([0, 0], 8)


@given(data=st.data(), count=st.integers(1, 40), streams=st.integers(1, 5))
@SLOW
def test_knowing_the_writers_changes_no_conflict(
    data: st.DataObject, count: int, streams: int
) -> None:
    known = data.draw(clocks(count, streams, written=True))
    bare = ClockConflicts(known.release, known.acquire)
    assert known.pairs().as_python() == bare.pairs().as_python()
    assert known.pair_count == bare.pair_count
    assert all(known.near(i).tolist() == bare.near(i).tolist() for i in range(count))
    # The lives on one line meet only where buffers conflict.
    for line in (known.inner, bare.inner):
        for i in range(count):
            assert set(line.near(i).tolist()) <= set(bare.near(i).tolist())


def test_writers_out_of_order_are_refused() -> None:
    """The second buffer of the stream knows less than the first."""
    writers = Writers(np.array([0, 0]), np.array([0, 1]))
    with pytest.raises(PackingError, match="not done before a later one"):
        ClockConflicts([[5], [7]], [[3], [-1]], writers)


def test_memory_for_many_buffers_of_several_streams_is_linear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice as many buffers take at most a little more than twice the memory, where pairs would take four times."""
    monkeypatch.setattr("ge_dialect.analysis.packing.planner.MOST_PAIRS", 0)
    monkeypatch.setattr("ge_dialect.analysis.packing.bounds.MOST_IN_ORDER", 0)

    def most_bytes(count: int) -> int:
        place = np.arange(count)
        acquire = np.stack([place - 1 - (place + s) % 4 for s in range(4)], axis=1)
        release = np.where(place[:, None] % 4 == np.arange(4), place[:, None] + 9, -1)
        conflicts = ClockConflicts(release, acquire.clip(-1), Writers(place % 4, place))
        problem = Problem(place % 7 + 1, conflicts)
        tracemalloc.start()
        found = plan(problem, Options(budget_ms=0))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.peak >= found.bound.bytes
        return size

    most_bytes(100)
    assert most_bytes(4000) < 2.5 * most_bytes(2000)
