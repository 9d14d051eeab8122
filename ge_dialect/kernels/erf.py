"""The error function, which numpy lacks."""

from __future__ import annotations

import math

import numpy as np

from ge_dialect.kernels.spec import Array

# Minimax rational approximation x * P(x^2) / Q(x^2) on [-4, 4] (as in Eigen and XLA); the error is a few units in
# the last place of float32. Outside, erf is +-1 in float32.
_P = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_Q = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)
_P32 = tuple(np.float32(c) for c in _P)
_Q32 = tuple(np.float32(c) for c in _Q)
_LIMIT = np.float32(4.0)
_BLOCK = 1 << 14
_exact = np.frompyfunc(math.erf, 1, 1)


def _block(x: Array, out: Array) -> None:
    clipped = np.clip(x, -_LIMIT, _LIMIT)
    square = clipped * clipped
    numerator = square * _P32[0]
    for coefficient in _P32[1:-1]:
        numerator += coefficient
        numerator *= square
    numerator += _P32[-1]
    numerator *= clipped
    denominator = square * _Q32[0]
    for coefficient in _Q32[1:-1]:
        denominator += coefficient
        denominator *= square
    denominator += _Q32[-1]
    np.divide(numerator, denominator, out)


def erf_into(x: Array, out: Array) -> None:
    """Write erf(x) to `out`, which may be `x`. float32 to a few ulp, float64 exactly rounded by libm."""
    if x.dtype != np.float32:
        np.copyto(out, np.asarray(_exact(x), dtype=object).astype(x.dtype))
    elif x.size > 2 * _BLOCK and x.flags.c_contiguous and out.flags.c_contiguous:
        # Some fifteen passes: each block stays in the cache.
        flat, target = x.reshape(-1), out.reshape(-1)
        for start in range(0, flat.size, _BLOCK):
            _block(flat[start : start + _BLOCK], target[start : start + _BLOCK])
    else:
        _block(x, out)
