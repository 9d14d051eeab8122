"""Pass `ge-insert-sync-nodes`: events become Send and Recv nodes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.events import LIST_NAMES, SIDE_NAMES, Events
from ge_dialect.transforms.sync.model import SyncModel
from ge_dialect.transforms.sync.sync_nodes import generate_sync_nodes


@dataclass(frozen=True)
class GeInsertSyncNodes(ModulePass):
    """Make a Send and a Recv node of every event that is noted on nodes.

    Expects the events of the sync passes before it, or of `ge-split-streams`. The Recv nodes of a node stand right
    before it, its Send nodes right behind it, on the node's stream (or the attached stream that is meant), and control
    edges join them to it; they are called `<root graph>_Send_<id>`, `..._Recv_<id>`, `..._Send_Notify_<id>` and
    `..._Recv_Notify_<id>`, with `_Reuse_<n>` behind it for further uses of an id (spec/streams.md section 11).
    Guarantees afterwards: no `ge.send_events` and the like are left; ids of nodes from before are not changed.

    Raises SyncError when as many events are not received as are sent.

    Before and after:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0>} : tensor<2xf32>
        %b = ge.op "Exp" (%a) {ge.name = "b", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>} : tensor<2xf32>

        %a, %done = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>, !ge.control
        ge.send (%done) event_id 0 {ge.name = "main_Send_0", ge.stream = 0 : i64}
        %go = ge.recv event_id 0 {ge.name = "main_Recv_0", ge.stream = 1 : i64} : !ge.control
        %b = ge.op "Exp" (%a, %go) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
    """

    name = "ge-insert-sync-nodes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        events, notifies = Events.read(model, "event"), Events.read(model, "notify")
        made = generate_sync_nodes(model, events, notifies)
        names = (*LIST_NAMES["event"], *LIST_NAMES["notify"], *SIDE_NAMES)
        for node in model.nodes:
            for name in names:
                node.attributes.pop(name, None)
        if made:
            emit_remark(model.root, self.name, "passed", f"{made} nodes", nodes=made)
