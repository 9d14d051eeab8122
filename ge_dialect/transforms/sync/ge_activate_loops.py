"""Pass `ge-activate-loops`: the end of the iteration loop starts the next round."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.activation import specific_streams
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.loops import activate_loop
from ge_dialect.transforms.sync.model import SyncModel


@dataclass(frozen=True)
class GeActivateLoops(ModulePass):
    """Let the node that ends the iteration loop start every stream that no other node starts.

    Expects `ge-activate-streams` and `ge-activate-switches`. The node is the first with `is_loop_active` and without
    `_active_label_list`. The loop's switch, up to two control edges before it, waits for the last node of each of these
    streams that stands in the root graph and not on the stream of a switch (spec/streams.md section 9.4). Guarantees
    afterwards: `active_stream_list` on the node, the events on the ends; a model without such a node stays as it is.

    Before and after:

        ge.stream_active (%switch) attrs {is_loop_active = true} {ge.name = "again", ge.stream = 2 : i64}
        ge.stream_active (%switch) active_stream_list [0, 1] attrs {is_loop_active = true} {ge.name = "again", ...}
    """

    name = "ge-activate-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        events = Events.read(model)
        before = events.count
        unswitched = activate_loop(model, specific_streams(model), model.streams, events)
        if unswitched is not None:
            emit_remark(
                unswitched, self.name, "missed", "no StreamSwitch stands before the end of the loop"
            )
        if events.count > before:
            events.write(model)
