"""Pass `ge-optimize-events`: events that others imply, dropped as the reference does, and ids without gaps."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.activation import Labels
from ge_dialect.transforms.sync.events import Events, SyncKind
from ge_dialect.transforms.sync.model import SyncModel
from ge_dialect.transforms.sync.optimization import (
    drop_events_of_switches,
    optimize_by_activation,
    optimize_by_recv,
    optimize_by_send,
)

KINDS: tuple[SyncKind, ...] = ("notify", "event")


@dataclass(frozen=True)
class GeOptimizeEvents(ModulePass):
    """Drop events that need not be there, and number the rest without gaps.

    Expects `ge-insert-events`. In this order (spec/streams.md sections 7.1 to 7.4): a stream waits for a node once,
    first come; a node waits for a stream once, for the last node of it; an event to a stream that is only started
    behind the sender is dropped, and so is every event that a StreamSwitch sends. No transitive reduction: that is
    `ge-minimize-events`. Guarantees afterwards: ids 0, 1, ... by the names of the sending nodes (section 10.2), the
    number on the root graph. Events and notifies are numbered apart.

    Raises SyncError for an event that is sent and not received, or received and not sent.

    Before and after:

        a {ge.stream = 0, ge.send_events = [0, 1]}, b {ge.stream = 1, ge.recv_events = [0]}, c {1, recv_events = [1]}
        a {ge.stream = 0, ge.send_events = [0]},    b {ge.stream = 1, ge.recv_events = [0]}, c {1}
    """

    name = "ge-optimize-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        streams = [nodes for _, nodes in model.by_stream()]
        labels = Labels.of(model)
        for kind in KINDS:
            events = Events.read(model, kind)
            by_send = optimize_by_send(streams, events)
            by_recv = optimize_by_recv(streams, events)
            by_activation = optimize_by_activation(model, labels, events)
            by_switch = drop_events_of_switches(events)
            events.renumber(model)
            events.write(model)
            if dropped := by_send + by_recv + by_activation + by_switch:
                emit_remark(
                    model.root,
                    self.name,
                    "passed",
                    f"{dropped} {kind}s dropped, {events.count} left",
                    by_send=by_send,
                    by_recv=by_recv,
                    by_activation=by_activation,
                    by_switch=by_switch,
                    left=events.count,
                )
