"""Sums of products in float64 where an operator's elements are float32.

BLAS libraries add up in an order that depends on the place of an element in its block, so that equal rows of a matrix
may give results that differ in the last bits, and other bits on another processor. Summed in float64 and rounded
once, they agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ge_dialect.kernels.kernel import Kernel
from ge_dialect.kernels.spec import OpSpec, Value, is_array

SUMS_OF_PRODUCTS = frozenset(
    {
        "BatchMatMul",
        "BatchMatMulV2",
        "Conv",
        "Conv2D",
        "ConvTranspose",
        "Gemm",
        "MatMul",
        "MatMulV2",
    }
)
"""Operator types (GE's and ONNX's names) that are widened."""


def widened(kernel: Kernel) -> Kernel:
    """`kernel` with float32 arrays taken as float64 and results rounded back. It has no bound form of its own."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        if not any(_is_float32(value) for value in inputs):
            return kernel.evaluate(spec, inputs)
        wide = [value.astype(np.float64) if _is_float32(value) else value for value in inputs]
        return [
            value.astype(np.float32) if is_array(value) and value.dtype == np.float64 else value
            for value in kernel.evaluate(spec, wide)
        ]

    return Kernel(evaluate)


def _is_float32(value: Value) -> bool:
    return is_array(value) and value.dtype == np.float32
