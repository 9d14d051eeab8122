"""Pass `ge-stream-refresh`: stream numbers without holes."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import CLUSTER, CLUSTER_STREAM, PLACE
from ge_dialect.analysis.streams.nodes import (
    NO_STREAM,
    StreamModel,
    set_stream,
)
from ge_dialect.analysis.streams.structure import check_structure
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import get_int
from ge_dialect.transforms.streams.ge_stream_number import STREAM_NUM
from ge_dialect.transforms.streams.stream_pass import StreamPass

MAIN_STREAM_NUM = "ge.main_stream_num"


@dataclass(frozen=True)
class GeStreamRefresh(StreamPass):
    """Number the streams that have nodes 0, 1, ... in the order of their old numbers (spec/streams.md section 10.1).

    Expects final streams: must come after everything that may move nodes and before attached streams. A number beyond
    `ge.stream_num` belongs to nobody and stays. Below a root graph of unknown shape no other graph is looked at.
    Guarantees afterwards: `ge.main_stream_num` and `ge.stream_num` of the root graph are the number of streams; the
    marks of engine sub-graphs (`ge.cluster`, ...) are gone.

    Raises GeError when nodes, order or edges have changed since ge-cluster-engines.

    Before and after:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 2 : i64} : tensor<2xf32>
        %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 5 : i64} : tensor<2xf32>

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
    """

    name = "ge-stream-refresh"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        known = get_int(root.graph, STREAM_NUM)
        graphs = [root] if root.is_unknown else model.graphs
        used: set[int] = set()
        for view in graphs:
            used.update(view.streams())
        used.discard(NO_STREAM)
        kept = sorted(stream for stream in used if known is None or stream < known)
        new = {stream: number for number, stream in enumerate(kept)}
        changed = any(stream != number for stream, number in new.items())
        for view in graphs:
            for op, stream in zip(view.nodes, view.streams(), strict=True):
                if changed and stream in new:
                    set_stream(op, new[stream])
        for view in model.graphs:
            check_structure(view.graph)
            for op in view.nodes:
                for name in (CLUSTER, PLACE, CLUSTER_STREAM):
                    op.attributes.pop(name, None)
        root.graph.attributes[STREAM_NUM] = i64(len(new))
        root.graph.attributes[MAIN_STREAM_NUM] = i64(len(new))
        return changed
