"""How far outputs are from an oracle's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ge_dialect.tools.oracle import relative_error, tolerance_of


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.1], [1.0, 2.0], 0.05),
        ([0.5, 0.0], [0.0, 0.0], 0.5),
        ([np.nan, np.inf], [np.nan, np.inf], 0.0),
        ([1.0, np.inf], [1.0, -np.inf], np.inf),
        ([1.0, np.nan], [1.0, 2.0], np.inf),
        ([1.0, 2.0], [1.0, np.nan], np.inf),
        ([], [], 0.0),
    ],
)
def test_relative_error(found: list[float], expected: list[float], error: float) -> None:
    measured = relative_error(np.array(found), np.array(expected))
    assert measured == pytest.approx(error)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (np.float32, 1e-5),
        (np.float64, 1e-5),
        (np.int64, 0.0),
        (np.bool_, 0.0),
        (object, 0.0),
        (np.float16, 4 * 2.0**-10),
        (ml_dtypes.bfloat16, 4 * 2.0**-7),
        (ml_dtypes.int4, 0.0),
    ],
)
def test_tolerance(dtype: type, tolerance: float) -> None:
    assert tolerance_of(np.dtype(dtype)) == tolerance
