"""Pass `ge-sync-single-stream`: what a model on one main stream needs when nodes have attached streams, events or
notifies, or when the stream cannot hold all tasks."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.attached import STREAM_ID, STREAM_LIST
from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import i64_array
from ge_dialect.dialects.ge.access import get_flag, graphs
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.pipeline import SPLIT_STREAMS, SYNC_PASSES, made_passes
from ge_dialect.transforms.split.ge_split_streams import HUGE_STREAMS
from ge_dialect.transforms.split.limits import RESERVED_TASKS
from ge_dialect.transforms.split.queue_entries import PlannedCounts, single_stream_entries
from ge_dialect.transforms.sync.model import SyncModel

_ASKS = (
    STREAM_ID,
    STREAM_LIST,
    "_attached_sync_res_info",
    "_attached_sync_res_info_list",
    "_attached_notify_info",
)
_SAYS = ("_node_sqe_num", "_hccl_task_num", "_hccl_attached_task_num")
"""Attributes by which a node takes any number of queue entries."""

_ENTRIES_OF_A_NODE = 16
"""More queue entries than the tasks of one node take, unless it says so itself."""


@dataclass(frozen=True)
class GeSyncSingleStream(ModulePass):
    """Run the passes for events, activation and splitting where nodes on one stream ask for more than that, or where
    the stream does not hold all tasks.

    Expects one main stream (ge-assign-streams in mode `single`) and a memory plan. When any node has an attached stream
    or asks for attached events or notifies, the passes that `ge-pipeline` runs for several streams run here, as they
    are. When there are more tasks than one queue takes (spec/streams.md section 8.2), stream 0 becomes a huge stream;
    when they do not fit into that either, it is cut, by the same passes. Other models, and models of unknown shape,
    whose streams the host feeds, are left alone after one look at each node; tasks are counted only in graphs that have
    more than one node for each 16 queue entries. Guarantees afterwards: attached streams wait for what they read and
    the output waits for them; no stream has more tasks than it holds, as far as `ge-split-streams` may cut.

    Options:
    * `max-tasks`, `max-huge-tasks`: as for `ge-split-streams`.

    Raises what the passes raise, and TaskGenerationError for a node whose tasks cannot be counted.

    Before and after, for a node b with attached stream 1:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Mc2" (%a) attrs {_attached_stream_id = 1} {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
        ge.net_output (%b)

        %a, %b
        %s = ge.send (%t) event_id 0 {ge.stream = 1 : i64}
        %r = ge.recv event_id 0 {ge.stream = 0 : i64}
        ge.net_output (%b, %r)
    """

    name = "ge-sync-single-stream"

    max_tasks: int = 1024
    max_huge_tasks: int = 8192

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found or get_flag(found[0], "ge.unknown_shape"):
            return
        nodes, says = 0, False
        asking: Operation | None = None
        for graph in found:
            for each in graph.block.ops:
                nodes += 1
                attrs = each.properties.get("attrs")
                if isinstance(attrs, DictionaryAttr):
                    if asking is None and any(name in attrs.data for name in _ASKS):
                        asking = each
                    says = says or any(name in attrs.data for name in _SAYS)
        if asking is not None:
            emit_remark(
                asking, self.name, "passed", "attached resources: the model is synchronised"
            )
        elif not (says or nodes * _ENTRIES_OF_A_NODE + RESERVED_TASKS > self.max_tasks):
            return
        elif not self._is_too_long(op, found[0]):
            return
        options = {
            SPLIT_STREAMS: {
                "max_tasks": self.max_tasks,
                "max_huge_tasks": self.max_huge_tasks,
                "single_stream": True,
            }
        }
        for each in made_passes(SYNC_PASSES, options=options):
            each.apply(ctx, op)

    def _is_too_long(self, module: ModuleOp, root: GraphOp) -> bool:
        """Whether the stream has to be cut. One that fits into a huge stream becomes that."""
        if not is_known(module):
            return False
        model = SyncModel.of(module)
        if model is None:
            return False
        counts = PlannedCounts(model)
        entries = single_stream_entries(model, counts)
        counts.close()
        if entries <= self.max_tasks:
            return False
        said = f"one stream would take {entries} queue entries, a queue has {self.max_tasks}"
        if entries > self.max_huge_tasks:
            emit_remark(root, self.name, "passed", f"{said}: it is cut", entries=entries)
            return True
        root.attributes[HUGE_STREAMS] = i64_array([0])
        emit_remark(root, self.name, "passed", f"{said}: it is a huge stream", entries=entries)
        return False
