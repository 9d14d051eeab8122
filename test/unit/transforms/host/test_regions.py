"""Regions of host nodes, against the words of spec/host_execution.md section 9 taken literally."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ge_dialect.transforms.host.cycles import on_cycles
from ge_dialect.transforms.host.regions import Edge, fused_regions

Graph = tuple[list[bool], list[Edge]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(2, 9))
    inside = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    pairs = draw(st.sets(st.sampled_from(list(combinations(range(count), 2)))))
    return inside, [Edge(a, draw(st.integers(0, 1)), b) for a, b in sorted(pairs)]


def literally(
    inside: list[bool], edges: list[Edge]
) -> list[list[tuple[set[int], list[tuple[int, int]]]]]:
    """For each component of two or more candidates its regions with their outputs; [] when it stays."""
    candidates = {n for n, yes in enumerate(inside) if yes}
    inner = [(a, b) for a, _, b in edges if a in candidates and b in candidates]
    parts: list[set[int]] = []
    for node in sorted(candidates):
        part, grown = {node}, set[int]()
        while part != grown:
            grown = set(part)
            part |= {x for pair in inner if set(pair) & part for x in pair}
        if part not in parts:
            parts.append(part)
    below = {n: {n} for n in candidates}
    for node in sorted(candidates, reverse=True):
        for a, b in inner:
            if a == node:
                below[node] |= below[b]
    return [regions(part, inner, below, candidates, edges) for part in parts if len(part) > 1]


def regions(
    part: set[int],
    inner: list[tuple[int, int]],
    below: dict[int, set[int]],
    candidates: set[int],
    edges: list[Edge],
) -> list[tuple[set[int], list[tuple[int, int]]]]:
    children = {n: {b for a, b in inner if a == n} for n in part}
    sinks = [n for n in sorted(part) if not children[n]]
    splittable = any(
        not below[x] & below[y] for n in part for x, y in combinations(sorted(children[n]), 2)
    )
    if splittable:
        found = [{n for n in part if sink in below[n]} for sink in sinks]
        found = [region for region in found if len(region) > 1]
        if len(found) >= len(part):
            return []
    elif len(sinks) == 1:
        found = [part]
    else:
        return []
    answer: list[tuple[set[int], list[tuple[int, int]]]] = []
    claimed: set[int] = set()
    for region in found:
        outputs = sorted(
            {(a, k) for a, k, b in edges if a in region - claimed and b not in candidates}
        )
        claimed |= region
        if not outputs:
            return []
        answer.append((region, outputs))
    return answer


@given(graphs())
def test_as_the_spec_says(graph: Graph) -> None:
    inside, edges = graph
    found = fused_regions(inside, edges)
    assert [
        [(set(region.nodes), list(region.outputs)) for region in part.regions] for part in found
    ] == literally(inside, edges)
    assert all((part.refusal is None) == bool(part.regions) for part in found)


def comb(length: int) -> Graph:
    """A chain of candidates, each of which has an end of its own that a node outside reads."""
    inside = [True] * (2 * length) + [False]
    chain = [Edge(k, 0, k + 1) for k in range(length - 1)]
    ends = [Edge(k, 0, length + k) for k in range(length)]
    return inside, [*chain, *ends, *(Edge(length + k, 0, 2 * length) for k in range(length))]


def test_clones_are_limited() -> None:
    (part,) = fused_regions(*comb(10), max_growth=4)
    assert part.refusal is None
    assert sum(len(region.nodes) for region in part.regions) == 65
    (part,) = fused_regions(*comb(20), max_growth=4)
    assert (part.refusal, part.regions) == ("growth", [])


def test_two_regions_that_feed_each_other_stay_apart() -> None:
    # 0 -> 2 and 1 -> 3 are regions; by way of 4 and 5 outside, 0 feeds 3 and 1 feeds 2.
    #   0 -> 4 -> 3, 1 -> 5 -> 2
    inside = [True, True, False, False, True, True, False]
    edges = [
        Edge(0, 0, 2), Edge(1, 0, 3), Edge(0, 0, 4), Edge(3, 0, 4), Edge(1, 0, 5), Edge(2, 0, 5),
        Edge(4, 0, 6), Edge(5, 0, 6),
    ]  # fmt: skip
    components = fused_regions(inside, edges)
    assert [region.nodes for part in components for region in part.regions] == [(0, 4), (1, 5)]
    assert on_cycles(len(inside), edges, components) == components


def test_only_what_is_on_a_cycle_stays() -> None:
    # 0 -> 2 with 0 -> 1 -> 2 is one; 3 -> 4 behind it is none.
    inside = [True, False, True, False, True, True, False]
    edges = [
        Edge(0, 0, 1), Edge(1, 0, 2), Edge(0, 0, 2), Edge(2, 0, 3), Edge(3, 0, 4), Edge(4, 0, 5), Edge(5, 0, 6),
    ]  # fmt: skip
    components = fused_regions(inside, edges)
    assert on_cycles(len(inside), edges, components) == components[:1]
