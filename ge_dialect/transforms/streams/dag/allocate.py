"""From a graph of dependencies to streams: spec/streams.md section 14.3, steps 2 to 5."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.nodes import NO_STREAM
from ge_dialect.transforms.streams.dag.problem import Dag, Residual, Unit
from ge_dialect.transforms.streams.dag.strategies import (
    Choice,
    LoadBalance,
    MainStream,
    Strategy,
    Stream,
    WeightedLoadBalance,
)

DEFAULT_STREAMS = 8
"""How many streams there may be when nobody sets a limit."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The stream of each node, -1 for one that takes no time, and how many streams there are."""

    streams: list[int]
    count: int


def allocate(dag: Dag, strategy: str, max_stream_id: int = -1, base: int = 0) -> Allocation:
    """Streams `base`, `base` + 1, ... for the nodes of a Dag.

    Nodes that take time are cut into the fewest chains, which share at most `max_stream_id` + 1 streams by the strategy
    (`LoadBalance`, `MainStream` or `WeightedLoadBalance`); a negative limit means 8. Each serial label has one more
    stream, whatever the limit.
    """
    residual = Residual.of(dag)
    limit = DEFAULT_STREAMS if max_stream_id < 0 else max_stream_id + 1
    streams = [NO_STREAM] * len(dag.nodes)
    used = _merge(dag, residual, _strategy(strategy, residual), limit, streams)
    labels: dict[str, int] = {}
    for index, node in enumerate(dag.nodes):
        if node.serial:
            streams[index] = used + labels.setdefault(node.serial, len(labels))
    return Allocation(
        [stream if stream == NO_STREAM else stream + base for stream in streams],
        used + len(labels),
    )


def _strategy(name: str, residual: Residual) -> Strategy:
    if name == "LoadBalance":
        return LoadBalance()
    if name == "WeightedLoadBalance":
        return WeightedLoadBalance()
    on_level = [0] * (1 + max(residual.levels, default=0))
    for level in residual.levels:
        on_level[level] += 1
    return MainStream(on_level)


def _merge(dag: Dag, residual: Residual, strategy: Strategy, limit: int, streams: list[int]) -> int:
    """Put the units on streams; how many are used. Writes `streams`."""
    place = {index: number for number, index in enumerate(residual.nodes)}
    around: list[list[int]] = [[] for _ in residual.nodes]
    for number, targets in enumerate(residual.successors):
        for target in targets:
            around[number].append(residual.nodes[target])
            around[target].append(residual.nodes[number])
    opened = [Stream(number) for number in range(strategy.opened_at_start)]
    for unit in sorted(residual.units(dag), key=strategy.order):
        choice = Choice(unit, opened, _edges(unit, around, place, streams), len(opened) < limit)
        stream = strategy.choose(choice)
        if stream is None:
            stream = Stream(len(opened))
            opened.append(stream)
        stream.take(unit)
        for index in unit.nodes:
            streams[index] = stream.number
    used = [stream.number for stream in opened if stream.size]
    new = {number: rank for rank, number in enumerate(used)}
    for index in residual.nodes:
        streams[index] = new[streams[index]]
    return len(used)


def _edges(
    unit: Unit, around: list[list[int]], place: dict[int, int], streams: list[int]
) -> dict[int, int]:
    """Edges to units already placed, by stream."""
    edges: dict[int, int] = {}
    for index in unit.nodes:
        for other in around[place[index]]:
            if streams[other] != NO_STREAM:
                edges[streams[other]] = edges.get(streams[other], 0) + 1
    return edges
