"""The best plan that can be found in the time given: packing by life times or clocks, with writing in place, and never
more than GE's assigner needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ge_dialect.analysis.memory.distances import interleaved
from ge_dialect.analysis.memory.marks import HBM
from ge_dialect.analysis.memory.model import MemoryGraph
from ge_dialect.analysis.memory.streams import MERGE_TYPES
from ge_dialect.analysis.packing import Bound, Options, lower_bound, plan
from ge_dialect.analysis.reach import HappensBefore
from ge_dialect.analysis.sizes import aligned
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.memory.optimal.in_place import Overwrite, overwrites
from ge_dialect.transforms.memory.optimal.problem import SpaceProblem, space_problem
from ge_dialect.transforms.memory.reference.assign import (
    Assignment,
    append_atomic,
    append_tail,
    assign,
    block_of,
)
from ge_dialect.transforms.memory.reference.blocks import Variant
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import (
    Asked,
    Plan,
    ask,
    atomic_bytes,
    finish,
    make_plan,
)
from ge_dialect.transforms.memory.reference.requests import Request

REFERENCE_REQUESTS_PER_MS = 20
"""So many pieces of memory for each millisecond of the budget GE's assigner, whose time grows with their square, is
tried too where packing did not come to the bound."""
MAX_PACKED_TWICE = 5000
"""Up to so many pieces packing without writing in place is tried too, where that could come out lower."""

SEARCH_WORK = 10_000_000
"""Nodes of a search times pieces: half a second."""

SWITCHES = MERGE_TYPES | frozenset(
    """Switch RefSwitch StreamSwitch StreamSwitchN Enter RefEnter Exit RefExit NextIteration RefNextIteration""".split()
)
"""Types of graphs in which whole streams run never or again, so that edges do not say what is done. Labels are none:
nodes at the borders of what they enclose read all that lives across it (docs/control_flow.md)."""

NOTHING = Bound(0, "max live")


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """`in_place`: whether operators may write over operands. `budget_ms` and `nodes` end the search for a better
    packing, whichever comes first; `nodes` None: `SEARCH_WORK` divided by the number of pieces."""

    in_place: bool = True
    budget_ms: int = 1000
    nodes: int | None = None

    def packing(self, pieces: int) -> Options:
        """The same for the packer."""
        nodes = SEARCH_WORK // max(pieces, 1) if self.nodes is None else self.nodes
        return Options(budget_ms=self.budget_ms, most_nodes=nodes)


class Planning:
    """Requests that are to be packed. `order` is None where one queue runs everything."""

    def __init__(self, asked: Asked, options: PlanOptions, order: HappensBefore | None) -> None:
        self.asked = asked
        self.options = options
        self.order = order
        found: dict[str, list[Request]] = {}
        for request in asked.wanted.pool:
            if not request.zero_copy:
                found.setdefault(request.space, []).append(request)
        woven = set(interleaved(asked.graph))
        self.spaces: dict[str, SpaceProblem] = {
            space: space_problem(asked.graph, requests, order, woven)
            for space, requests in found.items()
        }

    @cached_property
    def bound(self) -> Bound:
        """Bytes of `hbm`, without tail and zeroed area, that every plan of these requests needs."""
        space = self.spaces.get(HBM)
        return NOTHING if space is None else space.bounded(lower_bound(space.problem))

    @property
    def whole_bound(self) -> Bound:
        """The same with the zeroed area."""
        return Bound(self.bound.bytes + atomic_bytes(self.asked.wanted), self.bound.kind)

    def packed(self, search: SearchOptions) -> Plan:
        """The plan that packing gives."""
        pool = self.asked.wanted.pool
        made = Assignment([block_of(x) for x in pool if x.zero_copy], Variant("start"))
        bound = NOTHING
        for space, problem in self.spaces.items():
            found = plan(problem.problem, search.packing(len(problem.pieces)))
            made.offsets.update(problem.offsets_of(found.offsets.tolist()))
            made.sizes[space] = aligned(found.peak)
            if space == HBM:
                made.variant, bound = Variant(found.method), problem.bounded(found.bound)
        append_atomic(self.asked.wanted.atomic, made)
        append_tail(made)
        return finish(self.asked, made, bound)

    def assigned(self) -> Plan:
        """The plan of GE's assigner for the same requests."""
        made = assign(self.asked.wanted, self.asked.edges, self.options)
        return finish(self.asked, made, self.bound)


def _order_of(graph: GraphOp, model: MemoryGraph) -> HappensBefore | None:
    return HappensBefore(list(graph.block.ops)) if model.streams > 1 else None


def _has_switches(model: MemoryGraph) -> bool:
    """Whether streams may run never or again."""
    return any(node.type in SWITCHES for node in model.nodes)


@dataclass(frozen=True, slots=True)
class Best:
    """The plan that needs the fewest bytes, what it writes in place, and the bound without writing in place."""

    plan: Plan
    overwrites: Sequence[Overwrite]
    plain_bound: Bound

    def write_marks(self) -> None:
        """Note on the nodes what is written in place."""
        for each in self.overwrites:
            each.write()


def _bytes(made: Plan) -> int:
    return sum(made.sizes.values())


def best_plan(graph: GraphOp, options: PlanOptions, search: SearchOptions) -> Best:
    """The best plan of a graph whose types are all static. Changes nothing.

    Where streams may run never or again it is GE's assigner's. Raises LayoutError for runs that cannot be laid out.
    """
    options = replace(options, inplace=False)
    asked = ask(graph, options, one_queue=True)
    if _has_switches(asked.graph):
        made = finish(asked, assign(asked.wanted, asked.edges, options))
        return Best(made, (), made.bound)
    order = _order_of(graph, asked.graph)
    plain = Planning(asked, options, order)
    plain_bound = plain.whole_bound
    best: Plan | None = None
    written: Sequence[Overwrite] = ()
    if search.in_place and options.reuse:
        found = overwrites(asked.graph, order)
        if found:
            merged = Planning(asked.again(options), options, order)
            best, written = merged.packed(search), found
    # Without writing in place there may be less to lay out at once, never less to hold.
    small = len(asked.wanted.pool) <= MAX_PACKED_TWICE
    if best is None or (best.peak > plain_bound.bytes and small):
        other = plain.packed(search)
        plain_bound = max(plain_bound, other.bound, key=lambda bound: bound.bytes)
        if best is None or _bytes(other) < _bytes(best):
            best, written = other, ()
    affordable = REFERENCE_REQUESTS_PER_MS * search.budget_ms
    if best.peak > plain_bound.bytes and len(asked.wanted.pool) <= affordable:
        other = plain.assigned()
        if _bytes(other) < _bytes(best):
            best, written = other, ()
    return Best(best, written, plain_bound)


def reference_plan(graph: GraphOp, options: PlanOptions) -> tuple[Plan, Bound]:
    """The plan of GE's assigner, and what no plan without writing in place can do without.

    Changes nothing but, with the option `inplace`, which outputs are an input's memory. Raises LayoutError for runs
    that cannot be laid out.
    """
    plain_options = replace(options, inplace=False)
    asked = ask(graph, plain_options, one_queue=True)
    switches = _has_switches(asked.graph)
    order = _order_of(graph, asked.graph)
    plain = None if switches else Planning(asked, plain_options, order).whole_bound
    made = make_plan(graph, options)
    if plain is None:
        return made, made.bound
    if not options.inplace:
        return replace(made, bound=plain), plain
    merged = Planning(ask(graph, plain_options, one_queue=True), plain_options, order)
    return replace(made, bound=merged.whole_bound), plain
