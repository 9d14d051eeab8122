"""Operators of one tensor that work element by element: mathematical functions and activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ge_dialect.kernels.erf import erf_into
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import (
    Kernel,
    OnnxKernel,
    Thunk,
    check_output,
    single_output,
    ufunc_step,
)
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor

Step: TypeAlias = Callable[[Array, Array], object]
"""Writes f(first) to the second, which may be the same memory."""

Prepare: TypeAlias = Callable[[OpSpec, np.dtype[Any]], Step]
"""Reads attributes once, for one float type."""

FULL_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def ufunc_kernel(ufunc: np.ufunc) -> Kernel:
    """An operator that is one ufunc and keeps the element type."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        return [np.asarray(ufunc(x)).astype(x.dtype, copy=False)]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
        check_output(spec, 0, x.dtype, x.shape, out)
        if x.dtype.kind not in "fiu":
            return None
        return partial(ufunc, x, out)

    return Kernel(evaluate, bind)


def _with_dimensions(x: Array, out: Array) -> tuple[Array, Array]:
    """Steps write to intermediate results; those of arrays without dimensions would be scalars."""
    return (x, out) if x.ndim else (x.reshape(1), out.reshape(1))


def composite_kernel(prepare: Prepare) -> Kernel:
    """An operator of several steps. Types narrower than float32 are computed in float32 and rounded once."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        wide = x.dtype if x.dtype in FULL_FLOATS else np.dtype(np.float32)
        source = x.astype(wide, copy=False)
        out = np.empty(x.shape, wide)
        prepare(spec, wide)(*_with_dimensions(source, out))
        return [out.astype(x.dtype, copy=False)]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
        check_output(spec, 0, x.dtype, x.shape, out)
        if x.dtype not in FULL_FLOATS:
            return None
        return partial(prepare(spec, x.dtype), *_with_dimensions(x, out))

    return Kernel(evaluate, bind)


def _plain(step: Step) -> Prepare:
    return lambda _spec, _dtype: step


def _sigmoid(x: Array, out: Array) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, 1, out)
    np.reciprocal(out, out)


def _softplus(x: Array, out: Array) -> None:
    np.logaddexp(x, x.dtype.type(0), out)


def _softsign(x: Array, out: Array) -> None:
    np.divide(x, np.abs(x) + x.dtype.type(1), out)


def _mish(x: Array, out: Array) -> None:
    np.multiply(x, np.tanh(np.logaddexp(x, x.dtype.type(0))), out)


def _relu(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    return [np.maximum(x, x.dtype.type(0))]


def _bind_relu(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    check_output(spec, 0, x.dtype, x.shape, out)
    return ufunc_step(np.maximum, out, x, np.zeros((), x.dtype))


def _reciprocal(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    return partial(np.divide, dtype.type(1))


def _leaky_relu(name: str) -> Prepare:
    def prepare(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
        slope = dtype.type(spec.float(name, 0.01 if name == "alpha" else 0.0))

        def run(x: Array, out: Array) -> None:
            scaled = np.minimum(x, 0)
            np.multiply(scaled, slope, scaled)
            np.maximum(x, 0, out=out)
            np.add(out, scaled, out)

        def run_gentle(x: Array, out: Array) -> None:
            np.maximum(x, x * slope, out=out)

        return run_gentle if 0 <= slope <= 1 else run

    return prepare


def _elu(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    alpha = dtype.type(spec.float("alpha", 1.0))

    def run(x: Array, out: Array) -> None:
        negative = np.minimum(x, 0)
        np.expm1(negative, negative)
        np.multiply(negative, alpha, negative)
        np.maximum(x, 0, out=out)
        np.add(out, negative, out)

    return run


def _celu(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    alpha = dtype.type(spec.float("alpha", 1.0))

    def run(x: Array, out: Array) -> None:
        negative = np.minimum(x, 0)
        np.divide(negative, alpha, negative)
        np.expm1(negative, negative)
        np.multiply(negative, alpha, negative)
        np.maximum(x, 0, out=out)
        np.add(out, negative, out)

    return run


def _selu(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    # Version 1 has rounder defaults than version 6.
    old = spec.source is not None and spec.version < 6
    alpha = dtype.type(spec.float("alpha", 1.6732 if old else 1.67326319217681884765625))
    gamma = dtype.type(spec.float("gamma", 1.0507 if old else 1.05070102214813232421875))

    def run(x: Array, out: Array) -> None:
        negative = np.minimum(x, 0)
        np.expm1(negative, negative)
        np.multiply(negative, alpha, negative)
        np.maximum(x, 0, out=out)
        np.add(out, negative, out)
        np.multiply(out, gamma, out)

    return run


def _hard_sigmoid(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    alpha = dtype.type(spec.float("alpha", 0.2))
    beta = dtype.type(spec.float("beta", 0.5))

    def run(x: Array, out: Array) -> None:
        np.multiply(x, alpha, out)
        np.add(out, beta, out)
        np.clip(out, 0, 1, out=out)

    return run


def _hard_swish(_spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    def run(x: Array, out: Array) -> None:
        gate = x * dtype.type(1 / 6)
        np.add(gate, dtype.type(0.5), gate)
        np.clip(gate, 0, 1, out=gate)
        np.multiply(x, gate, out)

    return run


def _swish(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    alpha = dtype.type(spec.float("alpha", 1.0))

    def run(x: Array, out: Array) -> None:
        gate = x * alpha
        _sigmoid(gate, gate)
        np.multiply(x, gate, out)

    return run


def _thresholded_relu(spec: OpSpec, dtype: np.dtype[Any]) -> Step:
    alpha = dtype.type(spec.float("alpha", 1.0))

    def run(x: Array, out: Array) -> None:
        np.copyto(out, np.where(x > alpha, x, dtype.type(0)))

    return run


def _gelu_erf(x: Array, out: Array) -> None:
    half = x.dtype.type(0.5)
    gate = x * x.dtype.type(math.sqrt(0.5))
    erf_into(gate, gate)
    np.multiply(gate, half, gate)
    np.add(gate, half, gate)
    np.multiply(x, gate, out)


def _gelu_tanh(x: Array, out: Array) -> None:
    kind, half = x.dtype.type, x.dtype.type(0.5)
    gate = x * x
    np.multiply(gate, kind(0.044715 * math.sqrt(2 / math.pi)), gate)
    np.add(gate, kind(math.sqrt(2 / math.pi)), gate)
    np.multiply(gate, x, gate)
    np.tanh(gate, gate)
    np.multiply(gate, half, gate)
    np.add(gate, half, gate)
    np.multiply(x, gate, out)


def _gelu(spec: OpSpec, _dtype: np.dtype[Any]) -> Step:
    form = spec.string("approximate", "none")
    if form not in ("none", "tanh"):
        raise KernelInputError(f"Gelu: unknown approximation {form}")
    return _gelu_tanh if form == "tanh" else _gelu_erf


def _shrink(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    bias, limit = spec.float("bias", 0.0), spec.float("lambd", 0.5)
    wide = (
        x if x.dtype in FULL_FLOATS else x.astype(np.float32 if x.dtype.kind == "f" else np.float64)
    )
    kind = wide.dtype.type
    result = np.where(
        wide < kind(-limit),
        wide + kind(bias),
        np.where(wide > kind(limit), wide - kind(bias), kind(0)),
    )
    return [result.astype(x.dtype, copy=False)]


def _bounds(spec: OpSpec, inputs: Sequence[Value], x: Array) -> tuple[Array | None, Array | None]:
    """Limits of Clip: attributes before version 11, inputs since."""
    if spec.source is not None and spec.version < 11:
        low, high = spec.attrs.get("min"), spec.attrs.get("max")
        return (
            None if low is None else np.asarray(low, x.dtype),
            None if high is None else np.asarray(high, x.dtype),
        )
    return maybe_tensor(inputs, 1), maybe_tensor(inputs, 2)


def _clip(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    low, high = _bounds(spec, inputs, x)
    out = x if low is None else np.asarray(np.maximum(x, low.reshape(())))
    return [out.copy() if high is None else np.asarray(np.minimum(out, high.reshape(())))]


def _limit(ufunc: np.ufunc, x: Array, bound: Array, out: Array) -> Thunk:
    return ufunc_step(ufunc, out, x, bound.reshape(()))


def _bind_clip(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    check_output(spec, 0, x.dtype, x.shape, out)
    low, high = _bounds(spec, inputs, x)
    if low is None:
        return partial(np.copyto, out, x) if high is None else _limit(np.minimum, x, high, out)
    if high is None:
        return _limit(np.maximum, x, low, out)
    floor, ceiling = low.reshape(()), high.reshape(())

    def run() -> None:
        np.maximum(x, floor, out=out)
        np.minimum(out, ceiling, out=out)

    return run


def _relu6(x: Array, out: Array) -> object:
    return np.clip(x, x.dtype.type(0), x.dtype.type(6), out=out)


def _square(x: Array, out: Array) -> object:
    return np.multiply(x, x, out)


def _rsqrt(x: Array, out: Array) -> None:
    np.sqrt(x, out)
    np.reciprocal(out, out)


_UFUNCS: Mapping[str, np.ufunc] = {
    "Abs": np.absolute,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Ceil": np.ceil,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Exp": np.exp,
    "Floor": np.floor,
    "Log": np.log,
    "Neg": np.negative,
    "Round": np.rint,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
}

_COMPOSITES: Mapping[str, Prepare] = {
    "Elu": _elu,
    "Erf": _plain(erf_into),
    "Reciprocal": _reciprocal,
    "Sigmoid": _plain(_sigmoid),
    "Softplus": _plain(_softplus),
    "Softsign": _plain(_softsign),
}

_SHARED: Mapping[str, Kernel] = MappingProxyType(
    {name: ufunc_kernel(ufunc) for name, ufunc in _UFUNCS.items()}
    | {name: composite_kernel(prepare) for name, prepare in _COMPOSITES.items()}
    | {"Relu": Kernel(_relu, _bind_relu)}
)

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        **_SHARED,
        "LeakyRelu": composite_kernel(_leaky_relu("negative_slope")),
        "Gelu": composite_kernel(_plain(_gelu_tanh)),
        "Clip": Kernel(_clip, _bind_clip),
        "ClipByValue": Kernel(_clip, _bind_clip),
        "Relu6": composite_kernel(_plain(_relu6)),
        "Square": composite_kernel(_plain(_square)),
        "Rsqrt": composite_kernel(_plain(_rsqrt)),
        "Swish": composite_kernel(_swish),
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    *(OnnxKernel(name, kernel) for name, kernel in _SHARED.items()),
    OnnxKernel("LeakyRelu", composite_kernel(_leaky_relu("alpha"))),
    OnnxKernel("Celu", composite_kernel(_celu)),
    OnnxKernel("Selu", composite_kernel(_selu)),
    OnnxKernel("HardSigmoid", composite_kernel(_hard_sigmoid)),
    OnnxKernel("HardSwish", composite_kernel(_hard_swish)),
    OnnxKernel("Swish", composite_kernel(_swish)),
    OnnxKernel("Mish", composite_kernel(_plain(_mish))),
    OnnxKernel("ThresholdedRelu", composite_kernel(_thresholded_relu)),
    OnnxKernel("Gelu", composite_kernel(_gelu)),
    OnnxKernel("Shrink", Kernel(_shrink)),
    OnnxKernel("Clip", Kernel(_clip, _bind_clip)),
)
