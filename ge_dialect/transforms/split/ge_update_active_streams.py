"""Pass `ge-update-active-streams`: whoever starts a stream starts its pieces."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import get_ints, get_text
from ge_dialect.transforms.split.active_streams import update_active_streams
from ge_dialect.transforms.split.ge_split_streams import SPLIT_STREAMS, STARTS_STREAMS
from ge_dialect.transforms.split.splitting import Split, parse_split_text
from ge_dialect.transforms.sync.activation import Labels, set_specific_streams, specific_streams
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import STREAM_NUM, SyncModel


def read_split(model: SyncModel) -> Split:
    """What `ge-split-streams` did to the model, less what has been taken up already."""
    starts: dict[Operation, list[int]] = {}
    for op in model.nodes:
        if (pieces := get_ints(op, STARTS_STREAMS)) is not None:
            starts[op] = pieces
    if not starts:
        return Split(model.streams)
    logic_of = dict(parse_split_text(get_text(model.root, SPLIT_STREAMS) or ""))
    return Split(min(logic_of, default=model.streams), logic_of, starts)


@dataclass(frozen=True)
class GeUpdateActiveStreams(ModulePass):
    """Extend the lists of streams to start by the pieces that `ge-split-streams` made.

    Expects `ge-split-streams` right before it. Labels gain the pieces of their
    streams, switches get a StreamActive where a label has several streams now, nodes start the pieces of their streams
    that begin in their graph, the head of a sub-graph starts those that nothing else starts, and the end of the
    iteration loop is looked at again (spec/streams.md section 9.5). Guarantees afterwards: every piece of a stream that
    is started is started too, and, with or without a split, no node starts its own stream or one that does not exist;
    `ge.stream_num` is up to date, `ge.starts_streams` is gone. Not for devices whose streams take any number of tasks
    (section 8.1).

    Raises SyncError for a list with an unknown stream and for a node that starts its own stream.

    Before and after (stream 1 was split into 1 and 2):

        ge.stream_active active_stream_list [1] {ge.name = "start", ge.stream = 0 : i64}
        ge.stream_active active_stream_list [1, 2] {ge.name = "start", ge.stream = 0 : i64}
    """

    name = "ge-update-active-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        split = read_split(model)
        events = Events.read(model)
        specific = specific_streams(model)
        labels = Labels.of(model, logic_of=split.logic_of)
        streams, unswitched = update_active_streams(model, split, labels, specific, events)
        if unswitched is not None:
            emit_remark(
                unswitched, self.name, "missed", "no StreamSwitch stands before the end of the loop"
            )
        set_specific_streams(model, specific)
        if split.logic_of or streams > split.total:
            model.set_count(STREAM_NUM, streams)
        events.write(model)
        for node in split.starts:
            node.attributes.pop(STARTS_STREAMS, None)
