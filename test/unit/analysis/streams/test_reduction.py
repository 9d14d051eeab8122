"""Transitive reduction, and events at their least, against the definition on small random graphs."""

from __future__ import annotations

import random

import pytest

from ge_dialect.analysis.streams.least_waits import least_waits
from ge_dialect.analysis.streams.reduction import transitive_reduction


def random_sources(rng: random.Random, count: int) -> list[list[int]]:
    """Each node reads up to three nodes before it."""
    return [
        sorted({rng.randrange(node) for _ in range(rng.randint(0, 3))}) if node else []
        for node in range(count)
    ]


def ancestors(sources: list[list[int]]) -> list[set[int]]:
    found: list[set[int]] = []
    for each in sources:
        found.append(set(each).union(*(found[source] for source in each)))
    return found


@pytest.mark.parametrize("block", [1, 3, 8, 8192])
def test_an_edge_stays_when_no_other_way_leads_there(block: int) -> None:
    for seed in range(60):
        sources = random_sources(random.Random(seed), 30)
        before = ancestors(sources)
        expected = [
            [s for s in each if not any(s in before[other] for other in each)] for each in sources
        ]
        assert transitive_reduction(sources, block) == expected


def test_repeated_edges_are_one() -> None:
    assert transitive_reduction([[], [0, 0], [0, 1, 1]]) == [[], [0], [1]]


def test_the_reduction_orders_the_same_pairs() -> None:
    for seed in range(60):
        sources = random_sources(random.Random(seed), 40)
        assert ancestors(transitive_reduction(sources, 7)) == ancestors(sources)


def test_least_waits_are_the_reduction_of_queues_and_sources() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        sources = random_sources(rng, 30)
        used: dict[int, int] = {}
        streams = [used.setdefault(rng.randrange(5), len(used)) for _ in sources]
        last: dict[int, int] = {}
        queued: list[list[int]] = []
        for node, each in enumerate(sources):
            queued.append([*each, *([last[streams[node]]] if streams[node] in last else [])])
            last[streams[node]] = node
        expected = [
            {source for source in each if streams[source] != streams[node]}
            for node, each in enumerate(transitive_reduction(queued))
        ]
        assert [set(each) for each in least_waits(sources, streams)] == expected
