"""The pair of functions that makes a kernel, and the general way to bind one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np

from ge_dialect.kernels.errors import KernelInputError, KernelShapeError
from ge_dialect.kernels.spec import Array, OpSpec, Value, is_array

Thunk: TypeAlias = Callable[[], object]
Evaluate: TypeAlias = Callable[[OpSpec, Sequence[Value]], list[Value]]
Bind: TypeAlias = Callable[[OpSpec, Sequence[Array | None], Sequence[Array | None]], Thunk | None]


@dataclass(frozen=True, slots=True)
class Kernel:
    """`evaluate` makes new results. `bind` prepares a fast run on fixed memory, or answers None where it has none."""

    evaluate: Evaluate
    bind: Bind | None = None


@dataclass(frozen=True, slots=True)
class OnnxKernel:
    """The kernel of an ONNX operator for the versions `since` to `until` (both inclusive, None = open)."""

    op: str
    kernel: Kernel
    since: int = 1
    until: int | None = None
    domain: str = "ai.onnx"


def ufunc_step(ufunc: np.ufunc, out: Array, *arguments: Array) -> Thunk:
    """A call of a ufunc that writes to `out`; by position, which is faster, where numpy (2.4) still wants that."""
    if ufunc in (np.maximum, np.minimum):
        return partial(ufunc, *arguments, out=out)
    return partial(ufunc, *arguments, out)


def describe(value: Value) -> str:
    """Element type and shape in words."""
    if is_array(value):
        return f"{value.dtype} {list(value.shape)}"
    return "nothing" if value is None else f"a {type(value).__name__}"


def check_output(
    spec: OpSpec, index: int, dtype: np.dtype[Any], shape: Sequence[int], out: Array
) -> None:
    """Raise KernelShapeError unless `out` has this element type and shape."""
    if out.dtype != dtype or out.shape != tuple(shape):
        raise KernelShapeError(
            f"{spec.type}: output {index} is {dtype} {list(shape)}, but its memory is {describe(out)}"
        )


def as_value(result: Value) -> Value:
    """A ufunc of arrays without dimensions gives a scalar: an array again."""
    return np.array(cast("Any", result)) if isinstance(result, np.generic) else result


def store(spec: OpSpec, results: Sequence[Value], outputs: Sequence[Array | None]) -> None:
    """Copy results to their views; outputs that are None are dropped. Raises KernelShapeError."""
    for index, out in enumerate(outputs):
        if out is None:
            continue
        value = as_value(results[index]) if index < len(results) else None
        if not is_array(value):
            raise KernelShapeError(
                f"{spec.type}: output {index} is {describe(value)}, but its memory is {describe(out)}"
            )
        check_output(spec, index, value.dtype, value.shape, out)
        np.copyto(out, value)


def bind_by_evaluating(
    evaluate: Evaluate,
    spec: OpSpec,
    inputs: Sequence[Array | None],
    outputs: Sequence[Array | None],
) -> Thunk:
    """The general bound form: evaluate, check, copy."""
    inputs = tuple(inputs)
    outputs = tuple(outputs)

    def run() -> None:
        store(spec, evaluate(spec, inputs), outputs)

    return run


def single_output(spec: OpSpec, outputs: Sequence[Array | None]) -> Array:
    """The first output of a bound kernel, which must be wanted (KernelInputError)."""
    out = outputs[0] if outputs else None
    if out is None:
        raise KernelInputError(f"{spec.type}: no memory for output 0")
    return out
