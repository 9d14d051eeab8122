"""What another runtime computes for an ONNX model, and how far our outputs are from it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import ml_dtypes
import numpy as np

from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.spec import is_array

FLOAT_TOLERANCE = 1e-5
"""Greatest error of a float32 or wider output, relative to the greatest absolute value of that output."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output against the oracle. `error` is relative to the output's scale; integers and others must be equal.

    Where the error is above the tolerance, `own_error` and `oracle_error` say how far each is from the result in
    float64 (None: not computed): runtimes that approximate functions, or a model that amplifies rounding, differ by
    more than the tolerance with nobody at fault.
    """

    name: str
    error: float
    tolerance: float
    own_error: float | None = None
    oracle_error: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance, or ours is at least as near to the float64 result."""
        if self.error <= self.tolerance:
            return True
        if self.own_error is None or self.oracle_error is None:
            return False
        return self.own_error <= max(self.tolerance, self.oracle_error)


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
    if not all(x.passed for x in comparisons):
        comparisons = _judged(path, feeds, outputs, expected, comparisons)
    return Verdict(oracle, comparisons)


def _judged(
    path: str,
    feeds: Mapping[str, Any],
    outputs: Mapping[str, Any],
    expected: Mapping[str, Any],
    comparisons: list[Comparison],
) -> list[Comparison]:
    """The comparisons with the distances from the float64 result where an error is above its tolerance.

    An error that rounding cannot explain (another shape, another type, integers) needs no judge.
    """
    doubtful = {x.name for x in comparisons if not x.passed and np.isfinite(x.error)}
    if not doubtful:
        return comparisons
    from ge_dialect.tools.exact import exact_outputs

    try:
        exact = exact_outputs(path, feeds)
    except Exception:  # an operator of the reference that does not know float64: nobody judges
        return comparisons
    return [
        replace(
            x,
            own_error=relative_error(outputs[x.name], exact[x.name]),
            oracle_error=relative_error(expected[x.name], exact[x.name]),
        )
        if x.name in doubtful and is_array(exact[x.name])
        else x
        for x in comparisons
    ]


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
