"""Pass `ge-assign-host-streams`: streams of models that the host drives."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.host_streams import HOST_STREAMS
from ge_dialect.assign_streams import MAX_CONCURRENCY, GeAssignStreams, scheduled_streams
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.transforms.streams.auto_mode import effective_auto_mode
from ge_dialect.transforms.streams.ge_attached_sync import GeAttachedSync
from ge_dialect.transforms.streams.ge_stream_attached import GeStreamAttached
from ge_dialect.transforms.streams.ge_stream_dynamic import GeStreamDynamic

_WITHOUT_AUTO = ("single", "multi", "dynamic")


@dataclass(frozen=True)
class GeAssignHostStreams(ModulePass):
    """Put the nodes of a model that the host drives on streams, with the events between them.

    Expects what `ge-sink-clusters` leaves, in topological order, with `ge.engine` on nodes. Models of known shape are
    left to `ge-assign-streams`. All others have one stream, whatever the mode, as in GE, where automatic modes do not
    enable several (spec/streams.md section 4.1); with `dynamic` the chain `ge-assign-streams{mode=dynamic}` runs, in
    the modes `LoadBalance:N`, `MainStream:N`, `WeightedLoadBalance:N` and `cv` with their part in it (section 4.4).
    `schedule:N` and `max-concurrency` are for known sizes, and give the streams of `dynamic` alone. Every graph that is
    left is driven by the host, node by node, so all are marked `ge.unknown_shape`. Guarantees afterwards:
    `ge.host_streams` on the root graph, which tells the passes for task lists (streams, events, splitting) that there
    is nothing to do.

    Options:
    * `mode`: as in `ge-pipeline{streams}`;
    * `dynamic`: several streams, as GE's ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=1;
    * `ac-parallel-enable`: see ge-stream-dynamic.

    Raises StreamError for a bad mode.

    Before and after, with `dynamic`:

        %a = ge.op "GetNext" () {ge.name = "a", ge.engine = "DNN_VM_AICPU"} : tensor<?xf32>
        %b = ge.op "Relu" (%a) {ge.name = "b", ge.engine = "AIcoreEngine"} : tensor<?xf32>

        %a = ge.op "GetNext" () attrs {_send_event_ids = array<i64: 0>} {ge.name = "a", ..., ge.stream = 1 : i64}
        %b = ge.op "Relu" (%a) attrs {_recv_event_ids = array<i64: 0>} {ge.name = "b", ..., ge.stream = 0 : i64}
    """

    name = "ge-assign-host-streams"

    mode: str = "multi"
    dynamic: bool = False
    ac_parallel_enable: str | int = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found or is_known(op):
            return
        root = found[0]
        for graph in found:
            graph.attributes["ge.unknown_shape"] = BoolAttr.from_bool(True)
        auto = "" if self.mode in _WITHOUT_AUTO or self._is_own() else self.mode
        if self.dynamic:
            if self._is_own():
                said = f"mode {self.mode} is for known shapes: the host's streams are those of mode dynamic"
                emit_remark(root, self.name, "missed", said, condition="mode")
            passes = GeAssignStreams(
                "dynamic", auto, ac_parallel_enable=self.ac_parallel_enable
            ).passes()
        else:
            effective_auto_mode(root, auto)  # a bad mode is an error, whoever drives the model
            said = f"the host drives this model on one stream (no dynamic-streams); mode {self.mode} is for known"
            said += " shapes"
            emit_remark(root, self.name, "missed", said, condition="unknown-shape")
            passes = (GeStreamDynamic(enable="0"), GeStreamAttached(), GeAttachedSync())
        for each in passes:
            each.apply(ctx, op)
        root.attributes[HOST_STREAMS] = BoolAttr.from_bool(True)

    def _is_own(self) -> bool:
        """Whether the mode is none of GE's."""
        return self.mode == MAX_CONCURRENCY or scheduled_streams(self.mode) is not None
