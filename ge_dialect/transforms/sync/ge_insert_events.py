"""Pass `ge-insert-events`: an event for every edge between two streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.activation import Labels
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.insertion import insert_events
from ge_dialect.transforms.sync.model import SyncModel


@dataclass(frozen=True)
class GeInsertEvents(ModulePass):
    """Note an event for every data and control edge whose ends are on different streams.

    Expects streams on all nodes behind nodes with streams, and `ge-activate-streams`. Covers edges inside graphs, nodes
    without inputs at the entry of a sub-graph (behind what feeds its owner) and the node marked `_subgraph_end_node` at
    its exit (before what follows its owner); an edge that the activation of the reader's label orders needs none
    (spec/streams.md sections 6.1 to 6.5). Guarantees afterwards: `ge.send_events` and `ge.recv_events` on the nodes and
    `ge.event_num` on the root graph; no node is added. Repeated and implied events are for `ge-optimize-events`.

    Options:
    * `kind`: `event`, or `notify` (GE's option `ge.event`): then the attributes are `ge.send_notifies`,
      `ge.recv_notifies` and `ge.notify_num`.

    Raises SyncError, naming the node, for one without stream behind one that has a stream.

    Before and after:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Exp" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64, ge.send_events = array<i64: 0>} : tensor<2xf32>
        %b = ge.op "Exp" (%a) {ge.name = "b", ge.stream = 1 : i64, ge.recv_events = array<i64: 0>} : tensor<2xf32>
    """

    name = "ge-insert-events"

    kind: Literal["event", "notify"] = "event"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        events = Events.read(model, self.kind)
        before = events.count
        insert_events(model, Labels.of(model), events)
        events.write(model)
        added = events.count - before
        emit_remark(
            model.root, self.name, "passed", f"{added} {self.kind}s between streams", added=added
        )
