"""Pass `ge-stream-single`: everything on one stream."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import clusters_of, write_cluster_streams
from ge_dialect.analysis.streams.nodes import NO_STREAM, StreamModel
from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.auto_mode import OPTION, auto_mode_text
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.stream_pass import StreamPass

SINGLE_STREAM = "ge.enableSingleStream"


@dataclass(frozen=True)
class GeStreamSingle(StreamPass):
    """GE's `SingleStreamPass`: every engine sub-graph gets the same stream.

    Expects engine sub-graphs (ge-cluster-engines) and final labels. Guarantees afterwards: `ge.cluster_stream` on their
    nodes. Below a graph of known shape the stream is the owning node's, elsewhere a new one (spec/streams.md section
    3).

    Options:
    * `auto`: the text of `ge.autoMultistreamParallelMode`; the root graph's `ge.auto_multistream_mode` wins;
    * `option-names`: how errors call options, as in `"ge.enableSingleStream:enable_single_stream"`, pairs with commas
      between (GE's `ge.optionNameMap`).

    Raises StreamError when an automatic multi-stream mode is set (E10056, looked at first), and, naming the node, for a
    stream label, which asks for a stream of its own (E10055).

    Before and after:

        %c = ge.op "HcomAllReduce" (%x) {ge.name = "c", ge.engine = "DNN_HCCL", ge.cluster = 1 : i64} : tensor<2xf32>
        %c = ge.op "HcomAllReduce" (%x) {ge.name = "c", ge.engine = "DNN_HCCL", ge.cluster = 1 : i64,
            ge.cluster_stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-stream-single"

    auto: str = ""
    option_names: str = ""

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        text, from_graph = auto_mode_text(None if root is None else root.graph, self.auto)
        names = dict(pair.split(":", 1) for pair in self.option_names.split(",") if ":" in pair)
        mode_name, single_name = names.get(OPTION, OPTION), names.get(SINGLE_STREAM, SINGLE_STREAM)
        if text:
            raise StreamError(
                f"{mode_name} = '{text}' conflicts with {single_name}: one stream cannot be many; set one of them only",
                location_text(root.graph) if root is not None and from_graph else None,
                code="E10056",
                status="PARAM_INVALID",
            )
        for view in model.graphs:
            stream = 0 if view.has_owner_stream else view.new_stream()
            clusters = clusters_of(view, model.engines, with_borders=False)
            for cluster in clusters:
                if cluster.stream != NO_STREAM:
                    continue
                if cluster.label:
                    op = view.nodes[cluster.nodes[0]]
                    raise StreamError(
                        f"{single_name} conflicts with stream label '{cluster.label}' of node "
                        f'"{node_name(op)}": set the option to false (here: take another mode) or remove the label',
                        location_text(op),
                        code="E10055",
                        status="PARAM_INVALID",
                    )
                cluster.stream = stream
            write_cluster_streams(view, clusters)
        return bool(model.graphs)
