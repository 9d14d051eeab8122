"""Pass `ge-stream-label`: a stream for each stream label."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import clusters_of, write_cluster_streams
from ge_dialect.analysis.streams.nodes import StreamModel
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamLabel(StreamPass):
    """GE's `AssignByLabelPass`: engine sub-graphs with the same `_stream_label` get one stream, whatever their engines.

    Expects engine sub-graphs (ge-cluster-engines) and final labels. Guarantees afterwards: `ge.cluster_stream` on the
    nodes of sub-graphs with a label. Labels belong to their graph: the same label in two graphs makes two streams
    (spec/streams.md section 2.2).

    Before and after:

        %y = ge.op "Relu" (%x) attrs {_stream_label = "a"} {ge.name = "y", ge.cluster = 0 : i64} : tensor<2xf32>
        %y = ge.op "Relu" (%x) attrs {_stream_label = "a"} {ge.name = "y", ge.cluster = 0 : i64,
            ge.cluster_stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-stream-label"

    def assign(self, model: StreamModel) -> bool:
        changed = False
        for view in model.graphs:
            streams: dict[str, int] = {}
            labelled = [
                each
                for each in clusters_of(view, model.engines, with_borders=False)
                if each.label != ""
            ]
            for cluster in labelled:
                if cluster.label not in streams:
                    streams[cluster.label] = view.new_stream()
                cluster.stream = streams[cluster.label]
            write_cluster_streams(view, labelled)
            changed = changed or bool(labelled)
        return changed
