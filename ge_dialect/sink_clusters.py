"""Pass `ge-sink-clusters`: each part of known shape is compiled as a model of its own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.ge.access import (
    ge_type,
    get_flag,
    graph_table,
    graphs,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.pipeline import NoTaskMode, sunk_passes
from ge_dialect.transforms.order.ge_topo_sort import OrderMode
from ge_dialect.transforms.streams.schedule.graph import DEFAULT_DEVICE


@dataclass(frozen=True)
class GeSinkClusters(ModulePass):
    """Turn the graphs that PartitionedCalls of a dynamic root own, where their shapes are known, into task lists.

    Expects what `ge-partition-dynamic` leaves. Each graph that is marked `ge.unknown_shape = false` goes through the
    rest of `ge-pipeline`, alone in a module, as GE builds a model of each known part; so all that holds for static
    models (no-task joins, streams, memory, events) holds for clusters. A static model is left alone.
    Guarantees afterwards: a `ge_task.model` of the graph's name stands beside the root graph, and the graph is gone.
    `convert-ge-to-ge-task` makes the call one `execute` step.

    Options:
    * `no-task`, `order`, `streams`, `device`: as in `ge-pipeline`.

    Raises what the passes of the pipeline raise.

    Before and after:

        ge.graph @main { ... ge.op "PartitionedCall" (%x) <subgraphs = [@main_known_0]> ... }
        ge.graph @main_known_0 attributes {ge.unknown_shape = false} { ... }

        ge.graph @main { ... ge.op "PartitionedCall" (%x) <subgraphs = [@main_known_0]> ... }
        ge_task.model @main_known_0 { ... }
    """

    name = "ge-sink-clusters"

    no_task: NoTaskMode = "faithful"
    order: OrderMode = "stable"
    streams: str = "single"
    device: str = DEFAULT_DEVICE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in _clusters(op):
            place = op.body.block
            place.detach_op(graph)
            alone = ModuleOp([graph])
            for each in sunk_passes(self.no_task, self.order, self.streams, self.device):
                each.apply(ctx, alone)
            for made in list(alone.body.block.ops):
                alone.body.block.detach_op(made)
                place.add_op(made)
                emit_remark(
                    made, self.name, "passed", f"@{graph.sym_name.data} is sunk as one task list"
                )


def _clusters(module: ModuleOp) -> list[GraphOp]:
    """The graphs of known shape that calls own, in the order of the calls; calls in graphs of control flow too."""
    found = graphs(module)
    if not found or is_known(module):
        return []
    table = graph_table(module)
    clusters: dict[GraphOp, None] = {}
    for op, _ in walk_nodes(module):
        if ge_type(op) != "PartitionedCall":
            continue
        for name in subgraph_names(op):
            graph = table.get(name)
            if graph is not None and _is_marked_known(graph):
                clusters[graph] = None
    return list(clusters)


def _is_marked_known(graph: GraphOp) -> bool:
    return "ge.unknown_shape" in graph.attributes and not get_flag(graph, "ge.unknown_shape")
