"""Pass `ge-topo-sort`: block order becomes a topological order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.order import is_sorted, topological_order
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import graphs


@dataclass(frozen=True)
class GeTopoSort(ModulePass):
    """Put the nodes of every graph into an order in which each stands behind what it reads.

    Expects any order; data and control edges count alike. Guarantees afterwards: block order is a topological order
    and so the order of issue. A graph that is sorted already is left as it is.

    Options:
    * `mode`: `stable` (the only one): among the nodes whose producers are all placed, the one that stood first in the
      block comes next.

    Raises GeError for a cycle, naming its nodes.

    Before and after (generic form, as the custom one cannot name a value before it is made):

        %b = "ge.op"(%a) <{type = "Exp"}> ...        %a = "ge.op"() <{type = "Range"}> ...
        %a = "ge.op"() <{type = "Range"}> ...        %b = "ge.op"(%a) <{type = "Exp"}> ...
    """

    name = "ge-topo-sort"

    mode: Literal["stable"] = "stable"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in graphs(op):
            block = graph.block
            ops = list(block.ops)
            if is_sorted(ops):
                continue
            order = topological_order(ops)
            for node in ops:
                block.detach_op(node)
            block.add_ops(order)
            moved = sum(before is not after for before, after in zip(ops, order, strict=True))
            emit_remark(
                graph, self.name, "passed", f"{moved} nodes changed their place", moved=moved
            )
