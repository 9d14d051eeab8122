"""Pass `ge-insert-identity`: a copy where two nodes want of one memory what cannot be had together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.memory.model import Node, memory_graph
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.layout.anchors import Symbol, one_variable, symbols, together
from ge_dialect.transforms.layout.insertion import Copies
from ge_dialect.transforms.layout.rules import Point, Scene, alone, conflict
from ge_dialect.transforms.layout.settling import settle


@dataclass(frozen=True)
class GeInsertIdentity(ModulePass):
    """Resolve layout conflicts: where one memory would have to be at two places, or at one that is given, a node
    `Identity` copies it (spec/memory.md section 10).

    Conflicts are between the slots that share memory by references: model inputs and outputs, constants, continuous
    inputs and outputs, special memory, addresses that must stay. Expects all no-task marks; runs before the
    topological order is final and before streams, so that the copies get both.

    First the pairwise rules of the specification; then copies for the runs of inputs that still cannot lie end to end,
    which marks of the no-task passes never leave.

    Guarantees afterwards: `ge-plan-memory{mode=reference}` finds a place for every run of tensors.
    A copy has type `Identity`, runs on RTS, is marked `ge.keep` and stands before its first reader. A module of
    unknown shape is left alone, with a remark.

    Options:
    * `refreshable`: addresses of the feature map may change between steps;
    * `movable`: physical memory may move under it;
    * `build-mode`: a mode with `offline` in its name takes model inputs as places that no split without task may cut;
    * `heterogeneous`: the model runs on several devices; the same;
    * `settle`: `false` leaves it at the pairwise rules, as GE does. A run that reads one output twice then stays, and
      has no plan.

    Before and after (both concats want `%a` elsewhere):

        %p = ge.concat "PhonyConcat" (%a, %b) ...     %p = ge.concat "PhonyConcat" (%a, %b) ...
        %q = ge.concat "PhonyConcat" (%c, %a) ...     %i = ge.op "Identity" (%a) ...
                                                      %q = ge.concat "PhonyConcat" (%c, %i) ...
    """

    name = "ge-insert-identity"

    refreshable: bool = False
    movable: bool = False
    build_mode: str = ""
    heterogeneous: bool = False
    settle: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found:
            return
        if not is_known(op):
            emit_remark(
                found[0],
                self.name,
                "missed",
                "left alone: shapes known at run time only",
                condition="unknown",
            )
            return
        graphs_of = ModelGraphs.of(op)
        for graph in found:
            self._resolve(graph, graphs_of)

    def _resolve(self, graph: GraphOp, graphs_of: ModelGraphs) -> None:
        splits = not (
            "offline" in self.build_mode.lower()
            or self.heterogeneous
            or graphs_of.single_op_scene(graph)
        )
        scene = Scene(self.refreshable, self.movable, splits)
        model = memory_graph(graph)
        copies = Copies(model)
        for symbol in symbols(model):
            self._resolve_symbol(symbol, scene, copies)
        for node in settle(model, copies) if self.settle else ():
            self._report(node, "its inputs still cannot lie end to end")

    def _resolve_symbol(self, symbol: Symbol, scene: Scene, copies: Copies) -> None:
        anchors = symbol.anchors
        for index, first in enumerate(anchors):
            for second in anchors[index + 1 :]:
                if first.node is second.node or not together(first, second):
                    continue
                if one_variable(first, second):
                    continue
                points, reason = conflict(first, second, scene)
                self._insert(points, reason, copies)
            if symbol.size > 1:
                self._insert(alone(first, scene), f"{first} needs an address that stays", copies)

    def _insert(self, points: Iterable[Point], reason: str, copies: Copies) -> None:
        for point in points:
            node = copies.insert(point)
            if node is not None:
                self._report(node, reason)

    def _report(self, node: Node, reason: str) -> None:
        size = node.outputs[0].exact
        emit_remark(node.op, self.name, "passed", f"copied: {reason}", reason=reason, bytes=size)
