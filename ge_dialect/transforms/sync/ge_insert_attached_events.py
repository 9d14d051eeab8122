"""Pass `ge-insert-attached-events`: attached streams wait for the values that they need."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import set_ge_attr
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.sync.attached_events import STREAM_INFO, insert_value_dependencies
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.insertion import has_any
from ge_dialect.transforms.sync.model import SyncModel


@dataclass(frozen=True)
class GeInsertAttachedEvents(ModulePass):
    """Note an event for each value that a node's attached stream depends on.

    Expects assigned attached streams and `ge-optimize-events` (the events noted here are not optimised). A node says
    which of its IR inputs its attached stream reads, in `_attached_stream_info_list` or, in the old form,
    `_attached_stream_info`; who makes these values sends, on its attached stream if it has one, and the node's attached
    stream receives (spec/streams.md section 6.6). Always events, never notifies. Guarantees afterwards:
    `ge.attached_send_events`, `ge.attached_recv_events` (a dictionary, stream -> ids); the old attribute is gone.

    Raises SyncError, naming the node, for an unknown input and for a node with several attached streams.

    Before and after (the attached stream of c is 3 and needs b's value):

        b {ge.stream = 1}, c {ge.stream = 1}
        b {ge.stream = 1, ge.send_events = [0]}, c {ge.stream = 1, ge.attached_recv_events = {"3" = [0]}}
    """

    name = "ge-insert-attached-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        events = Events.read(model)
        added = insert_value_dependencies(model, events)
        for node in model.nodes:
            if isinstance(node, GeNode) and has_any(node, (STREAM_INFO,)):
                set_ge_attr(node, STREAM_INFO, None)
        if added:
            events.write(model)
            emit_remark(model.root, self.name, "passed", f"{added} events", added=added)
