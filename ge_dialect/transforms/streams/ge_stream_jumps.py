"""Pass `ge-stream-jumps`: what labels and jumps hold together comes on one stream."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.jumps import jump_regions
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.nodes import NO_STREAM, GraphNodes, StreamModel, set_stream
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamJumps(StreamPass):
    """Put the nodes between the first and the last mention of a label on the stream of the first of them.

    Expects `ge.stream` on nodes. A jump leads to a place in its own queue, so a branch or a loop cannot be spread over
    streams (spec/tasks.md 3.2; the stretches are those of `ge_dialect.analysis.jumps`). Nodes outside keep their
    streams and run beside it. Runs last of what moves nodes. Guarantees afterwards: nodes of one stretch that have a
    stream have the same. Collectives in a stretch leave the stream of the others.

    Before and after:

        ge.label_set label_index 0 {ge.name = "head", ge.stream = 0 : i64}
        %a = ge.op "HcomAllReduce" (%x) {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
        ge.label_goto label_index 0 {ge.name = "back", ge.stream = 0 : i64}

        %a = ge.op "HcomAllReduce" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-stream-jumps"

    def assign(self, model: StreamModel) -> bool:
        changed = [self._join(view) for view in model.graphs]
        return any(changed)

    def _join(self, view: GraphNodes) -> bool:
        changed = False
        streams = view.streams()
        for region in jump_regions(view.nodes):
            inside = range(region.first, region.last + 1)
            stream = next((streams[k] for k in inside if streams[k] != NO_STREAM), NO_STREAM)
            moved = [k for k in inside if streams[k] not in (NO_STREAM, stream)]
            for k in moved:
                set_stream(view.nodes[k], stream)
            if moved:
                changed = True
                emit_remark(
                    view.nodes[region.first],
                    self.name,
                    "passed",
                    f"{len(moved)} of {len(inside)} nodes moved to stream {stream}",
                    stream=stream,
                    moved=len(moved),
                )
        return changed
