"""Bounds: bytes that no plan can do without, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ge_dialect.analysis.packing.antichain import heaviest_antichain
from ge_dialect.analysis.packing.clocks import ClockConflicts
from ge_dialect.analysis.packing.conflicts import IntervalConflicts
from ge_dialect.analysis.packing.kernel.binding import Kernel, kernel
from ge_dialect.analysis.packing.lists import Ints, lists_of
from ge_dialect.analysis.packing.problem import Problem
from ge_dialect.analysis.packing.sections import section_totals, sections_of

MOST_IN_ORDER = 5000
"""Buffers up to which the heaviest antichain is computed in Python: it needs n^2 bits, and minutes above this."""
MOST_STEPS = 50_000_000
"""Steps of the compiled flow, a second or two, after which the antichain is given up."""


@dataclass(frozen=True, slots=True)
class Bound:
    """`bytes` that every plan needs; `kind` says which argument gave them.

    "max live": buffers in use at one time. "antichain": buffers of which no two are ordered, the heaviest set there is.
    "max live in one order": in use at one time in some order that the streams allow; others may hold more, so that this
    is given where the antichain takes too long or a plan needs no more. "clique":
    buffers that are pairwise in conflict, a heavy set but maybe not the heaviest. "given": a fixed address,
    a group or one buffer alone reaches that far. "search": all plans with less were tried.
    """

    bytes: int
    kind: str


def quick_bound(problem: Problem) -> Bound:
    """The best of the bounds that take no more time than reading the problem."""
    alone = int(_extent(problem).max(initial=0))
    conflicts = problem.conflicts
    if isinstance(conflicts, IntervalConflicts):
        totals = section_totals(conflicts, problem.sizes)
        found = Bound(int(totals.max(initial=0)), "max live")
    elif isinstance(conflicts, ClockConflicts):
        totals = section_totals(conflicts.inner, problem.sizes)
        found = Bound(int(totals.max(initial=0)), "max live in one order")
    else:
        found = Bound(_clique_bytes(problem), "clique")
    return found if found.bytes >= alone else Bound(alone, "given")


def lower_bound(problem: Problem, *, compiled: bool = True) -> Bound:
    """The best of the bounds that the kind of conflicts allows; `compiled`: whether the kernel may be used."""
    found = quick_bound(problem)
    if isinstance(problem.conflicts, ClockConflicts):
        heaviest = _antichain_bytes(
            problem.conflicts, problem.sizes, kernel() if compiled else None
        )
        if heaviest is not None and heaviest >= found.bytes:
            return Bound(heaviest, "antichain")
    return found


def _extent(problem: Problem) -> Ints:
    """Where each buffer ends at the least."""
    place = problem.relative.copy()
    for buffer, address in problem.fixed.items():
        place[buffer] = address
    return np.where(problem.sizes > 0, place + problem.sizes, 0)


def _antichain_bytes(conflicts: ClockConflicts, sizes: Ints, compiled: Kernel | None) -> int | None:
    """The heaviest antichain; None where it would take too long."""
    if compiled is not None and conflicts.chains is not None:
        found = compiled.antichain(conflicts.chains, sizes, MOST_STEPS)
        if found is not None:
            return int(sizes[found].sum())
    if conflicts.count > MOST_IN_ORDER:
        return None
    after: list[int] = []
    for buffer in range(conflicts.count):
        row = np.packbits(conflicts.before(buffer), bitorder="little")
        after.append(int.from_bytes(row.tobytes(), "little"))
    return heaviest_antichain(after, sizes.tolist()).weight


def _clique_bytes(problem: Problem) -> int:
    sections = sections_of(problem.conflicts, problem.sizes) if problem.count else lists_of([])
    if not len(sections):
        return 0
    return int(np.bincount(sections.owners(), weights=problem.sizes[sections.items]).max())
