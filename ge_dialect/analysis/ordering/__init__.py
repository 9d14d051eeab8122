"""Orders of nodes and the memory that they need: what `ge-topo-sort` chooses from."""

from ge_dialect.analysis.ordering.exact import exact_peak
from ge_dialect.analysis.ordering.min_peak import Found, min_peak
from ge_dialect.analysis.ordering.problem import OrderProblem, Overwrite, Unit
from ge_dialect.analysis.ordering.traversal import (
    breadth_first,
    depth_first,
    reverse_depth_first,
)

__all__ = [
    "Found",
    "OrderProblem",
    "Overwrite",
    "Unit",
    "breadth_first",
    "depth_first",
    "exact_peak",
    "min_peak",
    "reverse_depth_first",
]
