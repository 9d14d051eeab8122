"""Pass `ge-partition-dynamic`: the parts of a dynamic graph whose shapes are known become graphs of their own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.order import is_sorted, topological_order
from ge_dialect.analysis.remarks import emit_remark, remarks_wanted
from ge_dialect.dialects.ge.access import ge_type as type_of
from ge_dialect.dialects.ge.access import get_flag, graph_table, graphs, node_name, set_flag
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.dynamic.clusters import Partition, partition
from ge_dialect.transforms.dynamic.extraction import extract
from ge_dialect.transforms.dynamic.owned_graphs import owned_graphs
from ge_dialect.transforms.host.gates import is_dynamic, is_single_op

PARTITIONED = "ge.dynamic_shape_partitioned"

DEFAULT_MIN_NODES = 4


@dataclass(frozen=True)
class GePartitionDynamic(ModulePass):
    """Cut the graphs of a dynamic model into clusters of known shape, called by one node each, and nodes for the host.

    Expects engines and, so that nodes on tiny tensors stay out of clusters, `ge-host-exec`. A node is of known shape
    when all its inputs and outputs have sizes before the model runs. Clusters are joined along data edges as far as
    that makes no cycle. Out of every cluster stay: nodes on the host CPU, shape inspectors and views of values on the
    host; nodes that own graphs, whose output sizes depend on data, that read variables or are ordered by control edges.

    Guarantees afterwards: each cluster is a graph `<graph>_known_<n>` with `ge.unknown_shape = false` that one
    PartitionedCall owns; the root has `ge.dynamic_shape_partitioned`; what was cut is in topological order. A static
    model, a single-operator graph and a graph that is partitioned already stay as they are. The graphs that If, Case
    and loops own are cut too, but for bodies of loops in which a carried value of a declared size may get another.

    Options:
    * `min-nodes`: a cluster with fewer nodes that compute stays with the host (GE: `static_model_ops_lower_limit`, also
      4); -1: no cluster at all.

    Remarks: one for each cluster, one for each node that stays with the condition (`unknown`, `host`, `control`,
    `variable`, `min-nodes`), one for each body that is left alone (`carried`).

    Before and after:

        %a = ge.op "Exp" (%x) {...} : tensor<8x8xf32>
        ...
        %i = ge.op "NonZero" (%d) <source = "ai.onnx::NonZero@13"> {...} : tensor<2x?xi64>

        %d = ge.op "PartitionedCall" (%x) <subgraphs = [@main_known_0]> {...} : tensor<8x8xf32>
        %i = ge.op "NonZero" (%d) <source = "ai.onnx::NonZero@13"> {...} : tensor<2x?xi64>
    """

    name = "ge-partition-dynamic"

    min_nodes: int = DEFAULT_MIN_NODES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found:
            return
        root = found[0]
        if (reason := _skip_reason(op, root)) is not None:
            said = f"graph left alone: {reason}"
            emit_remark(root, self.name, "analysis", said, condition=reason)
            return
        taken = set(graph_table(op))
        owned = list(owned_graphs(op, root))
        self._cut(op, root, taken)
        set_flag(root, PARTITIONED)
        for each in owned:
            if each.refusal is None:
                self._cut(op, each.graph, taken)
            else:
                said = f"graph left alone: {each.refusal}"
                emit_remark(each.graph, self.name, "analysis", said, condition="carried")

    def _cut(self, module: ModuleOp, root: GraphOp, taken: set[str]) -> None:
        """Cut one graph; `taken` are the names of graphs in the module."""
        block = root.block
        ops = list(block.ops)
        if not is_sorted(ops):
            ops = topological_order(ops)
        found = partition(ops)
        sunk = [x for x in found.clusters if 0 <= self.min_nodes <= x.size and x.size]
        place = module.body.block
        number = 0
        for cluster in sunk:
            while (name := f"{root.sym_name.data}_known_{number}") in taken:
                number += 1
            taken.add(name)
            graph, call = extract(cluster.members, name)
            place.add_op(graph)
            emit_remark(
                call,
                self.name,
                "passed",
                f"{cluster.size} nodes of known shape become @{name}",
                nodes=cluster.size,
                inputs=len(call.operands),
                outputs=len(call.results),
            )
        if sunk or not is_sorted(list(block.ops)):
            _sort(root)
        if remarks_wanted():
            self._report(found, {id(x) for x in sunk})

    def _report(self, found: Partition, sunk: set[int]) -> None:
        for op, (condition, reason) in found.unknown.items():
            said = f'{type_of(op)} "{node_name(op)}" is scheduled by the host: {reason}'
            emit_remark(op, self.name, "missed", said, condition=condition, type=type_of(op))
        for cluster in found.clusters:
            if id(cluster) in sunk:
                continue
            for op in cluster.members:
                said = f'{type_of(op)} "{node_name(op)}" is scheduled by the host: its cluster has {cluster.size} nodes'
                emit_remark(op, self.name, "missed", said, condition="min-nodes", type=type_of(op))


def _skip_reason(module: ModuleOp, root: GraphOp) -> str | None:
    if get_flag(root, PARTITIONED):
        return "partitioned"
    if is_single_op(root):
        return "single-op-scene"
    return None if is_dynamic(root) or not is_known(module) else "static-graph"


def _sort(root: GraphOp) -> None:
    block = root.block
    ops = list(block.ops)
    if is_sorted(ops):
        return
    order = topological_order(ops)
    for op in ops:
        block.detach_op(op)
    block.add_ops(order)
