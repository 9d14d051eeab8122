"""Pass `ge-schedule-order`: the block order that a schedule on several streams asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.jumps import has_jumps
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.clusters import cluster_engine
from ge_dialect.analysis.streams.engines import EngineTable
from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel
from ge_dialect.dialects.ge import NetOutputOp
from ge_dialect.dialects.ge.access import ge_type
from ge_dialect.transforms.order.edges import FIXED_TYPES, required_before
from ge_dialect.transforms.streams.ge_cluster_engines import is_input
from ge_dialect.transforms.streams.ge_stream_schedule import DEFAULT_STREAMS, check_streams
from ge_dialect.transforms.streams.own_streams import is_scheduled, select
from ge_dialect.transforms.streams.schedule.choice import best_order
from ge_dialect.transforms.streams.schedule.graph import DEFAULT_DEVICE, Clock
from ge_dialect.transforms.streams.schedule.reference import balanced


@dataclass(frozen=True)
class GeScheduleOrder(ModulePass):
    """Put the nodes of each graph that gets streams of its own into the order in which list scheduling takes them.

    Expects a topological order (ge-topo-sort) and engines (ge-assign-engines); runs before `ge-assign-streams`, which
    changes no order: streams are queues in block order, so which node comes first on a stream is decided here. Tried
    are HEFT's upward ranks (what the longest way to the end leads through comes first). Guarantees afterwards: a
    topological order, the old one where no other saves 0.5 % of the simulated time on `streams` streams and in graphs
    with labels, switches, frames of loops or events; what runs without stream comes first, the output last; uses of
    memory that a node writes over stay on their side of it, collectives, stacks and queues keep their order. Not part
    of the reference. Costs memory: branches that take turns are alive together.

    Options:
    * `streams`, `device`, `profile`: as for `ge-stream-schedule`.

    Raises StreamError (E10001) for a number of streams out of range, GeError for a profile that cannot be read.

    Before and after, where c waits for b and takes long:

        %a = ge.op "Relu" (%x), %b = ge.op "Exp" (%x), %c = ge.op "Exp" (%b)
        %b = ge.op "Exp" (%x), %c = ge.op "Exp" (%b), %a = ge.op "Relu" (%x)
    """

    name = "ge-schedule-order"

    streams: int = DEFAULT_STREAMS
    device: str = DEFAULT_DEVICE
    profile: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_streams(self.streams)
        model = StreamModel(op)
        clock = Clock(model, self.device, self.profile)
        for view in model.graphs:
            if not is_scheduled(view):
                continue
            if has_jumps(view.nodes):
                said = "order left as it is: between labels and jumps it is what runs"
                emit_remark(view.graph, self.name, "missed", said, condition="jumps")
                continue
            self._sort(view, clock)

    def _sort(self, view: GraphNodes, clock: Clock) -> None:
        fixed = next((op for op in view.nodes if ge_type(op) in FIXED_TYPES), None)
        if fixed is not None:
            why = f"a node of type {ge_type(fixed)} says something by its place"
            emit_remark(view.graph, self.name, "missed", f"order left as it is: {why}")
            return
        part = select(view, clock.engines, _on_streams(view, clock.engines))
        problem = clock.problem(view, part)
        order = best_order(problem, self.streams, [balanced(problem, self.streams)])
        if order is None:
            return
        place = {view.nodes[part.nodes[node]]: number for number, node in enumerate(order)}
        block = view.graph.block
        before = list(block.ops)
        after = _sorted(before, place)
        for each in before:
            block.detach_op(each)
        block.add_ops(after)
        moved = sum(one is not other for one, other in zip(before, after, strict=True))
        emit_remark(
            view.graph, self.name, "passed", f"{moved} nodes changed their place", moved=moved
        )


def _on_streams(view: GraphNodes, engines: EngineTable) -> list[bool]:
    """Which nodes will have a stream: not inputs, and not what is computed from these alone without device tasks."""
    found: list[bool] = []
    for op, sources in zip(view.nodes, view.sources, strict=True):
        free = not any(found[source] for source in sources)
        passive = (
            "subgraphs" not in op.properties and cluster_engine(op, engines).skip_assign_stream
        )
        found.append(not (is_input(op) or (free and passive)))
    return found


def _sorted(ops: list[Operation], place: Mapping[Operation, int]) -> list[Operation]:
    """A topological order: what has no place as soon as possible, in the old order; the rest by place, the output
    last. Uses of memory that a node writes over stay on their side of it, collectives keep their order."""
    last = len(ops)
    keys = [
        (op in place, last if isinstance(op, NetOutputOp) else place.get(op, index), index)
        for index, op in enumerate(ops)
    ]
    missing: list[int] = []
    readers: list[list[int]] = [[] for _ in ops]
    for index, each in enumerate(required_before(ops)):
        missing.append(len(each))
        for source in each:
            readers[source].append(index)
    ready = [keys[index] for index, count in enumerate(missing) if count == 0]
    heapify(ready)
    order: list[Operation] = []
    while ready:
        index = heappop(ready)[2]
        order.append(ops[index])
        for reader in readers[index]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heappush(ready, keys[reader])
    return order
