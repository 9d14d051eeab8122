"""Pass `ge-stream-max-concurrency`: everything that may run side by side does, with the fewest streams and events."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.concurrency import concurrent_chains
from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel
from ge_dialect.transforms.streams.auto_mode import effective_auto_mode
from ge_dialect.transforms.streams.custom_pass import CustomStreamPass, StreamContext
from ge_dialect.transforms.streams.own_streams import (
    follow_owner,
    is_scheduled,
    put_on_streams,
    taking_part,
)


@dataclass(frozen=True)
class GeStreamMaxConcurrency(CustomStreamPass):
    """Give two nodes one stream only when one waits for the other anyway; not part of the reference.

    Expects streams of the reference's chain up to `ge-stream-number`; runs before `ge-stream-refresh`. Guarantees
    afterwards: streams order no two nodes that edges leave free. The graph of
    dependencies is reduced to the edges that others do not imply, and the nodes are cut into the fewest chains along
    these (a maximum matching); each chain is a stream. No assignment that loses no concurrency needs fewer events:
    reduced edges less matched ones, which is what `ge-minimize-events` leaves behind (Kwon, Yu, Jeong, Chun: Nimble,
    NeurIPS 2020). There may be many streams; nobody counts them here. Exceptions: nodes with the same `_stream_label`
    and nodes of an engine that shares its stream with nobody (collectives) stay together, and graphs below another run
    on their owner's stream. Nothing happens when the root graph asks for an automatic mode of its own.

    Before and after, with a and b that both read x, and c that reads a and b:

        a {ge.stream = 0}, b {ge.stream = 0}, c {ge.stream = 0}
        a {ge.stream = 1}, b {ge.stream = 2}, c {ge.stream = 1}
    """

    name = "ge-stream-max-concurrency"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None or effective_auto_mode(root.graph, "").is_dag:
            return False
        return super().assign(model)

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        for view in model.graphs:
            if not is_scheduled(view):
                follow_owner(view, context)
                continue
            part = taking_part(view, model.engines)
            found = concurrent_chains(part.sources, part.lanes)
            put_on_streams(view, part, found.streams, context)
            emit_remark(
                view.graph,
                self.name,
                "passed",
                f"{found.count} streams; {found.reduced_edges} of {found.edges} edges order everything, "
                f"{found.syncs} of them between streams",
                streams=found.count,
                edges=found.edges,
                reduced_edges=found.reduced_edges,
                syncs=found.syncs,
            )
