"""Pass `ge-stream-number`: from streams that each graph counts for itself to streams of the model."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.nodes import (
    NEXT_STREAM,
    NO_STREAM,
    GraphNodes,
    StreamModel,
    set_stream,
    stream_of,
)
from ge_dialect.dialects.attrs import i64
from ge_dialect.transforms.streams.stream_pass import StreamPass

STREAM_NUM = "ge.stream_num"


@dataclass(frozen=True)
class GeStreamNumber(StreamPass):
    """Give the streams of all graphs numbers of one range: those of the root first, then graph by graph.

    Expects streams that each graph counts for itself, with `ge.next_stream` on the graphs. In a graph below another one
    stream 0 becomes the stream of the node that owns the graph; below a graph of unknown
    shape, which the host schedules, it becomes stream 0 of the model (spec/streams.md sections 2.0 and 2.4, step 7). An
    owner without stream counts as one with a stream that nobody else has. Guarantees afterwards: `ge.stream` means the
    same in all graphs, `ge.stream_num` of the root graph is the next free number, `ge.next_stream` is gone. Numbers
    that no node uses stay.

    Before and after, two streams in the root and two in a graph below its node on stream 1:

        root: a {ge.stream = 0}, call {ge.stream = 1}     below: b {ge.stream = 0}, c {ge.stream = 1}
        root: a {ge.stream = 0}, call {ge.stream = 1}     below: b {ge.stream = 1}, c {ge.stream = 2}
    """

    name = "ge-stream-number"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        bases: dict[GraphNodes, int] = {}
        following = 0
        for view in model.graphs:
            bases[view] = following - view.first_new_stream
            following += view.next_stream - view.first_new_stream
        local = {view: view.streams() for view in model.graphs}
        inherited: dict[GraphNodes, int] = {}
        for view in model.graphs:
            if view.parent is not None and 0 in local[view]:
                following = _inherit(view, bases, inherited, following)
        for view in model.graphs:
            base = bases[view]
            if base == 0 and view.parent is None:
                view.graph.attributes.pop(NEXT_STREAM, None)
                continue
            for op, stream in zip(view.nodes, local[view], strict=True):
                if stream != NO_STREAM:
                    own = stream > 0 or view.parent is None
                    set_stream(op, base + stream if own else inherited[view])
            view.graph.attributes.pop(NEXT_STREAM, None)
        root.graph.attributes[STREAM_NUM] = i64(following)
        return len(model.graphs) > 1


def _inherit(
    view: GraphNodes, bases: dict[GraphNodes, int], inherited: dict[GraphNodes, int], following: int
) -> int:
    """Find what stream 0 of a graph stands for, and of the graphs that it depends on. The next free number."""
    chain: list[GraphNodes] = []
    at = view
    while at.parent is not None and at not in inherited and at not in chain:
        chain.append(at)
        if not at.inherits_stream or at.owner is None or stream_of(at.owner) != 0:
            break
        at = at.parent
    for graph in reversed(chain):
        owner, parent = graph.owner, graph.parent
        assert owner is not None
        assert parent is not None
        if not graph.inherits_stream:
            inherited[graph] = 0
            continue
        stream = stream_of(owner)
        if stream == NO_STREAM:
            inherited[graph] = following
            following += 1
        elif stream > 0 or parent.parent is None:
            inherited[graph] = bases[parent] + stream
        else:
            inherited[graph] = inherited[parent]
    return following
