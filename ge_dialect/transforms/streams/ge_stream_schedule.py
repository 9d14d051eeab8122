"""Pass `ge-stream-schedule`: streams by simulated time."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel, stream_of
from ge_dialect.transforms.streams.auto_mode import MAX_AUTO_STREAMS, effective_auto_mode
from ge_dialect.transforms.streams.custom_pass import CustomStreamPass, StreamContext
from ge_dialect.transforms.streams.errors import bad_option
from ge_dialect.transforms.streams.own_streams import (
    follow_owner,
    is_scheduled,
    put_on_streams,
    taking_part,
)
from ge_dialect.transforms.streams.schedule.choice import Schedule, best_streams
from ge_dialect.transforms.streams.schedule.graph import DEFAULT_DEVICE, Clock
from ge_dialect.transforms.streams.schedule.problem import Problem
from ge_dialect.transforms.streams.schedule.reference import balanced, free_streams, keeps_lanes

DEFAULT_STREAMS = 4


def check_streams(streams: int) -> None:
    """Raises StreamError (E10001) for a number of streams that is none."""
    if not 1 <= streams <= MAX_AUTO_STREAMS:
        raise bad_option(
            "streams", str(streams), f"the number of streams is from 1 to {MAX_AUTO_STREAMS}"
        )


@dataclass(frozen=True)
class GeStreamSchedule(CustomStreamPass):
    """Put nodes on the streams on which the step is simulated to be shortest; not part of the reference.

    Expects streams of the reference's chain up to `ge-stream-number` and `ge.engine` on nodes; runs before
    `ge-stream-refresh`. HEFT's list scheduling in block order, which stays as it is (`ge-schedule-order`, before the
    chain, makes an order worth having): every node goes on the stream on which it is done first, under the costs of a
    device profile with events. The result is compared with one stream, with fewer streams, with the reference's own
    streams and with those of `LoadBalance`, each simulated with its least set of events; so it is never slower than
    these, and where nothing is gained (0.1 %) everything stays on one stream. Guarantees afterwards: at most `streams`
    streams in a graph, besides one for each `_stream_label` and for each engine that shares its stream with nobody
    (collectives). Graphs below another run on their owner's stream. Nothing happens when the root graph asks for an
    automatic mode of its own. Time: (nodes + edges) times `streams`.

    Options:
    * `streams`: from 1 to 64;
    * `device`: the device profile that says what nodes and events cost (a name or a `.toml` file);
    * `profile`: a CSV file with measured times (columns name, time_us), which win over the device profile's.

    Raises StreamError (E10001) for a number of streams out of range, GeError for a profile that cannot be read.

    Before and after, two long nodes of one input:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<9999999xf32>
        %b = ge.op "Exp" (%x) {ge.name = "b", ge.stream = 0 : i64} : tensor<9999999xf32>

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 1 : i64} : tensor<9999999xf32>
        %b = ge.op "Exp" (%x) {ge.name = "b", ge.stream = 2 : i64} : tensor<9999999xf32>
    """

    name = "ge-stream-schedule"

    streams: int = DEFAULT_STREAMS
    device: str = DEFAULT_DEVICE
    profile: str = ""

    def assign(self, model: StreamModel) -> bool:
        check_streams(self.streams)
        root = model.root
        if root is None or effective_auto_mode(root.graph, "").is_dag:
            return False
        return super().assign(model)

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        clock = Clock(model, self.device, self.profile)
        for view in model.graphs:
            if is_scheduled(view):
                self._run(view, clock, context)
            else:
                follow_owner(view, context)

    def _run(self, view: GraphNodes, clock: Clock, context: StreamContext) -> None:
        part = taking_part(view, clock.engines)
        problem = clock.problem(view, part)
        if not problem.times:
            return
        now = [stream_of(view.nodes[index]) for index in part.nodes]
        others = [balanced(problem, self.streams)]
        if free_streams(problem, now) <= self.streams and keeps_lanes(problem, now):
            others.append(now)
        best = best_streams(problem, self.streams, others)
        put_on_streams(view, part, best.streams, context)
        self._remark(view, problem, best)

    def _remark(self, view: GraphNodes, problem: Problem, best: Schedule) -> None:
        outcome, bound = best.outcome, problem.bound(self.streams)
        emit_remark(
            view.graph,
            self.name,
            "passed",
            f"{outcome.streams} streams, {outcome.events} events: {outcome.makespan:.1f} us, "
            f"one stream {problem.work:.1f} us, lower bound {bound:.1f} us",
            streams=outcome.streams,
            events=outcome.events,
            simulated_us=outcome.makespan,
            one_stream_us=problem.work,
            bound_us=bound,
        )
