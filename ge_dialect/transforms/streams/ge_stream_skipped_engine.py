"""Pass `ge-stream-skipped-engine`: nodes without device tasks leave streams that they are on for nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import clusters_of
from ge_dialect.analysis.streams.nodes import (
    NO_STREAM,
    GraphNodes,
    StreamModel,
    set_stream,
)
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamSkippedEngine(StreamPass):
    """GE's `UpdateForSkippedEnginePass`: clean up behind engines that make no device task (`skip_assign_stream`).

    Expects `ge.stream` on nodes (ge-stream-node-update). Nodes of such engines with a stream and in sub-graphs without
    label are looked at in order of the graph: one that owns no graph and that nothing on a stream comes before loses
    its stream; else one with successors whose neighbours are all on one stream joins it (spec/streams.md section 2.9).
    Later nodes see what became of earlier ones. Guarantees afterwards: such a node with neighbours on one stream alone
    is on that.

    Before and after, for a Reshape of an input of the graph:

        %r = ge.op "Reshape" (%x, %shape) {ge.name = "r", ge.stream = 0 : i64} : tensor<4xf32>
        %r = ge.op "Reshape" (%x, %shape) {ge.name = "r"} : tensor<4xf32>
    """

    name = "ge-stream-skipped-engine"

    def assign(self, model: StreamModel) -> bool:
        changed = False
        for view in model.graphs:
            candidates = sorted(
                index
                for cluster in clusters_of(view, model.engines, with_borders=False)
                if cluster.engine.skip_assign_stream and cluster.label == ""
                for index in cluster.nodes
            )
            if candidates:
                changed = _update(view, candidates) or changed
        return changed


def _update(view: GraphNodes, candidates: list[int]) -> bool:
    streams = view.streams()
    changed = False
    for index in candidates:
        if streams[index] == NO_STREAM:
            continue
        new = _better(view, index, streams)
        if new != streams[index]:
            streams[index] = new
            set_stream(view.nodes[index], new)
            changed = True
    return changed


def _better(view: GraphNodes, index: int, streams: list[int]) -> int:
    sources, readers = view.sources[index], view.readers[index]
    before = {streams[source] for source in sources} - {NO_STREAM}
    if not before and "subgraphs" not in view.nodes[index].properties:
        return NO_STREAM
    if readers:
        around = before | ({streams[reader] for reader in readers} - {NO_STREAM})
        if len(around) == 1:
            return around.pop()
    return streams[index]
