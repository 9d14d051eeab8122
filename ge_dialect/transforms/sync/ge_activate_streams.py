"""Pass `ge-activate-streams`: which node starts the streams of labels and sub-graphs."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.attached import attached_streams
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import i64, i64_array
from ge_dialect.transforms.sync.activation import (
    Labels,
    activate_labels,
    activate_subgraphs,
    activating_nodes,
    active_streams,
    set_specific_streams,
)
from ge_dialect.transforms.sync.model import NO_STREAM, SyncModel, stream_of

LOGIC_STREAM, LOGIC_ATTACHED = "ge.logic_stream", "ge.logic_attached_streams"


def record_logic_streams(model: SyncModel) -> None:
    """Note the streams that nodes have now, before splitting (spec/streams.md section 6, step 1)."""
    for op in model.nodes:
        if (stream := stream_of(op)) != NO_STREAM:
            op.attributes[LOGIC_STREAM] = i64(stream)
        if attached := attached_streams(op):
            op.attributes[LOGIC_ATTACHED] = i64_array(attached)


@dataclass(frozen=True)
class GeActivateStreams(ModulePass):
    """Give the nodes that start streams the list of these streams.

    Expects final main and attached streams. A node with `_active_label_list` starts the streams of the nodes that have
    one of these as `_stream_label` (spec/streams.md section 9.1); the node with `subgraph_first_active` at the head of
    a sub-graph starts the other streams of the sub-graph's unlabelled nodes (9.2). Guarantees afterwards:
    `active_stream_list` on these nodes, `ge.specific_streams` on the root graph, and each node's stream as
    `ge.logic_stream` (attached ones as `ge.logic_attached_streams`), which splitting leaves alone.

    Before and after:

        ge.stream_active attrs {_active_label_list = ["then"]} {ge.name = "start", ge.stream = 0 : i64}
        %y = ge.op "Relu" (%x) attrs {_stream_label = "then"} {ge.name = "y", ge.stream = 1 : i64} : tensor<2xf32>

        ge.stream_active active_stream_list [1] attrs {_active_label_list = ["then"]} {ge.name = "start", ...}
    """

    name = "ge-activate-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        record_logic_streams(model)
        specific = activate_labels(model, Labels.of(model)) | activate_subgraphs(model)
        set_specific_streams(model, specific)
        for node in activating_nodes(model):
            streams = active_streams(node)
            emit_remark(
                node, self.name, "passed", f"starts streams {streams}", streams=len(streams)
            )
