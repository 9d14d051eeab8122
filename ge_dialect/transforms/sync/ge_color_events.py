"""Pass `ge-color-events`: as few event ids as the order of nodes allows."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.transforms.sync.coloring import EXACT_LIMIT, color_events
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import SyncModel


@dataclass(frozen=True)
class GeColorEvents(ModulePass):
    """Let events share an id when one is certainly over before the other begins.

    Expects `ge-optimize-events` or `ge-minimize-events`, and runs before passes that note more events; not part of the
    reference. A wait resets its event, so a later event may use the id again if the record of it, and the arrival of
    its stream at the wait, come after that wait: proven by streams and events alone. Only events inside the root graph
    take part, and none in a model with an iteration loop. Guarantees afterwards: the fewest ids possible (up to
    `exact_limit` events; above, ids are given first come, first served); `ge.event_num` on the root graph.

    Options:
    * `exact_limit`: events up to which the number of ids is the minimum; the time is quadratic in them.

    Before and after:

        a {ge.stream = 0, send_events = [0]}, b {1, recv_events = [0], send_events = [1]}, c {0, recv_events = [1]}
        a {ge.stream = 0, send_events = [0]}, b {1, recv_events = [0], send_events = [0]}, c {0, recv_events = [0]}
    """

    name = "ge-color-events"

    exact_limit: int = EXACT_LIMIT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        model = SyncModel.of(op)
        if model is None:
            return
        events = Events.read(model)
        coloring = color_events(model, events, self.exact_limit)
        if coloring is None:
            emit_remark(model.root, self.name, "missed", "the model has an iteration loop")
            return
        before = events.count
        numbers = {event: event for ids in events.lists() for event in ids}
        for chain in coloring.chains:
            for event in chain:
                numbers[event] = chain[0]
        events.replace(numbers)
        events.renumber(model)
        events.write(model)
        if before:
            emit_remark(
                model.root,
                self.name,
                "passed",
                f"{before} ids became {events.count}"
                + ("" if coloring.exact else ", maybe more than needed"),
                before=before,
                left=events.count,
                exact=coloring.exact,
            )
