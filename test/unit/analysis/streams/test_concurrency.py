"""Streams and events that lose no concurrency: the least there are, and the known figures of real models."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import onnx
import pytest
from stream_graphs import transformer

from ge_dialect.analysis.streams.concurrency import concurrent_chains

# Nodes, edges, edges of the reduction, streams, events of ONNX graphs as they are, with nothing folded or fused, less
# what depends on no input; found by another implementation of the paper's formula.
FIGURES = {
    "inception_v3_slim": (215, 249, 249, 36, 70),
    "hrnet_slim": (414, 504, 465, 34, 85),
    "moe_dense_slim": (368, 454, 419, 33, 84),
    "bert_base_slim": (421, 491, 444, 27, 50),
    "squeezenet_slim": (65, 72, 72, 9, 16),
    "resnet50_slim": (122, 137, 125, 5, 8),
    "gpt2_slim_dyn": (1662, 2048, 1893, 209, 440),
    "llama2_shape": (3337, 4280, 3918, 523, 1104),
    "densenet121_slim": (372, 906, 371, 1, 0),
    "unet_slim": (49, 52, 48, 1, 0),
}


def onnx_sources(path: Path) -> list[list[int]]:
    """Who reads whom among the nodes that depend on an input of the graph."""
    graph = onnx.load(path, load_external_data=False).graph
    inputs = {value.name for value in graph.input} - {value.name for value in graph.initializer}
    producer: dict[str, int] = {}
    sources: list[list[int]] = []
    for node in graph.node:
        own = sorted({producer[name] for name in node.input if name in producer})
        if own or any(name in inputs for name in node.input):
            producer.update(dict.fromkeys(node.output, len(sources)))
            sources.append(own)
    return sources


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_models(name: str, shared_models: Path) -> None:
    sources = onnx_sources(shared_models / f"{name}.onnx")
    found = concurrent_chains(sources)
    assert (
        len(sources),
        found.edges,
        found.reduced_edges,
        found.count,
        found.syncs,
    ) == FIGURES[name]


def fewest_syncs(edges: list[tuple[int, int]]) -> int:
    """Reduced edges less the most of them of which no two begin or end at one node, by trying all subsets."""
    for size in reversed(range(len(edges) + 1)):
        for chosen in itertools.combinations(edges, size):
            starts, ends = {a for a, _ in chosen}, {b for _, b in chosen}
            if len(starts) == len(ends) == size:
                return len(edges) - size
    raise AssertionError


def test_no_assignment_without_loss_needs_less() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        sources = [
            sorted({rng.randrange(node) for _ in range(rng.randint(0, 2))}) if node else []
            for node in range(9)
        ]
        found = concurrent_chains(sources)
        # Nodes of one stream wait for each other anyway: along edges from one to the next.
        last: dict[int, int] = {}
        for node, stream in enumerate(found.streams):
            assert stream not in last or last[stream] in sources[node]
            last[stream] = node
        edges = _reduced(sources)
        assert found.syncs == fewest_syncs(edges)
        assert found.count == len(sources) - (len(edges) - found.syncs)


def _reduced(sources: list[list[int]]) -> list[tuple[int, int]]:
    from ge_dialect.analysis.streams.reduction import transitive_reduction

    return [
        (source, node) for node, each in enumerate(transitive_reduction(sources)) for source in each
    ]


def test_lanes_stay_together() -> None:
    made = transformer(200)
    sources = [[source for source in node.sources if source >= 0] for node in made]
    lanes = [node.kind if node.kind == "collective" else None for node in made]
    found = concurrent_chains(sources, lanes)
    together = {stream for stream, lane in zip(found.streams, lanes, strict=True) if lane}
    alone = {stream for stream, lane in zip(found.streams, lanes, strict=True) if not lane}
    assert len(together) == 1
    assert not together & alone
