"""From a problem to a plan: quick orders first, then search as long as there is time and something to gain."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ge_dialect.analysis.packing.bounds import Bound, lower_bound, quick_bound
from ge_dialect.analysis.packing.clocks import ClockConflicts
from ge_dialect.analysis.packing.first_fit import first_fit, orders
from ge_dialect.analysis.packing.hill_climb import climb
from ge_dialect.analysis.packing.kernel.binding import Kernel, kernel
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.model import model_of
from ge_dialect.analysis.packing.outcome import Feature, Limits, Outcome, Verdict
from ge_dialect.analysis.packing.peel import peel, put_back
from ge_dialect.analysis.packing.problem import Problem
from ge_dialect.analysis.packing.search_tree import search
from ge_dialect.analysis.packing.subproblem import restricted
from ge_dialect.analysis.packing.sweep import sweep, sweep_orders

MOST_PAIRS = 8_000_000
"""Ordered pairs in conflict up to which they are listed, in half a gigabyte. Above, only two orders are tried."""
ORDERED_PAIRS = {True: 20_000_000, False: 2_000_000}
"""Pairs that the quick orders may look at together, compiled and in Python: a second or two."""
CLIMBED_PAIRS = 10_000_000
"""Pairs that the climb before the search may look at: half a second at most."""
MOST_SEARCHED = 20_000
"""Buffers up to which the search is worth its set-up."""


@dataclass(frozen=True, slots=True)
class Options:
    """`capacity`: stop at the first plan within so many bytes; None: the fewest bytes that can be found.

    `budget_ms`: time for climbing and search; the quick orders and the bound always run. `most_nodes`: search nodes in
    all; where they end the search before the time does, the plan is the same on every machine. `compiled`: whether
    the compiled kernel is used where there is one.
    """

    capacity: int | None = None
    budget_ms: int = 10_000
    most_nodes: int = 1 << 60
    compiled: bool = True
    features: Feature = Feature.ALL


@dataclass(frozen=True, slots=True)
class Plan:
    """Offsets in bytes, one a buffer (0 for buffers without size and address), and how good they are.

    `method` is what found them: the name of an order, "climb" or "search". `bound` is under every plan; when it equals
    `peak` no plan is better. `nodes` were searched, `seconds` passed in all.
    """

    offsets: Ints
    peak: int
    bound: Bound
    method: str
    nodes: int
    seconds: float

    @property
    def is_optimal(self) -> bool:
        """Whether no plan needs less."""
        return self.peak <= self.bound.bytes


def plan(problem: Problem, options: Options | None = None) -> Plan:
    """Place all buffers. Always gives a plan; whether it keeps the capacity, `peak` tells.

    The result depends on time only where the budget ends a search.
    """
    started = time.monotonic()
    options = options or Options()
    bound = quick_bound(problem)
    sized = np.flatnonzero(problem.sizes > 0)
    offsets = np.zeros(problem.count, dtype=np.int64)
    for buffer, address in problem.fixed.items():
        offsets[buffer] = address
    smaller = problem if len(sized) == problem.count else restricted(problem, sized)
    if smaller.conflicts.pair_count > MOST_PAIRS:
        found = _without_pairs(smaller, bound, options)
    else:
        found = _Planner(smaller, bound, options).run(started)
    offsets[sized] = found.offsets
    return replace(found, offsets=offsets, seconds=time.monotonic() - started)


def _without_pairs(problem: Problem, bound: Bound, options: Options) -> Plan:
    best: Plan | None = None
    for name, order in sweep_orders(problem):
        offsets, peak = sweep(problem, order)
        if best is None or peak < best.peak:
            best = Plan(offsets, peak, bound, name, 0, 0.0)
        if best.peak <= max(bound.bytes, options.capacity or 0):
            break
    assert best is not None
    if best.peak > bound.bytes:
        best = replace(best, bound=lower_bound(problem, compiled=options.compiled))
    return best


class _Planner:
    """Keeps the best plan, in units, and the bound."""

    def __init__(self, problem: Problem, bound: Bound, options: Options) -> None:
        self.problem = problem
        self.unit = problem.unit()
        self.model = model_of(problem, self.unit)
        self.kernel: Kernel | None = kernel() if options.compiled else None
        self.options = options
        self.bound = bound
        self.low = -(-bound.bytes // self.unit)
        self.capacity = None if options.capacity is None else options.capacity // self.unit
        self.goal = max(self.low, self.capacity or 0)
        self.offsets: Ints = np.zeros(self.model.count, dtype=np.int64)
        self.peak = -1
        self.method = ""
        self.nodes = 0
        self.deadline = 0.0

    def run(self, started: float) -> Plan:
        order = self._quick()
        if self.peak > self.low and isinstance(self.problem.conflicts, ClockConflicts):
            self._refine()
        self.deadline = started + self.options.budget_ms / 1000
        if self.peak > self.goal and self.options.budget_ms > 0:
            if self.model.count > MOST_SEARCHED:
                steps = self.options.most_nodes // self.model.count
                self._climb(order, self._time_left(), steps)
            else:
                pairs = max(len(self.model.near.items), 1)
                self._climb(order, self._time_left() / 2, min(200, CLIMBED_PAIRS // pairs))
                self._search()
        return Plan(
            self.offsets * self.unit,
            self.peak * self.unit,
            self.bound,
            self.method,
            self.nodes,
            0.0,
        )

    def _refine(self) -> None:
        """The bound that takes longer, once quick orders have not come to the other."""
        self.bound = lower_bound(self.problem, compiled=self.options.compiled)
        self.low = -(-self.bound.bytes // self.unit)
        self.goal = max(self.low, self.capacity or 0)

    def _time_left(self) -> float:
        """Seconds; none when the nodes are used up."""
        if self.nodes >= self.options.most_nodes:
            return 0.0
        return self.deadline - time.monotonic()

    def _keep(self, offsets: Ints, method: str) -> None:
        peak = int((offsets + self.model.size).max(initial=0))
        if self.peak < 0 or peak < self.peak:
            self.offsets, self.peak, self.method = offsets, peak, method

    def _quick(self) -> Ints:
        """Try the orders; returns the best one."""
        best = np.arange(self.model.count)
        pairs = max(len(self.model.near.items), 1)
        left = max(ORDERED_PAIRS[self.kernel is not None] // pairs, 1)
        for tightest in (False, True):
            for name, order in orders(self.model):
                if not left:
                    return best
                left -= 1
                before = self.peak
                offsets, _ = first_fit(self.model, order, self.kernel, tightest=tightest)
                self._keep(offsets, f"{name}, tightest hole" if tightest else name)
                if self.peak != before:
                    best = order
                if self.peak <= self.goal:
                    return best
        return best

    def _climb(self, order: Ints, seconds: float, steps: int) -> None:
        offsets, _ = climb(
            self.model, order, self.kernel, target=self.goal, seconds=seconds, steps=steps
        )
        self._keep(offsets, "climb")

    def _decide(self, capacity: int, nodes: int, share: float = 1.0) -> Verdict:
        """Search for a plan within a capacity, and learn from what comes out."""
        peeled = peel(self.model, capacity)
        core = self.model if peeled.core.all() else self.model.restricted(peeled.core)
        nodes = min(nodes, self.options.most_nodes - self.nodes)
        limits = Limits(max(self._time_left() * share, 0.0), nodes, features=self.options.features)
        found: Outcome = (
            self.kernel.search(core, capacity, limits)
            if self.kernel is not None
            else search(core, capacity, limits)
        )
        self.nodes += found.nodes
        if found.offsets is not None:
            self._keep(put_back(self.model, peeled, found.offsets, self.kernel), "search")
        elif found.verdict is Verdict.NONE:
            self.low = max(self.low, capacity + 1)
            self.bound = Bound(min(self.low, self.peak) * self.unit, "search")
            self.goal = max(self.goal, self.low)
        return found.verdict

    def _search(self) -> None:
        """Ask for the capacity; without one for the bound, then for what lies between it and the best plan."""
        if self.capacity is not None and (
            self.capacity < self.low
            or self._decide(self.capacity, 1 << 60, share=0.8) is not Verdict.LIMIT
        ):
            return
        nodes = 20_000
        while self.peak > self.goal and self._time_left() > 0:
            self._halve(nodes)
            nodes *= 4

    def _halve(self, nodes: int) -> None:
        if self._decide(self.goal, nodes) is Verdict.FITS:
            return
        tried = self.goal
        while self.peak - tried > max(1, self.peak // 1000) and self._time_left() > 0:
            middle = (tried + self.peak) // 2
            if self._decide(middle, nodes) is not Verdict.FITS:
                tried = middle
