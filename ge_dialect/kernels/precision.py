"""Types that are too narrow to compute in: widened before, rounded once after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ge_dialect.kernels.kernel import Evaluate
from ge_dialect.kernels.spec import OpSpec, Value, is_array, tensor

NATIVE_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Is this a float type of less than 32 bits (float16, bfloat16, 8 bits and less)?"""
    if dtype.kind == "f":
        return dtype.itemsize < 4
    return dtype.kind == "V" and "float" in dtype.name


def widened(evaluate: Evaluate) -> Evaluate:
    """Compute in float32 where input 0 is narrower; results of the wide type are rounded to the narrow one."""

    def run(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        dtype = tensor(spec, inputs, 0).dtype
        if not is_narrow(dtype):
            return evaluate(spec, inputs)
        wide = [
            item.astype(np.float32) if is_array(item) and is_narrow(item.dtype) else item
            for item in inputs
        ]
        results = evaluate(spec, wide)
        return [
            item.astype(dtype) if is_array(item) and item.dtype == np.float32 else item
            for item in results
        ]

    return run
