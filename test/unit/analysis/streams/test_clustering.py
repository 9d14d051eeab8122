"""Grouping against the rule as it is written, on random graphs and on shapes that are hard to do in linear time."""

from __future__ import annotations

import random
import time

import pytest
from stream_graphs import transformer

from ge_dialect.analysis.streams.clustering import Grouping, group_by_edges, group_neighbours


def _literal(what: Grouping) -> list[list[int]]:
    """spec/streams.md section 1.4, step 2, word by word: groups by their smallest number, ways looked for anew."""
    groups = {node: [node] for node in range(len(what.keys)) if not what.left_out[node]}
    home = {node: node for node in groups}
    edges = {
        (source, node)
        for node, sources in enumerate(what.sources)
        for source in sources
        if source < node and source in groups and node in groups
    }

    def outs(group: int) -> set[int]:
        return {home[b] for a, b in edges if home[a] == group} - {group}

    def second_way(parent: int, child: int, bound: int) -> bool:
        stack, seen = [each for each in outs(parent) if each != child], set[int]()
        while stack:
            at = stack.pop()
            if at == child:
                return True
            if at not in seen and at < bound and at != parent:
                seen.add(at)
                stack += outs(at)
        return False

    for node in sorted(groups):
        parents = sorted({home[a] for a, b in edges if b == node} - {node})
        parents.sort(key=lambda parent: len(outs(parent)))
        for parent in parents:
            child = home[node]
            label = what.user_labels[parent]
            if not (label and label == what.user_labels[child]) and (
                what.keys[parent] != what.keys[child] or second_way(parent, child, node)
            ):
                continue
            keep, drop = min(parent, child), max(parent, child)
            groups[keep] += groups.pop(drop)
            home.update(dict.fromkeys(groups[keep], keep))
    return [groups[first] for first in sorted(groups)]


def _random(seed: int, labels: bool) -> Grouping:
    pick = random.Random(seed)
    count = pick.randint(1, 24)
    sources = [
        sorted({pick.randrange(node) for _ in range(pick.randint(0, 3))}) if node else []
        for node in range(count)
    ]
    return Grouping(
        sources,
        [pick.choice("aab") for _ in range(count)],
        [pick.choice(["", "", "", "u"]) if labels else "" for _ in range(count)],
        [not own and pick.random() < 0.5 for own in sources],
    )


@pytest.mark.parametrize("seed", range(400))
def test_as_the_rule_says(seed: int) -> None:
    what = _random(seed, labels=False)
    assert group_by_edges(what) == _literal(what)


@pytest.mark.parametrize("seed", range(200))
def test_with_user_labels_that_make_cycles(seed: int) -> None:
    what = _random(seed, labels=True)
    assert group_by_edges(what) == _literal(what)


def test_neighbours_in_the_list() -> None:
    what = Grouping(
        [[], [], [], [], []], "aabba", ["", "", "u", "", "u"], [False, False, False, True, False]
    )
    assert group_neighbours(what) == [[0, 1], [2, 4]]


def _seconds(sources: list[list[int]], keys: str) -> float:
    what = Grouping(sources, keys, [""] * len(keys), [False] * len(keys))
    start = time.process_time()
    group_by_edges(what)
    return time.process_time() - start


def _hub(count: int) -> tuple[list[list[int]], str]:
    """One value that half of the nodes read on another engine, each joined with it again."""
    half = count // 2
    return [[]] + [[0]] * half + [[0, 1 + n] for n in range(half)], "a" + "b" * half + "a" * half


def _mirror(count: int) -> tuple[list[list[int]], str]:
    """Two engines in turn, the second half reading the first one backwards (skip connections of a U-net)."""
    half = count // 2
    sources = [[n - 1] if n else [] for n in range(half)]
    sources += [[n - 1, 2 * half - 1 - n] for n in range(half, 2 * half)]
    return sources, "ab" * half


def _layers_with_collectives(count: int) -> tuple[list[list[int]], str]:
    """A transformer that is cut over several devices: one mask for all layers, a way past each of them."""
    made = transformer(count)
    sources = [[source for source in node.sources if source >= 0] for node in made]
    return sources, "".join("b" if node.kind == "collective" else "a" for node in made)


@pytest.mark.parametrize("shape", [_hub, _mirror, _layers_with_collectives])
def test_time_grows_with_the_graph(shape: object) -> None:
    assert callable(shape)
    small = min(_seconds(*shape(2_000)) for _ in range(3))
    large = min(_seconds(*shape(32_000)) for _ in range(2))
    # 16 times the nodes; a quadratic search would take 256 times as long.
    assert large < 128 * max(small, 2e-3)
