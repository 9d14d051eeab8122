"""Pass `ge-stream-dynamic-compact`: numbers of dynamic streams after an automatic mode made its own."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.nodes import NO_STREAM, StreamModel, set_stream, stream_of
from ge_dialect.dialects.attrs import i64
from ge_dialect.transforms.streams.auto_mode import effective_auto_mode
from ge_dialect.transforms.streams.dynamic_nodes import (
    MAIN_STREAM,
    is_forced_main,
    owns_graphs,
)
from ge_dialect.transforms.streams.ge_stream_number import STREAM_NUM
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamDynamicCompact(StreamPass):
    """Number the streams in use 0, 1, ... after `ge-stream-auto`; nothing happens in other modes.

    Expects `ge-stream-dynamic-refresh`. In use are streams of nodes that are not bound to the main stream; all others
    go to it (spec/streams.md section 4.4). Guarantees afterwards: no gaps, and `ge.stream_num` of the root graph.

    Options:
    * `auto`: the text of `ge.autoMultistreamParallelMode`; the root graph's `ge.auto_multistream_mode` wins.

    Raises StreamError (E10001) for a text that is no mode.

    Before and after, streams that `ge-stream-auto` made:

        x = ge.data {ge.stream = 0}, a {ge.stream = 3}, b {ge.stream = 5}
        x = ge.data {ge.stream = 0}, a {ge.stream = 0}, b {ge.stream = 1}
    """

    name = "ge-stream-dynamic-compact"

    auto: str = ""

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None or not effective_auto_mode(root.graph, self.auto).is_dag:
            return False
        nodes = [op for view in model.dynamic_graphs for op in view.nodes]
        free = [
            op
            for op in nodes
            if stream_of(op) != NO_STREAM and not is_forced_main(op) and not owns_graphs(op)
        ]
        new = {
            stream: number for number, stream in enumerate(sorted({stream_of(op) for op in free}))
        }
        moving = set(free)
        for op in nodes:
            set_stream(op, new[stream_of(op)] if op in moving else MAIN_STREAM)
        root.graph.attributes[STREAM_NUM] = i64(max(1, len(new)))
        return True
