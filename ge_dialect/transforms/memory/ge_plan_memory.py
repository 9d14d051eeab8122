"""Pass `ge-plan-memory`: where every output lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ge_dialect.analysis.aliases import is_view
from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.liveness import Liveness, Memory, Role, Workspace, liveness, stream_of
from ge_dialect.analysis.memory.layout_check import check_layout
from ge_dialect.analysis.memory_check import check_plan
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import i64, i64_array
from ge_dialect.dialects.ge.access import (
    data_results,
    ge_type,
    get_flag,
    graphs,
    node_name,
    set_int,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import ConcatOp, PackOp, SplitOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.memory.first_fit import Interval, Packing, pack
from ge_dialect.transforms.memory.places import HBM, NO_MEMORY, VARIABLE, WEIGHT, write_places
from ge_dialect.transforms.memory.reference.assign import assign, assign_first_fit
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import Plan, ask, finish, make_plan, write_plan

MAX_REFERENCE_REQUESTS = 5000
"""Up to so many pieces of memory mode `auto` tries GE's assigner too, whose time grows with their square."""

_SPACE_OF_ROLE = {Role.WEIGHT: WEIGHT, Role.VARIABLE: VARIABLE}


@dataclass(frozen=True)
class GePlanMemory(ModulePass):
    """Give every output of the root graph a place in a memory space.

    Expects a module of known shape (`ge_dialect.analysis.known_shape`) in topological order; of any other the graph is
    left alone, with a remark: its memory is allocated at run time. Engines and streams count where they are given.

    Guarantees afterwards (spec/memory.md 1.2 and 8.3, spec/tasks.md 6):
    * `ge.offsets` on every node with data outputs, -1 for one without memory; `ge.spaces` where not all are `hbm`;
      `ge.workspace_offsets` where there are `ge.workspace_bytes`;
    * `hbm` holds the feature map, then the zero-copy tail: model outputs in order of the nodes that make them (with
      `first-fit`: in their own), then model inputs by ascending size. Constants lie in `weight`, variables in `var`. A
      model output that is a model input, a constant or a variable stays where that is;
    * blocks are multiples of 512 bytes and as large as the stored size; two of them share bytes only when the last
      reader of the one stands before the writer of the other. Views, gates and outputs with `reuse_input` are their
      input's memory;
    * the graph has `ge.arenas`, `ge.zero_copy_size`, `ge.peak_bytes` and `ge.lower_bound_bytes`, the latter two of the
      feature map without the tail.

    Options:
    * `mode`: `auto`: what honours all marks and needs the fewest bytes. Where one stream runs everything, that is the
      lowest free place for each piece that `reference` would ask for (tried in four orders), and GE's assigner where
      it does better and the graph is not large; with several streams GE's assigner, for a large graph without
      no-task nodes `first-fit`.
      `first-fit`: the lowest free place, the best of four orders of placing. With more than one stream, each
      gets a part of the feature map of its own, and what another stream reads is not reused: right whatever events are
      set later, not tight. Refuses nodes that are marked `ge.no_task`.
      `reference`: GE's block assigner (spec/memory.md): whole free blocks of one size first, then blocks inside blocks;
      across streams where a synchronisation orders them; inputs and outputs of continuous nodes end to end, and a
      node without task on its inputs' memory.
    * `check`: after planning, check the plan against the graph alone (`ge_dialect.analysis.memory_check`, and but for
      `first-fit` also spec/memory.md section 11); an unsafe plan is an error.
    * `reuse` (auto, reference, as all that follow): `false` gives every output memory of its own.
    * `memory-priority`: try GE's four further variants with size classes too.
    * `release-first`: take the free block that was released first, not last.
    * `reusable-inputs`, `reusable-outputs`: numbers of model inputs whose memory may be given on after
      their last reader, and of model outputs whose memory may hold something else before.
    * `inplace`: elementwise nodes write over an input that dies there (`reuse_input` of the output's slot).

    Raises GeError for runs of tensors that cannot be laid out, and for an unsafe plan with `check`.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2x64xf16>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.offsets = array<i64: 0>} : tensor<2x64xf16>
    """

    name = "ge-plan-memory"

    mode: Literal["auto", "first-fit", "reference"] = "auto"
    check: bool = False
    reuse: bool = True
    memory_priority: bool = False
    release_first: bool = False
    reusable_inputs: tuple[int, ...] = ()
    reusable_outputs: tuple[int, ...] = ()
    inplace: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = graphs(op)
        if not found:
            return
        root = found[0]
        if not is_known(op):
            emit_remark(
                root,
                self.name,
                "missed",
                "not planned: shapes known at run time only",
                condition="unknown",
            )
            return
        if self.mode == "first-fit":
            self._first_fit(root)
        elif self.mode == "reference":
            self._write(root, make_plan(root, self._options()))
        else:
            self._auto(root)
        if self.check:
            _check(root, self.mode)

    def _first_fit(self, root: GraphOp) -> None:
        _refuse_no_task(root.block.ops)
        live = liveness(root)
        plan = _Plan()
        bound = live.lower_bound()
        order = plan.place_feature_map(live, bound)
        peak = plan.sizes[HBM]
        plan.place_tail(live.memory)
        plan.place_own_spaces(live.memory)
        plan.write(root, live)
        self._report(root, plan.sizes, peak, bound, order)

    def _options(self) -> PlanOptions:
        return PlanOptions(
            reuse=self.reuse,
            memory_priority=self.memory_priority,
            release_first=self.release_first,
            reusable_inputs=frozenset(self.reusable_inputs),
            reusable_outputs=frozenset(self.reusable_outputs),
            inplace=self.inplace,
        )

    def _auto(self, root: GraphOp) -> None:
        options = self._options()
        asked = ask(root, options, one_queue=True)
        large = len(asked.wanted.pool) > MAX_REFERENCE_REQUESTS
        if asked.graph.streams > 1:
            if large and not any(_lays_out(node.op) for node in asked.graph.nodes):
                self._first_fit(root)
            else:
                self._write(root, finish(asked, assign(asked.wanted, asked.edges, options)))
            return
        best = finish(asked, assign_first_fit(asked.wanted))
        if best.peak > best.bound and not large:
            other = finish(asked, assign(asked.wanted, asked.edges, options))
            best = min(best, other, key=lambda plan: plan.sizes[HBM])
        self._write(root, best)

    def _write(self, root: GraphOp, plan: Plan) -> None:
        write_plan(plan)
        self._report(root, plan.sizes, plan.peak, plan.bound, plan.assignment.variant.name)

    def _report(
        self, root: GraphOp, sizes: dict[str, int], peak: int, bound: int, order: str
    ) -> None:
        root.attributes["ge.arenas"] = DictionaryAttr({k: i64(v) for k, v in sizes.items()})
        set_int(root, "ge.zero_copy_size", sizes[HBM] - peak)
        set_int(root, "ge.peak_bytes", peak)
        set_int(root, "ge.lower_bound_bytes", bound)
        ratio = peak / bound if bound else 1.0
        emit_remark(
            root,
            self.name,
            "analysis",
            f"peak {peak} bytes, lower bound {bound}, ratio {ratio:.3f}, placed by {order}",
            peak=peak,
            bound=bound,
            ratio=ratio,
            order=order,
        )


