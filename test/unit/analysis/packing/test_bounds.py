"""Lower bounds against enumeration of all antichains and cliques."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packing_problems import ENGINES, SLOW, clocks, pairs, problems

from ge_dialect.analysis.packing import (
    ClockConflicts,
    Conflicts,
    IntervalConflicts,
    PairConflicts,
    Problem,
    Writers,
    lower_bound,
)
from ge_dialect.analysis.packing.antichain import heaviest_antichain
from ge_dialect.analysis.packing.kernel.binding import kernel


def heaviest_clique(conflicts: Conflicts, sizes: list[int]) -> int:
    near = [set(conflicts.near(i).tolist()) for i in range(len(sizes))]
    return max(
        sum(sizes[i] for i in chosen)
        for length in range(len(sizes) + 1)
        for chosen in combinations(range(len(sizes)), length)
        if all(b in near[a] for a, b in combinations(chosen, 2))
    )


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A transitive relation on up to 9 elements as sets of bits, and weights."""
    count = draw(st.integers(0, 9))
    after = [0] * count
    for u in reversed(range(count)):
        for v in range(u + 1, count):
            if draw(st.booleans()):
                after[u] |= 1 << v | after[v]
    return after, draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))


@given(case=orders())
@SLOW
def test_antichain_is_the_heaviest(case: tuple[list[int], list[int]]) -> None:
    after, weight = case
    found = heaviest_antichain(after, weight)
    assert sum(weight[i] for i in found.members) == found.weight
    assert not any(after[a] >> b & 1 for a, b in combinations(found.members, 2))
    every = PairConflicts(
        [
            [j for j in range(len(weight)) if j != i and not (after[i] >> j | after[j] >> i) & 1]
            for i in range(len(weight))
        ]
    )
    assert found.weight == heaviest_clique(every, weight)


@pytest.mark.parametrize("compiled", ENGINES)
@given(data=st.data(), count=st.integers(1, 9))
@SLOW
def test_several_streams_have_the_heaviest_antichain(
    compiled: bool, data: st.DataObject, count: int
) -> None:
    conflicts = data.draw(clocks(count))
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    bound = lower_bound(Problem(sizes, conflicts), compiled=compiled)
    assert bound.kind == "antichain"
    assert bound.bytes == heaviest_clique(conflicts, sizes)


@pytest.mark.skipif(kernel() is None, reason="no compiled kernel")
@given(data=st.data(), count=st.integers(1, 40), streams=st.integers(1, 5))
@SLOW
def test_the_compiled_antichain_is_one_and_as_heavy_as_that_of_pairs(
    data: st.DataObject, count: int, streams: int
) -> None:
    conflicts = data.draw(clocks(count, streams, written=True))
    sizes = np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    compiled = kernel()
    assert compiled is not None
    assert conflicts.chains is not None
    found = compiled.antichain(conflicts.chains, sizes, 1 << 40)
    assert found is not None
    members = set(found.tolist())
    assert all(members - {i} <= set(conflicts.near(i).tolist()) for i in members)
    bare = ClockConflicts(conflicts.release, conflicts.acquire)
    assert sizes[found].sum() == lower_bound(Problem(sizes, bare)).bytes
    assert compiled.antichain(conflicts.chains, sizes, 0) is None


def test_a_bound_that_takes_too_long_is_a_weaker_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams of which the first is over in the order of nodes before the second begins."""
    monkeypatch.setattr("ge_dialect.analysis.packing.bounds.MOST_STEPS", 0)
    monkeypatch.setattr("ge_dialect.analysis.packing.bounds.MOST_IN_ORDER", 0)
    release, acquire = [[1, -1], [2, -1], [-1, 4], [-1, 5]], [[-1, -1], [1, -1], [-1, -1], [-1, 4]]
    writers = Writers(np.array([0, 0, 1, 1]), np.array([0, 2, 3, 5]))
    conflicts = ClockConflicts(release, acquire, writers)
    bound = lower_bound(Problem([7, 1, 7, 1], conflicts))
    assert (bound.bytes, bound.kind) == (8, "max live in one order")
    monkeypatch.undo()
    bound = lower_bound(Problem([7, 1, 7, 1], conflicts))
    assert (bound.bytes, bound.kind) == (14, "antichain")


@given(data=st.data(), count=st.integers(1, 9))
@SLOW
def test_listed_conflicts_have_a_clique(data: st.DataObject, count: int) -> None:
    conflicts = data.draw(pairs(count))
    sizes = data.draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    bound = lower_bound(Problem(sizes, conflicts))
    assert max(sizes) <= bound.bytes <= heaviest_clique(conflicts, sizes)


@given(problem=problems(8, 9))
@SLOW
def test_life_times_have_the_heaviest_clique(problem: Problem) -> None:
    if isinstance(problem.conflicts, IntervalConflicts) and not problem.fixed:
        sizes = problem.sizes.tolist()
        least = max(
            (int(r + s) for r, s in zip(problem.relative, sizes, strict=True) if s), default=0
        )
        assert lower_bound(problem).bytes == max(heaviest_clique(problem.conflicts, sizes), least)


@pytest.mark.parametrize(("fixed", "bytes_", "kind"), [({}, 7, "max live"), ({0: 10}, 13, "given")])
def test_kind_of_bound(fixed: dict[int, int], bytes_: int, kind: str) -> None:
    bound = lower_bound(Problem([3, 4, 2], IntervalConflicts([0, 1, 5], [2, 3, 6]), fixed=fixed))
    assert (bound.bytes, bound.kind) == (bytes_, kind)


@given(data=st.data(), count=st.integers(1, 12))
@SLOW
def test_near_and_pairs_agree(data: st.DataObject, count: int) -> None:
    """All kinds of conflicts are symmetric and say the same one by one and all at once."""
    problem = data.draw(problems(count))
    conflicts = problem.conflicts
    rows = [conflicts.near(i).tolist() for i in range(conflicts.count)]
    assert conflicts.pairs().as_python() == rows
    assert conflicts.pair_count == sum(map(len, rows))
    assert all(i in rows[j] and j != i for i, row in enumerate(rows) for j in row)


def test_one_stream_of_clocks_is_life_times() -> None:
    """Written at step 1, 2, 4; last used at 3, 4, 5: the third follows the first but meets the second."""
    conflicts = ClockConflicts([[3], [4], [5]], [[0], [1], [3]])
    assert [conflicts.near(i).tolist() for i in range(3)] == [[1], [0, 2], [1]]
