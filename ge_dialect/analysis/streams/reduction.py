"""Transitive reduction of a graph without cycles: the fewest edges that order the same pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence

BLOCK = 8192
"""How many nodes are looked at together: as many bits are kept for each node behind them."""


def transitive_reduction(sources: Sequence[Sequence[int]], block: int = BLOCK) -> list[list[int]]:
    """The sources of each node that no other of its sources stands behind; each once, in the order given.

    `sources` are those of nodes in topological order (smaller numbers). For an acyclic graph the result is unique
    (Aho, Garey and Ullman 1972).

    Which nodes of a block a node stands behind is a row of bits, carried from the block to the last reader of any node
    in it. So time is linear in nodes and edges as long as edges are shorter than a block, and grows with
    nodes * nodes / `block` rows of bits when they reach across the whole graph; memory is `block` bits a node.
    """
    last_reader = list(range(len(sources)))
    for node, each in enumerate(sources):
        for source in each:
            last_reader[source] = node
    implied: list[set[int]] = [set() for _ in sources]
    for first in range(0, len(sources), block):
        end = min(first + block, len(sources))
        _find_implied(sources, first, end, 1 + max(last_reader[first:end]), implied)
    return [
        [source for source in dict.fromkeys(each) if source not in left_out]
        for each, left_out in zip(sources, implied, strict=True)
    ]


def _find_implied(
    sources: Sequence[Sequence[int]], first: int, end: int, stop: int, implied: list[set[int]]
) -> None:
    """Note the implied sources in `first` up to `end` of all nodes up to `stop`."""
    behind = [0] * (stop - first)  # bits of the nodes of the block that each node stands behind
    for node in range(first, stop):
        each = [source for source in sources[node] if source >= first]
        if not each:
            continue
        bits = 0
        for source in each:
            bits |= behind[source - first]
        own = 0
        for source in each:
            if source < end:
                bit = 1 << (source - first)
                if bits & bit:
                    implied[node].add(source)
                else:
                    own |= bit
        behind[node - first] = bits | own
