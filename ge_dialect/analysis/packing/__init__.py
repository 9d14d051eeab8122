"""Offset packing: addresses for buffers so that those in use at one time do not overlap, in as few bytes as can be.

Knows nothing of IR. `Problem` says what is to be placed, `plan` places it, `check_plan` proves a plan on its own.
"""

from __future__ import annotations

from ge_dialect.analysis.packing.bounds import Bound, lower_bound
from ge_dialect.analysis.packing.check import check_plan
from ge_dialect.analysis.packing.clocks import ClockConflicts, Writers
from ge_dialect.analysis.packing.conflicts import (
    Conflicts,
    IntervalConflicts,
    PairConflicts,
)
from ge_dialect.analysis.packing.planner import Options, Plan, plan
from ge_dialect.analysis.packing.problem import Group, PackingError, Problem

__all__ = [
    "Bound",
    "ClockConflicts",
    "Conflicts",
    "Group",
    "IntervalConflicts",
    "Options",
    "PackingError",
    "PairConflicts",
    "Plan",
    "Problem",
    "Writers",
    "check_plan",
    "lower_bound",
    "plan",
]
