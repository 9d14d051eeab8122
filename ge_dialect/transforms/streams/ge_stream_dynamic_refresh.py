"""Pass `ge-stream-dynamic-refresh`: numbers of dynamic streams, by strength of the engines."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr

from ge_dialect.analysis.streams.clusters import CLUSTER, CLUSTER_STREAM, PLACE
from ge_dialect.analysis.streams.nodes import (
    NEXT_STREAM,
    NO_STREAM,
    GraphNodes,
    StreamModel,
    set_stream,
    stream_of,
)
from ge_dialect.analysis.streams.structure import check_structure
from ge_dialect.dialects.attrs import i64
from ge_dialect.transforms.streams.dynamic_nodes import (
    MAIN_STREAM,
    is_forced_main,
    owns_graphs,
)
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.ge_stream_dynamic import ENGINE_STREAMS, LABEL_STREAMS
from ge_dialect.transforms.streams.ge_stream_number import STREAM_NUM
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamDynamicRefresh(StreamPass):
    """Number the streams of `ge-stream-dynamic`: engines by (cost, name), then labels byte by byte.

    Expects `ge-stream-dynamic`. Engines on whose stream no node is left have none any more. Stream 0 is the main
    stream. To it go nodes without stream, nodes that own graphs, and all inputs, outputs, variables and constants
    (spec/streams.md section 4.3); a stream that loses all its nodes so keeps its number. Guarantees afterwards:
    `ge.stream_num` of the root graph is the number of streams, at least 1. The marks of engine sub-graphs are gone
    afterwards.

    Raises StreamError for an engine that no table has, GeError when nodes, order or edges have changed since
    ge-cluster-engines.

    Before and after, AI CPU having taken stream 0 and AI Core, the stronger engine, stream 1:

        a {ge.engine = "DNN_VM_AICPU", ge.stream = 0}, b {ge.engine = "AIcoreEngine", ge.stream = 1}
        a {ge.engine = "DNN_VM_AICPU", ge.stream = 1}, b {ge.engine = "AIcoreEngine", ge.stream = 0}
    """

    name = "ge-stream-dynamic-refresh"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None or ENGINE_STREAMS not in root.graph.attributes:
            return False
        graphs = list(model.dynamic_graphs)
        used = {stream_of(op) for view in graphs for op in view.nodes}
        engines = {
            name: stream for name, stream in _streams(root, ENGINE_STREAMS) if stream in used
        }
        order = sorted(engines, key=lambda name: (_cost(model, name), name.encode()))
        new = {engines[name]: number for number, name in enumerate(order)}
        for _, stream in sorted(_streams(root, LABEL_STREAMS), key=lambda item: item[0].encode()):
            new[stream] = len(new)
        for view in graphs:
            for op in view.nodes:
                stream = stream_of(op)
                to_main = stream == NO_STREAM or owns_graphs(op) or is_forced_main(op)
                set_stream(op, MAIN_STREAM if to_main else new[stream])
        for view in model.graphs:
            view.graph.attributes.pop(NEXT_STREAM, None)
            check_structure(view.graph)
            for op in view.nodes:
                for name in (CLUSTER, PLACE, CLUSTER_STREAM):
                    op.attributes.pop(name, None)
        for name in (ENGINE_STREAMS, LABEL_STREAMS):
            root.graph.attributes.pop(name, None)
        root.graph.attributes[STREAM_NUM] = i64(max(1, len(new)))
        return True


def _streams(root: GraphNodes, name: str) -> list[tuple[str, int]]:
    value = root.graph.attributes.get(name)
    if not isinstance(value, DictionaryAttr):
        return []
    return [
        (key, each.value.data) for key, each in value.data.items() if isinstance(each, IntegerAttr)
    ]


def _cost(model: StreamModel, name: str) -> int:
    engine = model.engines.get(name)
    if engine is None:
        raise StreamError(f"engine '{name}' has no cost to order its stream by", code="E19999")
    return engine.cost
