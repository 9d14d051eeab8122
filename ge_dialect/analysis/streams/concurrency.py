"""The fewest streams, and the fewest events between them, that lose no concurrency.

Source: Kwon, Yu, Jeong, Chun, "Nimble: Lightweight and Parallel GPU Task Scheduling for Deep Learning", NeurIPS 2020,
section 4.2: on the transitive reduction of the dependencies, events = edges - matching and streams = nodes - matching.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ge_dialect.analysis.streams.path_cover import path_cover
from ge_dialect.analysis.streams.reduction import transitive_reduction


@dataclass(frozen=True, slots=True)
class ConcurrentChains:
    """The stream of each node (numbered from 0 in the order of first nodes) and what was counted: `edges` and, of
    these, `reduced_edges` that no others imply; `syncs` of them lead from one stream to another."""

    streams: list[int]
    edges: int
    reduced_edges: int
    syncs: int

    @property
    def count(self) -> int:
        """The number of streams."""
        return 1 + max(self.streams, default=-1)


def concurrent_chains(
    sources: Sequence[Sequence[int]], lanes: Sequence[Hashable] = ()
) -> ConcurrentChains:
    """Chains of a minimum path cover of the transitive reduction. `sources` of nodes in topological order, each once.

    Nodes with the same lane (not None) have one stream together, whatever the chains of the others. Without lanes
    both counts are the least that there can be.
    """
    reduced = transitive_reduction(sources)
    bound = [lane is not None for lane in lanes] if lanes else [False] * len(sources)
    successors: list[list[int]] = [[] for _ in sources]
    for node, each in enumerate(reduced):
        for source in each:
            if not (bound[source] or bound[node]):
                successors[source].append(node)
    name: list[Hashable] = [None] * len(sources)
    for number, chain in enumerate(path_cover(successors)):
        for node in chain:
            name[node] = number
    numbers: dict[Hashable, int] = {}
    streams = [
        numbers.setdefault(("lane", lanes[node]) if bound[node] else name[node], len(numbers))
        for node in range(len(sources))
    ]
    syncs = sum(
        streams[source] != streams[node] for node, each in enumerate(reduced) for source in each
    )
    return ConcurrentChains(
        streams, sum(len(each) for each in sources), sum(len(each) for each in reduced), syncs
    )
