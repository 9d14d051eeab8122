"""Pass `ge-plan-memory`: where every output lies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import unknown_reason
from ge_dialect.analysis.memory.layout_check import check_layout
from ge_dialect.analysis.memory.marks import HBM
from ge_dialect.analysis.memory_check import check_plan
from ge_dialect.analysis.packing import Bound
from ge_dialect.analysis.remarks import emit_remark, remarks_wanted
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge.access import data_operands, ge_type, graphs, set_int
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import DataOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.memory.busiest import busiest
from ge_dialect.transforms.memory.optimal.in_place import forget_overwrites
from ge_dialect.transforms.memory.optimal.plan import SearchOptions, best_plan, reference_plan
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import Plan, write_plan

CHECK_VARIABLE = "GE_CHECK_MEMORY"
"""The environment variable that turns `check` on everywhere, when it is set and not empty or 0."""


@dataclass(frozen=True)
class GePlanMemory(ModulePass):
    """Give every output of the root graph a place in a memory space.

    Expects a module of known shape (`ge_dialect.analysis.known_shape`) in topological order; of any other the graph is
    left alone, with a remark: its memory is allocated at run time. Engines and streams count where they are given.

    Guarantees afterwards (spec/memory.md 1.2 and 8.3, spec/tasks.md 6):
    * `ge.offsets` on every node with data outputs, -1 for one without memory; `ge.spaces` where not all are `hbm`;
      `ge.workspace_offsets` where there are `ge.workspace_bytes`;
    * `hbm` holds the feature map, then the zero-copy tail: model outputs in order of the nodes that make them
      (`reference`: in GE's order of blocks, largest first), then model inputs by ascending size. Constants lie in
      `weight`, variables in `var`. A model output that is a model input, a constant or a variable stays where that is;
    * blocks are multiples of 512 bytes and as large as the stored size; two of them share bytes only when all uses of
      the one are done before the other is written: by the order of nodes on one stream, by data edges, control edges
      and the order of each stream on several. Views, gates and outputs with `reuse_input` are their input's memory;
    * the graph has `ge.arenas`, `ge.zero_copy_size`, and of the feature map without the tail `ge.peak_bytes`,
      `ge.lower_bound_bytes` (what no plan for the same order and the same writing in place can do without),
      `ge.lower_bound_kind` (why) and `ge.plain_bound_bytes` (the bound when nothing is written in place). The kinds are
      `max live`: the most that is alive at one node of the one queue; `antichain`: the heaviest set of pieces of which
      no two are ordered, exact; `max live in one order`: the most alive in one order that the streams allow, which is
      what is known of several streams where there are more than 5000 pieces or the plan needs no more; `given`: one
      piece alone; `search`: all plans with less were tried.

    Options:
    * `mode`: `optimal`: offset packing, never more than `reference` needs. Members of runs are packed as groups at
      fixed distances, each member alive on its own. Several quick orders come first, then, as long as the bound is not
      reached, a search; see `docs/memory.md`. Graphs with switches of streams and merges get `reference`.
      `reference`: GE's block assigner (spec/memory.md): whole free blocks of one size first, then blocks inside blocks;
      across streams where a synchronisation orders them; inputs and outputs of continuous nodes end to end, and a
      node without task on its inputs' memory.
    * `in-place`: operators write over an operand that dies there (`reuse_input` of the output's slot). Not given: with
      `optimal` yes, with `reference` no, which has a table of its own for it (spec/memory.md section 9).
    * `budget-ms`, `search-nodes` (optimal): what the search may take, whichever ends first; nodes not given: ten
      million divided by the number of pieces. Where the nodes end it, the plan is the same on every machine.
    * `check`: after planning, check the plan against the graph alone (`ge_dialect.analysis.memory_check` and
      spec/memory.md section 11); an unsafe plan is an error. On as well when GE_CHECK_MEMORY is set in the environment.
    * `reuse`: `false` gives every output memory of its own.
    * `memory-priority`: try GE's four further variants with size classes too.
    * `release-first`: GE's assigner takes the free block that was released first, not last.
    * `reusable-inputs`, `reusable-outputs`: numbers of model inputs whose memory may be given on after
      their last reader, and of model outputs whose memory may hold something else before.

    Remarks: whose bytes make up the peak, at the node that runs then; peak, bound and ratio, at the graph.

    Raises GeError for runs of tensors that cannot be laid out, for an unsafe plan with `check`, and for options that
    are negative or name an input or output that the graph does not have.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2x64xf16>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.offsets = array<i64: 0>} : tensor<2x64xf16>
    """

    name = "ge-plan-memory"

    mode: Literal["optimal", "reference"] = "optimal"
    in_place: bool | None = None
    budget_ms: int = 1000
    search_nodes: int | None = None
    check: bool = False
    reuse: bool = True
    memory_priority: bool = False
    release_first: bool = False
    reusable_inputs: tuple[int, ...] = ()
    reusable_outputs: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found:
            return
        root = found[0]
        unknown = unknown_reason(op)
        if unknown is not None:
            emit_remark(
                unknown[0],
                self.name,
                "missed",
                f"not planned, memory is taken at run time: {unknown[1]}",
                condition="unknown",
            )
            return
        self._check_numbers(root)
        forget_overwrites(root)
        if self.mode == "reference":
            plan, plain_bound = reference_plan(root, self._options())
        else:
            search = SearchOptions(self.in_place is not False, self.budget_ms, self.search_nodes)
            best = best_plan(root, self._options(), search)
            best.write_marks()
            plan, plain_bound = best.plan, best.plain_bound
        write_plan(plan)
        self._report(root, plan, plain_bound)
        if self.check or os.environ.get(CHECK_VARIABLE, "0") not in ("", "0"):
            _check(root)

    def _check_numbers(self, root: GraphOp) -> None:
        """Raise GeError for options that no graph, or not this one, can have."""
        for option, value in (("budget-ms", self.budget_ms), ("search-nodes", self.search_nodes)):
            if value is not None and value < 0:
                raise GeError(f"{self.name}: {option} should not be negative, got {value}")
        there: dict[str, set[int]] = {"inputs": set(), "outputs": set()}
        for op in root.block.ops:
            if isinstance(op, DataOp):
                index = op.index
                there["inputs"].add(index.value.data if isinstance(index, IntegerAttr) else -1)
            elif ge_type(op) == "NetOutput":
                there["outputs"].update(range(len(data_operands(op))))
        for what, given in (("inputs", self.reusable_inputs), ("outputs", self.reusable_outputs)):
            wrong = next((number for number in given if number not in there[what]), None)
            if wrong is not None:
                raise GeError(
                    f"{self.name}: reusable-{what} names {wrong}, but the graph has {len(there[what])} {what}",
                    location_text(root),
                )

    def _options(self) -> PlanOptions:
        return PlanOptions(
            reuse=self.reuse,
            memory_priority=self.memory_priority,
            release_first=self.release_first,
            reusable_inputs=frozenset(self.reusable_inputs),
            reusable_outputs=frozenset(self.reusable_outputs),
            inplace=self.in_place is True,
        )

    def _report(self, root: GraphOp, plan: Plan, plain: Bound) -> None:
        root.attributes["ge.arenas"] = DictionaryAttr({k: i64(v) for k, v in plan.sizes.items()})
        peak, bound = plan.peak, plan.bound.bytes
        set_int(root, "ge.zero_copy_size", plan.sizes[HBM] - peak)
        set_int(root, "ge.peak_bytes", peak)
        set_int(root, "ge.lower_bound_bytes", bound)
        root.attributes["ge.lower_bound_kind"] = string(plan.bound.kind)
        set_int(root, "ge.plain_bound_bytes", plain.bytes)
        self._explain(plan)
        ratio = peak / bound if bound else 1.0
        order = plan.assignment.variant.name
        emit_remark(
            root,
            self.name,
            "analysis",
            f"peak {peak} bytes, lower bound {bound} ({plan.bound.kind}), ratio {ratio:.3f}, placed by {order}; "
            f"without writing in place at least {plain.bytes}",
            peak=peak,
            bound=bound,
            bound_kind=plan.bound.kind,
            ratio=ratio,
            order=order,
            plain_bound=plain.bytes,
        )

    def _explain(self, plan: Plan) -> None:
        """Say whose bytes make up the peak."""
        found = busiest(plan) if remarks_wanted() else None
        if found is not None:
            emit_remark(
                found.node.op,
                self.name,
                "analysis",
                found.text(),
                busiest=found.node.name,
                in_use=found.bytes,
                pieces=len(found.pieces),
            )


def _check(graph: GraphOp) -> None:
    """Raise GeError for a plan that is not safe."""
    problems = check_plan(graph) + check_layout(graph)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise GeError(f"the memory plan is not safe: {problems[0]}{more}", location_text(graph))
