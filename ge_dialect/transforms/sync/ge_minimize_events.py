"""Pass `ge-minimize-events`: no event that streams and other events imply."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark, remarks_wanted
from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.sync.certificate import Covered, Necessary, certificate
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.ge_optimize_events import KINDS
from ge_dialect.transforms.sync.minimization import minimize_events, senders_in_graph
from ge_dialect.transforms.sync.model import SyncModel, stream_of


@dataclass(frozen=True)
class GeMinimizeEvents(ModulePass):
    """Keep the least set of events that orders what the noted events order.

    Expects `ge-insert-events`, with or without `ge-optimize-events`; not part of the reference. An event is dropped
    when its sender is done for certain before its receiver starts without it: by the order of nodes on streams and by
    other events of the same graph. What is left is the cross-stream part of the transitive reduction and therefore
    unique, and each event in it is necessary; `ge-verify-sync` proves that nothing is missing. Guarantees afterwards:
    ids as after `ge-optimize-events`. Stream clocks make it linear: events times streams; graphs with more than 64
    streams are reduced with rows of bits instead, whatever their streams.

    Remarks (`ge-opt --remarks=json` for programs) are the certificate: one for each event that is kept, which says how
    much of the sender's stream is known to be done without it, and one for each that is dropped, which says what it is
    implied by.

    Before and after (streams 0, 1 and 2):

        a {send_events = [0, 1]}, b {recv_events = [0], send_events = [2]}, c {recv_events = [1, 2]}
        a {send_events = [0]},    b {recv_events = [0], send_events = [1]}, c {recv_events = [1]}
    """

    name = "ge-minimize-events"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        tables = [Events.read(model, kind) for kind in KINDS]
        before = senders_in_graph(model, tables) if remarks_wanted() else {}
        for events, dropped in zip(tables, minimize_events(model, tables), strict=True):
            if not dropped:
                continue
            events.renumber(model)
            events.write(model)
            emit_remark(
                model.root,
                self.name,
                "passed",
                f"{dropped} {events.kind}s dropped, {events.count} left, each of which is necessary",
                dropped=dropped,
                left=events.count,
            )
        for graph, evidence in certificate(model, before, tables) if before else ():
            self._certify(graph, evidence)

    def _certify(self, graph: GraphOp, evidence: list[Necessary | Covered] | None) -> None:
        if evidence is None:
            emit_remark(graph, self.name, "missed", "no certificate: too many streams and events")
            return
        for each in evidence:
            ends = {
                "sender": node_name(each.sender),
                "sender_stream": stream_of(each.sender),
                "receiver": node_name(each.receiver),
                "receiver_stream": stream_of(each.receiver),
            }
            if isinstance(each, Necessary):
                known = None if each.known is None else node_name(each.known)
                emit_remark(
                    each.receiver, self.name, "analysis", str(each), kept=True, known=known, **ends
                )
            else:
                through = node_name(each.through)
                emit_remark(
                    each.receiver,
                    self.name,
                    "analysis",
                    str(each),
                    kept=False,
                    by=each.by,
                    through=through,
                    **ends,
                )
