"""How many bytes a value takes: spec/memory.md section 1.2."""

from __future__ import annotations

from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.access import static_shape
from ge_dialect.dialects.ge.element_types import elements_bytes

BLOCK_ALIGN = 512
"""Every block starts at, and takes, a multiple of this many bytes."""


def value_bytes(kind: Attribute) -> int | None:
    """Exact bytes of a tensor in a buffer; None when a dimension, the rank or the element type is not known."""
    if (shape := static_shape(kind)) is None:
        return None
    return elements_bytes(cast("TensorType[Any]", kind).element_type, prod(shape))


def stored_size(exact: int) -> int:
    """GE's `size` of a tensor of `exact` bytes: rounded up to 32 with 32 more (0 -> 32, 480 -> 512, 512 -> 544)."""
    return (exact + 63) // 32 * 32


def aligned(size: int) -> int:
    """`size` rounded up to whole blocks of 512 bytes; 0 stays 0."""
    return (size + BLOCK_ALIGN - 1) // BLOCK_ALIGN * BLOCK_ALIGN


def block_size(exact: int) -> int:
    """Bytes of the block that a tensor of `exact` bytes gets."""
    return aligned(stored_size(exact))
