"""Pass `ge-cover-attached-streams`: a step ends when the attached streams are done too."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.attached_events import cover_attached_streams, describe_uncovered
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import SyncModel


@dataclass(frozen=True)
class GeCoverAttachedStreams(ModulePass):
    """Note one event from the last node of each attached stream to the output of its graph.

    Expects `ge-activate-loops`; runs right before `ge-insert-sync-nodes`, which orders the events' numbers behind all
    others (spec/streams.md section 6.7). Guarantees afterwards: the output of a graph waits for all of them. A graph
    without output leaves its attached streams uncovered; a remark says so.

    Before and after:

        m {attached stream 1}, out {ge.stream = 0}
        m {ge.attached_send_events = {"1" = [0]}}, out {ge.stream = 0, ge.recv_events = [0]}
    """

    name = "ge-cover-attached-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        events = Events.read(model)
        before = events.count
        for node in cover_attached_streams(model, events):
            emit_remark(node, self.name, "missed", describe_uncovered(node))
        if events.count > before:
            events.write(model)
