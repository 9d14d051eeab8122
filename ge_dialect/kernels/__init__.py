"""Numpy kernels of operators: one table serves constant folding (`evaluate`) and the emulator (`bind`)."""

from __future__ import annotations

from ge_dialect.kernels.errors import KernelInputError, KernelShapeError, UnsupportedOpError
from ge_dialect.kernels.registry import bind, evaluate, find
from ge_dialect.kernels.spec import Array, OpSpec, Value

__all__ = [
    "Array",
    "KernelInputError",
    "KernelShapeError",
    "OpSpec",
    "UnsupportedOpError",
    "Value",
    "bind",
    "evaluate",
    "find",
]