def _check(graph: GraphOp, mode: str) -> None:
    """Raise GeError for a plan that is not safe."""
    problems = check_plan(graph)
    if mode != "first-fit":
        problems += check_layout(graph)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise GeError(f"the memory plan is not safe: {problems[0]}{more}", location_text(graph))


def _lays_out(op: Operation) -> bool:
    """Whether a node makes no task since its operands lie as its result does."""
    return (
        get_flag(op, "ge.no_task")
        and isinstance(op, ConcatOp | PackOp | SplitOp)
        and not is_view(op)
    )


def _refuse_no_task(ops: Iterable[Operation]) -> None:
    for op in ops:
        if _lays_out(op):
            raise GeError(
                f'node "{node_name(op)}" of type {ge_type(op)} makes no task; first fit does not lay out its operands',
                location_text(op),
            )


class _Plan:
    """Places found so far, and the bytes of each space."""

    def __init__(self) -> None:
        self.sizes = {HBM: 0, WEIGHT: 0}
        self.places: dict[int, int] = {}  # by id of a Memory, which `Liveness.memory` keeps alive
        self.workspaces: dict[Operation, dict[int, int]] = {}

    def place_feature_map(self, live: Liveness, bound: int) -> str:
        """Pack what is neither input nor output; answer the order that was best (of the first part)."""
        last = live.length - 1
        parts = _parts(live)
        orders: list[str] = []
        for stream, items in parts.items():
            intervals = [_interval(item, last, stream, several=len(parts) > 1) for item in items]
            packing: Packing = pack(intervals, bound if len(parts) == 1 else 0)
            for item, offset in zip(items, packing.offsets, strict=True):
                self._put(item, self.sizes[HBM] + offset)
            self.sizes[HBM] += packing.peak
            orders.append(packing.order)
        return orders[0] if orders else "start"

    def _put(self, item: Memory | Workspace, offset: int) -> None:
        if isinstance(item, Memory):
            self.places[id(item)] = offset
        else:
            self.workspaces.setdefault(item.op, {})[item.index] = offset

    def place_tail(self, memory: list[Memory]) -> None:
        """The zero-copy tail: outputs in order, then inputs by size."""
        outputs = [item for item in memory if item.role is Role.OUTPUT]
        inputs = [item for item in memory if item.role is Role.INPUT]
        outputs.sort(key=lambda item: item.io)
        inputs.sort(key=lambda item: (item.bytes, item.io))
        for item in (*outputs, *inputs):
            self._append(item, HBM)

    def place_own_spaces(self, memory: list[Memory]) -> None:
        """Constants and variables, in block order."""
        for item in memory:
            if (space := _SPACE_OF_ROLE.get(item.role)) is not None:
                self._append(item, space)

    def _append(self, item: Memory, space: str) -> None:
        at = self.sizes.get(space, 0)
        self.places[id(item)] = at
        self.sizes[space] = at + item.bytes

    def write(self, graph: GraphOp, live: Liveness) -> None:
        """Put the places on the nodes."""
        for op in graph.block.ops:
            if results := data_results(op):
                write_places(op, [self._place(live, result) for result in results])
            if (offsets := self.workspaces.get(op)) is not None:
                op.attributes["ge.workspace_offsets"] = i64_array(
                    [offsets[i] for i in range(len(offsets))]
                )

    def _place(self, live: Liveness, value: SSAValue) -> tuple[int, str]:
        memory = live.of.get(value)
        if memory is None:
            return NO_MEMORY, HBM
        return self.places[id(memory)], _SPACE_OF_ROLE.get(memory.role, HBM)


def _parts(live: Liveness) -> dict[int | None, list[Memory | Workspace]]:
    """What to pack, by the stream that writes it; one part when the graph uses a single stream."""
    feature = [item for item in live.memory if item.role is Role.FEATURE]
    streams = {
        stream: None for item in live.memory for stream in item.streams if stream is not None
    }
    if len(streams) <= 1:
        items = [*feature, *live.workspaces]
        return {None: items} if items else {}
    parts: dict[int | None, list[Memory | Workspace]] = {}
    for item in feature:
        parts.setdefault(next(iter(item.streams)), []).append(item)
    for space in live.workspaces:
        parts.setdefault(stream_of(space.op), []).append(space)
    return parts


def _interval(item: Memory | Workspace, last: int, stream: int | None, several: bool) -> Interval:
    if isinstance(item, Workspace):
        forever = several and stream is None
        return Interval(item.at, last if forever else item.at, item.bytes)
    crosses = several and (stream is None or any(other != stream for other in item.streams))
    return Interval(item.start, last if crosses else item.end, item.bytes)
