"""Pass `ge-reuse-events`: events that never run together share an id."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.ge_optimize_events import KINDS
from ge_dialect.transforms.sync.model import SyncModel
from ge_dialect.transforms.sync.reuse import REUSE_THRESHOLD, multiplex, reuse_in_gears


@dataclass(frozen=True)
class GeReuseEvents(ModulePass):
    """Share event ids between the gears of a model, and where nodes ask for it.

    Expects `ge-optimize-events`. One branch of a `Case` with `_batch_num` (a gear) runs in a step, so the events inside
    its branches have the same ids, events outside others (spec/streams.md section 7.5). More than `threshold` events
    left: `_event_multiplexing` of nodes (`SendTo;<node>;<k>`, `RecvFrom;<node>;<k>`) puts events with equal `k` on one
    id (section 7.6); that the events do not overlap is the word of whoever wrote it. Guarantees afterwards: ids without
    gaps and their number on the root graph.

    Options:
    * `threshold`: events above which multiplexing is heeded; 65500 as in the reference.

    Raises SyncError, naming the node, for a wish that is malformed or names no node, and for gears nested too deep.

    Before and after (two branches of one Case):

        a {ge.send_events = [0]}, b {ge.recv_events = [0]}    c {ge.send_events = [1]}, d {ge.recv_events = [1]}
        a {ge.send_events = [0]}, b {ge.recv_events = [0]}    c {ge.send_events = [0]}, d {ge.recv_events = [0]}
    """

    name = "ge-reuse-events"

    threshold: int = REUSE_THRESHOLD

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        for kind in KINDS:
            events = Events.read(model, kind)
            saved = reuse_in_gears(model, events)
            if kind == "event":
                saved += multiplex(model, events, self.threshold)
            events.write(model)
            if saved:
                emit_remark(
                    model.root,
                    self.name,
                    "passed",
                    f"{saved} {kind} ids saved, {events.count} left",
                    saved=saved,
                    left=events.count,
                )
