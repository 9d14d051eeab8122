"""What counts as a small tensor (spec/host_execution.md sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

MAX_ELEMENTS = 8
"""Tensors of up to so many elements are small. (The article says fewer than 8; the code has 8 inclusive.)"""

ANY_SIZE = frozenset({"MapIndex"})
"""Operator types whose tensors may have any size: the white list."""

_INT64_MAX = (1 << 63) - 1


def element_count(dims: Sequence[int] | None) -> int:
    """The number of elements as GE counts: 0 for a scalar, -1 for what is not known.

    `dims`: -1 is an unknown dimension, None an unknown rank. Dimensions are read from the left up to the first that is
    0 or unknown, which decides; a product beyond int64 is -1.
    """
    if not dims:
        return -1 if dims is None else 0
    count = 1
    for dim in dims:
        if dim < 0:
            return -1
        if dim == 0:
            return 0
        count *= dim
        if count > _INT64_MAX:
            return -1
    return count


def input_small(dims: Sequence[int] | None, limit: int = MAX_ELEMENTS) -> bool:
    """Whether an input is small: its size must be known, shape ranges do not count."""
    return 0 <= element_count(dims) <= limit


def output_small(
    dims: Sequence[int] | None, upper_bounds: Sequence[int] = (), limit: int = MAX_ELEMENTS
) -> bool:
    """Whether an output is small. Of an unknown shape the range's upper bounds count (-1 = open).

    A vector of unknown length always is small, whatever its range says; with another rank, an output of unknown shape
    without a range is not. GE also accepts bounds whose product exceeds int64, by a slip; they are refused here.
    """
    count = element_count(dims)
    if count >= 0:
        return count <= limit
    rank = 0 if dims is None else len(dims)
    if upper_bounds and rank != 1:
        return min(upper_bounds) >= 0 and prod(upper_bounds) <= limit
    return rank == 1
