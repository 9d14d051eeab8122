"""Pass `ge-assign-streams`: which stream each node runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.engine_table import scheduling
from ge_dialect.dialects.ge.access import get_text, graphs, set_int
from ge_dialect.dialects.ge.node import GeNode

STREAM, STREAM_NUM = "ge.stream", "ge.stream_num"


@dataclass(frozen=True)
class GeAssignStreams(ModulePass):
    """Put the nodes of every graph on streams.

    Expects `ge.engine` on the nodes (ge-assign-engines) and block order = topological order. Guarantees afterwards:
    `ge.stream` on every node whose engine has streams, none (that is, -1) on nodes of engines with the flag
    `skip_assign_stream` (spec/engines.md section 2: GE local, hence inputs, constants and views, host CPU, FFTS+);
    `ge.stream_num` on the root graph. Streams from before are forgotten.

    Options:
    * `mode`: `single` (the only one): everything on stream 0.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine"} : tensor<2xf32>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine", ge.stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-assign-streams"

    mode: Literal["single"] = "single"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        for graph in found:
            graph.attributes.pop(STREAM_NUM, None)
            for node in graph.block.ops:
                if not isinstance(node, GeNode):
                    continue
                if scheduling(get_text(node, "ge.engine") or "").skip_assign_stream:
                    node.attributes.pop(STREAM, None)
                else:
                    node.attributes[STREAM] = i64(0)
        if found:
            set_int(found[0], STREAM_NUM, 1)
