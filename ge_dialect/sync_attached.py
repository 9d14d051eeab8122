"""Pass `ge-sync-attached`: what a model on one main stream needs when nodes have attached streams, events or
notifies."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.attached import STREAM_ID, STREAM_LIST
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import get_flag, graphs
from ge_dialect.pipeline import SYNC_PASSES, made_passes

_ASKS = (
    STREAM_ID,
    STREAM_LIST,
    "_attached_sync_res_info",
    "_attached_sync_res_info_list",
    "_attached_notify_info",
)


@dataclass(frozen=True)
class GeSyncAttached(ModulePass):
    """Run the passes for events, activation and splitting where nodes on one stream ask for more than that.

    Expects one main stream (ge-assign-streams in mode `single`) and a memory plan. When any node has an attached stream
    or asks for attached events or notifies, the passes that `ge-pipeline` runs for several streams run here, as they
    are; other models, and models of unknown shape, whose streams the host feeds, are left alone after one look at each
    node. Guarantees afterwards: attached streams wait for what they read and the output waits for them.

    Before and after, for a node b with attached stream 1:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Mc2" (%a) attrs {_attached_stream_id = 1} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
        ge.net_output (%b)

        %a, %b
        %s = ge.send (%t) event_id 0 {ge.stream = 1 : i64}
        %r = ge.recv event_id 0 {ge.stream = 0 : i64}
        ge.net_output (%b, %r)
    """

    name = "ge-sync-attached"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found or get_flag(found[0], "ge.unknown_shape"):
            return
        asking = next((each for graph in found for each in graph.block.ops if _asks(each)), None)
        if asking is None:
            return
        emit_remark(asking, self.name, "passed", "attached resources: the model is synchronised")
        for each in made_passes(SYNC_PASSES):
            each.apply(ctx, op)


def _asks(op: Operation) -> bool:
    attrs = op.properties.get("attrs")
    return isinstance(attrs, DictionaryAttr) and any(name in attrs.data for name in _ASKS)
