"""Pass `ge-topo-sort`: block order becomes a topological order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.order import is_sorted, topological_order
from ge_dialect.analysis.ordering import (
    breadth_first,
    depth_first,
    min_peak,
    reverse_depth_first,
)
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.engine_types import DATA_TYPES
from ge_dialect.dialects.ge.access import ge_type, graphs
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.order.edges import FIXED_TYPES, required_before
from ge_dialect.transforms.order.order_problem import order_problem, planned_bound

OrderMode: TypeAlias = Literal["stable", "bfs", "dfs", "rdfs", "min-peak"]


@dataclass(frozen=True)
class GeTopoSort(ModulePass):
    """Put the nodes of every graph into an order in which each stands behind what it reads.

    Expects any order; data and control edges count alike. `min-peak` expects what decides about memory: shapes, engines
    and the marks of the no-task passes. Guarantees afterwards: block order is a topological order and so the order of
    issue. Where a mode but `stable` changes the order, model inputs come first, as they stood; uses of memory that a
    node writes over stay on their side of it; collectives, stacks and queues keep their order; a graph with labels,
    switches, frames of loops or events keeps the stable order, with a remark. Nothing depends on names.

    Options:
    * `mode`:
      `stable`: among the nodes whose producers are all placed, the one that stood first in the block comes next. A
      graph that is sorted already is left as it is.
      `bfs`: breadth first. Nodes come in the order in which they get ready; what one node sets free, in block order.
      `dfs`: depth first. The node that got ready last comes next; of those that got ready together, the first in
      the block.
      `rdfs`: depth first from the end. From each node that nothing follows, in block order: its inputs slot by slot,
      each with all that it needs, then the node; a node stands as late as its first reader allows.
      `min-peak`: an order in which fewer bytes are in use at once (docs/order.md): the best of several orders, the
      stable one among them, and of a search around the peak. Never more bytes than `stable`. For graphs of known shape;
      others keep the stable order.

    Raises GeError for a cycle, naming its nodes, and LayoutError (`min-peak`) for runs of tensors that cannot be laid
    out.

    Before and after (generic form, as the custom one cannot name a value before it is made):

        %b = "ge.op"(%a) <{type = "Exp"}> ...        %a = "ge.op"() <{type = "Range"}> ...
        %a = "ge.op"() <{type = "Range"}> ...        %b = "ge.op"(%a) <{type = "Exp"}> ...
    """

    name = "ge-topo-sort"

    mode: OrderMode = "stable"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known = self.mode == "min-peak" and is_known(op)
        for graph in graphs(op):
            given = list(graph.block.ops)
            ops = given if is_sorted(given) else topological_order(given)
            if self.mode != "stable":
                ops = self._ordered(graph, ops, known)
            _rearrange(graph, given, ops)

    def _ordered(self, graph: GraphOp, ops: list[Operation], known: bool) -> list[Operation]:
        """The ops, which are sorted, in the order that the mode wants."""
        fixed = next((op for op in ops if ge_type(op) in FIXED_TYPES), None)
        if fixed is not None:
            why = f"a node of type {ge_type(fixed)} says something by its place"
            emit_remark(graph, self.name, "missed", f"order left as it is: {why}")
            return ops
        if self.mode == "min-peak" and not known:
            why = "shapes known at run time only"
            emit_remark(graph, self.name, "missed", f"order left as it is: {why}")
            return ops
        before = required_before(ops)
        if self.mode == "min-peak":
            _rearrange(
                graph, list(graph.block.ops), ops, silent=True
            )  # for those who look at the block
            return self._min_peak(graph, ops, before)
        return _inputs_first(ops, _traversed(self.mode, before))

    def _min_peak(
        self, graph: GraphOp, ops: list[Operation], before: Sequence[Sequence[int]]
    ) -> list[Operation]:
        problem = order_problem(graph, ops, before)
        found = min_peak(problem)
        stable = problem.peak(range(problem.count))
        order = _inputs_first(ops, found.order)
        proof = "which no order goes below"
        if found.peak > found.bound:
            proof = f"no order goes below {found.bound}"
        emit_remark(
            graph,
            self.name,
            "analysis",
            f"{found.peak} bytes in use at once, {proof}, {stable} in the stable order; by {found.method}",
            peak=found.peak,
            bound=found.bound,
            stable=stable,
            method=found.method,
        )
        if found.peak == stable:
            return ops
        # The planner, not our picture of it, has the last word.
        before_bytes = planned_bound(graph)
        _rearrange(graph, ops, order, silent=True)
        after_bytes = planned_bound(graph)
        _rearrange(graph, order, ops, silent=True)
        return order if after_bytes < before_bytes else ops


def _inputs_first(ops: Sequence[Operation], order: Sequence[int]) -> list[Operation]:
    """The ops in an order, but model inputs in front, as they stood."""
    inputs = [op for op in ops if ge_type(op) in DATA_TYPES and not op.operands]
    first = set(inputs)
    return [*inputs, *(ops[index] for index in order if ops[index] not in first)]


def _traversed(mode: OrderMode, before: Sequence[Sequence[int]]) -> list[int]:
    after: list[list[int]] = [[] for _ in before]
    for node, sources in enumerate(before):
        for source in sources:
            after[source].append(node)
    traverse = {"bfs": breadth_first, "dfs": depth_first, "rdfs": reverse_depth_first}[mode]
    return traverse(before, after)


def _rearrange(
    graph: GraphOp, given: list[Operation], order: list[Operation], *, silent: bool = False
) -> None:
    moved = sum(before is not after for before, after in zip(given, order, strict=True))
    if not moved:
        return
    for node in given:
        graph.block.detach_op(node)
    graph.block.add_ops(order)
    if not silent:
        emit_remark(
            graph, GeTopoSort.name, "passed", f"{moved} nodes changed their place", moved=moved
        )
