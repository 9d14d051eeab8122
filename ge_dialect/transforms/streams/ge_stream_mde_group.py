"""Pass `ge-stream-mde-group`: numbers for the groups that `NewStreamId` asks for."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.nodes import STREAM, GraphNodes, StreamModel, has_ge_attr
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, get_int
from ge_dialect.transforms.streams.stream_pass import StreamPass

NEW_STREAM_ID, PARALLEL_GROUP = "NewStreamId", "_parallel_group"
FRESH_STREAM = 0
"""The stream of a node that no pass has touched: GE makes nodes with stream 0."""


@dataclass(frozen=True)
class GeStreamMdeGroup(StreamPass):
    """GE's `UpdateForMdeGroupPass`: nodes that share a stream and the attribute `NewStreamId` move to a new one.

    Expects engine sub-graphs (ge-cluster-engines). Nodes with `_parallel_group` are left out. For each stream,
    ascending, each value of `NewStreamId` takes a new stream at first sight (spec/streams.md section 2.1).
    `ge-stream-node-update` gives every node its sub-graph's stream later, so all that remains is that the numbers have
    been taken and that `ge-stream-ineffective` leaves the nodes alone; the holes close in `ge-stream-refresh`.
    Guarantees afterwards: the graph's `ge.next_stream` is behind these numbers.

    Before and after, in a graph that has given no stream yet:

        %y = ge.op "Relu" (%x) attrs {NewStreamId = 7} {ge.name = "y", ge.stream = 0 : i64} : tensor<2xf32>
        %y = ge.op "Relu" (%x) attrs {NewStreamId = 7} {ge.name = "y", ge.stream = 0 : i64} : tensor<2xf32>
        // the graph: ge.next_stream = 1
    """

    name = "ge-stream-mde-group"

    def assign(self, model: StreamModel) -> bool:
        changed = [_update(view) for view in model.graphs]
        return any(changed)


def _update(view: GraphNodes) -> bool:
    groups: dict[int, list[int]] = {}
    for index, op in enumerate(view.nodes):
        if has_ge_attr(op, NEW_STREAM_ID) and not has_ge_attr(op, PARALLEL_GROUP):
            stream = get_int(op, STREAM, FRESH_STREAM)
            assert stream is not None
            groups.setdefault(stream, []).append(index)
    for stream in sorted(groups):
        if stream < 0:
            continue
        new: dict[int, int] = {}
        for index in groups[stream]:
            wanted = int(ge_attr(view.nodes[index], NEW_STREAM_ID))
            if wanted not in new:
                new[wanted] = view.new_stream()
            view.nodes[index].attributes[STREAM] = i64(new[wanted])
    return bool(groups)
