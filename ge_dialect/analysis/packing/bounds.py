"""Bounds: bytes that no plan can do without, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ge_dialect.analysis.packing.antichain import heaviest_antichain
from ge_dialect.analysis.packing.conflicts import ClockConflicts, IntervalConflicts
from ge_dialect.analysis.packing.lists import Ints, lists_of
from ge_dialect.analysis.packing.problem import Problem
from ge_dialect.analysis.packing.sections import section_totals, sections_of

MOST_IN_ORDER = 5000
"""Buffers up to which the heaviest antichain is computed: it needs n^2 bits, and minutes above this."""


@dataclass(frozen=True, slots=True)
class Bound:
    """`bytes` that every plan needs; `kind` says which argument gave them.

    "max live": buffers in use at one time. "antichain": buffers of which no two are ordered, the heaviest set there is.
    "max live in one order": in use at one time in some order that the streams allow; others may hold more. "clique":
    buffers that are pairwise in conflict, a heavy set but maybe not the heaviest. "given": a fixed address,
    a group or one buffer alone reaches that far. "search": all plans with less were tried.
    """

    bytes: int
    kind: str


def lower_bound(problem: Problem) -> Bound:
    """The best of the bounds that the kind of conflicts allows."""
    alone = int(_extent(problem).max(initial=0))
    conflicts = problem.conflicts
    if isinstance(conflicts, IntervalConflicts):
        totals = section_totals(conflicts, problem.sizes)
        found = Bound(int(totals.max(initial=0)), "max live")
    elif isinstance(conflicts, ClockConflicts) and problem.count <= MOST_IN_ORDER:
        found = Bound(_antichain_bytes(conflicts, problem.sizes), "antichain")
    elif isinstance(conflicts, ClockConflicts):
        totals = section_totals(conflicts.inner, problem.sizes)
        found = Bound(int(totals.max(initial=0)), "max live in one order")
    else:
        found = Bound(_clique_bytes(problem), "clique")
    return found if found.bytes >= alone else Bound(alone, "given")


def _extent(problem: Problem) -> Ints:
    """Where each buffer ends at the least."""
    place = problem.relative.copy()
    for buffer, address in problem.fixed.items():
        place[buffer] = address
    return np.where(problem.sizes > 0, place + problem.sizes, 0)


def _antichain_bytes(conflicts: ClockConflicts, sizes: Ints) -> int:
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
