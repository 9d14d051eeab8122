"""Pass `ge-split-streams`: streams with more tasks than a stream takes are cut."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import type_reason
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import i64_array, string
from ge_dialect.dialects.ge.access import get_int, graphs, set_ints
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.transforms.split.limits import StreamLimitError, StreamLimits
from ge_dialect.transforms.split.queue_entries import (
    PlannedCounts,
    QueueCounts,
    entry_table,
    needs_huge_stream,
)
from ge_dialect.transforms.split.splitting import Split, Splitter, split_text
from ge_dialect.transforms.streams.ge_stream_refresh import MAIN_STREAM_NUM
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import INTERNAL, STREAM_NUM, SyncModel, stream_of

SPLIT_STREAMS, STARTS_STREAMS, HUGE_STREAMS = (
    "ge.split_streams",
    "ge.starts_streams",
    "ge.huge_streams",
)


def choose_huge_streams(
    model: SyncModel, counts: QueueCounts, limits: StreamLimits, main_streams: int
) -> list[int]:
    """The streams of a model in single-stream mode that have to be huge (section 8.2): stream 0 or none.

    Raises StreamLimitError for several main streams.
    """
    if main_streams > 1:
        raise StreamLimitError(
            f"single-stream mode, but the model has {main_streams} main streams", code=INTERNAL
        )
    if not needs_huge_stream(model, counts, limits.normal()):
        return []
    if limits.huge_tasks is None:
        emit_remark(
            model.root,
            GeSplitStreams.name,
            "missed",
            "the model needs a huge stream, which the device does not have",
        )
        return []
    return [0]


def split_streams(
    model: SyncModel,
    counts: QueueCounts,
    limits: StreamLimits,
    events: Events,
    huge: bool = False,
) -> Split:
    """Cut the streams of a model (sections 8.3 to 8.6). A model without streams is not cut and no limit is looked at.

    Raises StreamLimitError and SyncError.
    """
    if model.streams == 0:
        return Split(0)
    most = limits.huge_tasks if huge and limits.huge_tasks is not None else limits.normal()
    return Splitter(model, entry_table(model, counts, most), counts, most, events).run()


@dataclass(frozen=True)
class GeSplitStreams(ModulePass):
    """Cut each stream whose tasks do not fit into the device's queue.

    Expects Send and Recv nodes (`ge-insert-sync-nodes`) and everything that decides about tasks. A stream is cut
    before the node with which its queue entries, and 27 in reserve, would exceed `max_tasks`; entries are counted by
    `analysis.task_count`, which the lowering keeps to (spec/streams.md sections 8.1 to 8.6). No cut before a node that
    owns sub-graphs, one with `subgraph_first_active`, or a label, goto or label switch; nodes with the same
    `_continuous_stream_label` stay together. Guarantees afterwards: pieces have the numbers behind all streams, in
    order of the cuts; an event joins each piece to the one before it (noted on nodes, as `ge-insert-events` does; run
    `ge-insert-sync-nodes` again); `ge.split_streams` and `ge.stream_num` on the root graph, `ge.starts_streams` on the
    first node of a piece. Who starts the pieces is for `ge-update-active-streams`. A model of unknown shape has no task
    list that could fill a queue, and is left alone.

    Options:
    * `max_tasks`: queue entries of a normal stream.
    * `max_huge_tasks`: queue entries of a huge stream; 0: the device has none.
    * `single_stream`: the model is to be on one stream; it is then made huge rather than cut, as far as that goes.
    * `unlimited_depth`: the device's streams take any number of tasks; nothing is done.
    * `device`: a device profile (docs/device_profiles.md) whose `[limits]` take the place of these three.

    Raises StreamLimitError for several streams in single-stream mode and a device that does not say what it takes,
    ProfileError for an unknown device, SyncError for nodes that cannot be kept together,
    TaskGenerationError for a node whose tasks cannot be counted.

    Before and after (max_tasks = 29, so that two entries fit):

        a {ge.stream = 0}, b {ge.stream = 0}, c {ge.stream = 0}
        a {ge.stream = 0}, b {ge.stream = 0, ge.send_events = [0]}, c {ge.stream = 1, ge.recv_events = [0]}
    """

    name = "ge-split-streams"

    max_tasks: int = 1024
    max_huge_tasks: int = 8192
    single_stream: bool = False
    unlimited_depth: bool = False
    device: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if self.device:
            limits = StreamLimits.of(load_profile(self.device).limits)
        else:
            limits = StreamLimits(self.max_tasks, self.max_huge_tasks or None, self.unlimited_depth)
        if model is None or limits.is_unlimited():
            return
        if _is_dynamic(op):
            said = "streams left whole: the host issues their work as it goes"
            emit_remark(model.root, self.name, "analysis", said, condition="unknown-shape")
            return
        counts = PlannedCounts(model)
        huge: list[int] = []
        if self.single_stream:
            used = 1 + max((stream_of(node) for node in model.nodes), default=-1)
            main_streams = get_int(model.root, MAIN_STREAM_NUM, used) or 0
            huge = choose_huge_streams(model, counts, limits, main_streams)
            if huge:
                model.root.attributes[HUGE_STREAMS] = i64_array(huge)
        events = Events.read(model)
        split = split_streams(model, counts, limits, events, bool(huge))
        counts.close()
        if not split.logic_of:
            return
        events.write(model)
        note_split(model, split)
        for stream, pieces in sorted(split.pieces().items()):
            emit_remark(
                model.root,
                self.name,
                "passed",
                f"stream {stream} goes on as {', '.join(map(str, pieces))}",
                stream=stream,
                pieces=len(pieces),
            )


def _is_dynamic(module: ModuleOp) -> bool:
    """Whether some value has no size before the model runs, so that no task list can be made."""
    return any(
        type_reason(result.type) is not None
        for graph in graphs(module)
        for op in graph.block.ops
        for result in op.results
    )


def note_split(model: SyncModel, split: Split) -> None:
    """Keep on the graph and its nodes what was split."""
    model.set_count(STREAM_NUM, split.total)
    model.root.attributes[SPLIT_STREAMS] = string(split_text(split))
    for node, pieces in split.starts.items():
        set_ints(node, STARTS_STREAMS, pieces)
