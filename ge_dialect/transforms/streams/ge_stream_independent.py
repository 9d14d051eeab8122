"""Pass `ge-stream-independent`: streams of engines that share with nobody."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import clusters_of, write_cluster_streams
from ge_dialect.analysis.streams.nodes import NO_STREAM, StreamModel
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamIndependent(StreamPass):
    """GE's `IndependentStreamPass`: a stream for each independent engine and label.

    Expects `ge-stream-label` behind it. An engine sub-graph of an independent engine (collectives) gets the stream of
    its (engine, label), also when `ge-stream-label` gave it another one; only a stream that comes from a user label is
    kept (spec/streams.md section 2.3). Nobody else may use these streams. Guarantees afterwards: `ge.cluster_stream` on
    all nodes of independent engines.

    Before and after:

        %c = ge.op "HcomAllReduce" (%x) {ge.name = "c", ge.engine = "DNN_HCCL", ge.cluster = 1 : i64} : tensor<2xf32>
        %c = ge.op "HcomAllReduce" (%x) {ge.name = "c", ge.engine = "DNN_HCCL", ge.cluster = 1 : i64,
            ge.cluster_stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-stream-independent"

    def assign(self, model: StreamModel) -> bool:
        changed = False
        for view in model.graphs:
            streams: dict[tuple[str, str], int] = {}
            moved = [
                each
                for each in clusters_of(view, model.engines, with_borders=False)
                if each.engine.independent and (each.stream == NO_STREAM or each.user_label == "")
            ]
            for cluster in moved:
                key = (cluster.engine.name, cluster.label)
                if key not in streams:
                    streams[key] = view.new_stream()
                cluster.stream = streams[key]
            write_cluster_streams(view, moved)
            changed = changed or bool(moved)
        return changed
