"""What another runtime computes for an ONNX model, and how far our outputs are from it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.spec import is_array

FLOAT_TOLERANCE = 1e-5
"""Greatest error of a float32 or wider output, relative to the greatest absolute value of that output."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output against the oracle. `error` is relative to the output's scale; integers and others must be equal."""

    name: str
    error: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance."""
        return self.error <= self.tolerance


@dataclass(frozen=True, slots=True)
class Verdict:
    """All outputs against the oracle called `oracle`."""

    oracle: str
    comparisons: list[Comparison]

    @property
    def passed(self) -> bool:
        """Whether every output is within its tolerance."""
        return all(x.passed for x in self.comparisons)


def compare_with_oracle(path: str, feeds: Mapping[str, Any], outputs: Mapping[str, Any]) -> Verdict:
    """Run the model at `path` elsewhere on `feeds` and compare: onnxruntime, else onnx's reference implementation.

    The reference stands in when onnxruntime is not installed or does not know the model's operators or types.
    Raises GeError when neither can run it.
    """
    oracle, expected = _expected(path, feeds)
    comparisons = [
        _compare(name, outputs[name], value) for name, value in expected.items() if name in outputs
    ]
    if len(comparisons) != len(outputs):
        raise GeError(f"{oracle} has the outputs {', '.join(expected)}, not {', '.join(outputs)}")
    return Verdict(oracle, comparisons)


def _expected(path: str, feeds: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    problem = "onnxruntime is not installed"
    if importlib.util.find_spec("onnxruntime") is not None:
        try:
            return _onnxruntime(path, feeds)
        except Exception as error:  # onnxruntime raises a class of its own for each status
            problem = f"onnxruntime: {_first_line(error)}"
    try:
        return _reference(path, feeds, problem)
    except Exception as error:  # whatever an operator of the reference raises
        raise GeError(
            f"--check has no oracle: {problem}; onnx.reference: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _onnxruntime(path: str, feeds: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    runtime: Any = importlib.import_module("onnxruntime")  # it has no type stubs
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    results = session.run(None, dict(feeds))
    names = [output.name for output in session.get_outputs()]
    return f"onnxruntime {runtime.__version__}", dict(zip(names, results, strict=True))


def _reference(path: str, feeds: Mapping[str, Any], reason: str) -> tuple[str, dict[str, Any]]:
    from onnx import __version__ as version
    from onnx.reference import ReferenceEvaluator

    evaluator: Any = ReferenceEvaluator(path)
    results = evaluator.run(None, dict(feeds))
    names = list(evaluator.output_names)
    return f"onnx.reference {version} ({reason})", dict(zip(names, results, strict=True))


def _compare(name: str, found: Any, expected: Any) -> Comparison:
    if isinstance(expected, list):
        items = cast("list[Any]", expected)
        ours = cast("list[Any]", found) if isinstance(found, list) else []
        if len(ours) != len(items):
            return Comparison(name, float("inf"), 0.0)
        parts = [_compare(name, one, other) for one, other in zip(ours, items, strict=True)]
        worst = max(parts, key=lambda part: part.error - part.tolerance, default=None)
        return worst or Comparison(name, 0.0, 0.0)
    if not is_array(expected):
        return Comparison(name, 0.0 if found == expected else float("inf"), 0.0)
    return _compare_arrays(name, np.asarray(found), expected)


def _compare_arrays(name: str, found: np.ndarray, expected: np.ndarray) -> Comparison:
    tolerance = tolerance_of(expected.dtype)
    same_type = found.dtype == expected.dtype or {found.dtype.kind, expected.dtype.kind} <= set(
        "OUS"
    )
    if found.shape != expected.shape or not same_type:
        return Comparison(name, float("inf"), tolerance)
    if tolerance == 0.0:
        equal = bool((found == expected).all())
        return Comparison(name, 0.0 if equal else float("inf"), tolerance)
    return Comparison(name, relative_error(found, expected), tolerance)


def tolerance_of(dtype: np.dtype) -> float:
    """The greatest relative error that passes: 1e-5, four units of the last place for narrower floats, 0 for others."""
    if dtype.kind in "biuOUS":
        return 0.0
    if dtype.kind in "fc" and dtype.itemsize >= 4:
        return FLOAT_TOLERANCE
    try:
        limits = cast("Any", ml_dtypes.finfo(dtype))
        return max(FLOAT_TOLERANCE, 4 * float(limits.eps))
    except ValueError:
        return 0.0


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """max |found - expected| / max |expected|; infinities and NaNs must stand at the same places."""
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = found.astype(wide), expected.astype(wide)
    if one.size == 0:
        return 0.0
    finite = np.isfinite(other)
    with np.errstate(invalid="ignore"):
        special = (one == other) | (np.isnan(one) & np.isnan(other))
    if not special[~finite].all() or not np.isfinite(one[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    scale = float(np.abs(other[finite]).max())
    return float(np.abs(one[finite] - other[finite]).max()) / (scale or 1.0)
