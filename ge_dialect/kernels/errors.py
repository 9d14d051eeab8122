"""What can go wrong in a kernel."""

from __future__ import annotations

from ge_dialect.formats.errors import GeError


class UnsupportedOpError(GeError):
    """No kernel computes this operator."""


class KernelInputError(GeError):
    """An input or attribute of a node has a value, type or shape that its operator does not take."""


KERNEL_FAULTS = (ArithmeticError, IndexError, KeyError, MemoryError, TypeError, ValueError, GeError)
"""What numpy, and so a kernel, raises for values, types or shapes that it cannot take."""


class KernelShapeError(GeError):
    """A result has another shape or element type than the memory it is to be written to."""
