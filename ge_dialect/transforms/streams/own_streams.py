"""What the modes that are not the reference's have in common: which nodes they place, and which have a stream of
their own whatever else is decided."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import cluster_engine
from ge_dialect.analysis.streams.engines import EngineTable
from ge_dialect.analysis.streams.nodes import LABEL, NO_STREAM, GraphNodes, stream_of, text_attr
from ge_dialect.transforms.streams.custom_pass import StreamContext


@dataclass(frozen=True, slots=True)
class TakingPart:
    """The nodes of a graph that have a stream: their numbers, who waits for whom among them (by place in `nodes`), and
    what keeps a node on a stream of its own (None: nothing)."""

    nodes: list[int]
    sources: list[list[int]]
    lanes: list[Hashable]

    @property
    def has_lanes(self) -> bool:
        """Whether any node has a stream of its own."""
        return any(lane is not None for lane in self.lanes)


def is_scheduled(view: GraphNodes) -> bool:
    """Whether the graph gets streams of its own; the others run on the stream of the node that owns them, where jumps
    over their nodes are jumps in one queue."""
    return not view.inherits_stream


def taking_part(view: GraphNodes, engines: EngineTable) -> TakingPart:
    """The nodes with a stream. A `_stream_label` keeps its nodes together, and so does an engine that is independent
    (collectives) unless its nodes wait for each other anyway: all ranks have to start them in the same order."""
    return select(view, engines, [stream_of(op) != NO_STREAM for op in view.nodes])


def select(view: GraphNodes, engines: EngineTable, wanted: Sequence[bool]) -> TakingPart:
    """As `taking_part`, for the nodes that are wanted."""
    place: dict[int, int] = {}
    for index, each in enumerate(wanted):
        if each:
            place[index] = len(place)
    nodes = list(place)
    sources = [
        [place[source] for source in view.sources[index] if source in place] for index in nodes
    ]
    lanes: list[Hashable] = []
    collectives: dict[Hashable, None] = {}
    for index in nodes:
        op = view.nodes[index]
        label, engine = text_attr(op, LABEL), cluster_engine(op, engines)
        if engine.independent:
            lanes.append((engine.name, label))
            collectives[lanes[-1]] = None
        else:
            lanes.append(label or None)
    for lane in collectives:
        if _is_ordered(sources, lanes, lane):
            lanes = [None if each == lane else each for each in lanes]
    return TakingPart(nodes, sources, lanes)


def _is_ordered(
    sources: Sequence[Sequence[int]], lanes: Sequence[Hashable], lane: Hashable
) -> bool:
    """Whether each node of the lane waits, by edges alone, for the one before it."""
    before: list[int] = []  # how many nodes of the lane each node is behind for certain
    count = 0
    for node, each in enumerate(sources):
        known = max((before[source] for source in each), default=0)
        if lanes[node] == lane:
            if known < count:
                return False
            count = known = count + 1
        before.append(known)
    return True


def follow_owner(view: GraphNodes, context: StreamContext) -> None:
    """Put the nodes of a graph on the stream of the node that owns it; those with a label stay."""
    assert view.owner is not None
    stream = stream_of(view.owner)
    if stream == NO_STREAM:
        return
    for op in view.nodes:
        if stream_of(op) != NO_STREAM and not text_attr(op, LABEL):
            context.set_stream(op, stream)


def put_on_streams(
    view: GraphNodes, part: TakingPart, streams: Sequence[int], context: StreamContext
) -> None:
    """Give the nodes new streams, numbered from 0 in `streams`."""
    base = context.max_stream + 1
    for _ in range(1 + max(streams, default=-1)):
        context.allocate_next()
    for index, stream in zip(part.nodes, streams, strict=True):
        context.set_stream(view.nodes[index], base + stream)
