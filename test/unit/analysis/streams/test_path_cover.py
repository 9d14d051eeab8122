from __future__ import annotations

import itertools
import random

import pytest

from ge_dialect.analysis.streams.path_cover import path_cover


def _best_matching(edges: list[tuple[int, int]]) -> int:
    """The size of a maximum matching, by trying all subsets of edges."""
    for size in range(len(edges), 0, -1):
        for chosen in itertools.combinations(edges, size):
            if len({a for a, _ in chosen}) == len({b for _, b in chosen}) == size:
                return size
    return 0


@pytest.mark.parametrize("seed", range(100))
def test_chains_are_fewest_and_follow_edges(seed: int) -> None:
    pick = random.Random(seed)
    count = pick.randint(0, 7)
    edges = [(a, b) for a in range(count) for b in range(a + 1, count) if pick.random() < 0.35][:12]
    successors: list[list[int]] = [[b for a, b in edges if a == node] for node in range(count)]
    chains = path_cover(successors)
    assert sorted(node for chain in chains for node in chain) == list(range(count))
    assert all(pair in edges for chain in chains for pair in itertools.pairwise(chain))
    assert len(chains) == count - _best_matching(edges)
    assert chains == sorted(chains)


def test_a_long_chain() -> None:
    count = 50_000
    assert len(path_cover([[n + 1] for n in range(count - 1)] + [[]])) == 1


def test_matching_needs_to_change_its_mind() -> None:
    # 0 takes 2 first; 1 can only have 2, so 0 has to go on to 3.
    assert path_cover([[2, 3], [2], [], []]) == [[0, 3], [1, 2]]
