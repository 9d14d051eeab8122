"""Operators of several tensors that work element by element with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import (
    Kernel,
    OnnxKernel,
    Thunk,
    check_output,
    single_output,
    ufunc_step,
)
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor, tensors

Binary: TypeAlias = Callable[[Array, Array], Array]


def broadcast_shape(spec: OpSpec, arrays: Sequence[Array]) -> tuple[int, ...]:
    """The common shape. Raises KernelInputError."""
    first = arrays[0].shape
    if all(item.shape == first for item in arrays):
        return first
    try:
        return np.broadcast_shapes(*(item.shape for item in arrays))
    except ValueError:
        shapes = ", ".join(str(list(item.shape)) for item in arrays)
        raise KernelInputError(f"{spec.type}: the shapes {shapes} do not fit together") from None


def operands(spec: OpSpec, inputs: Sequence[Value]) -> tuple[Array, Array]:
    """Both tensors; before version 7 the second is aligned by the attributes `broadcast` and `axis`."""
    a, b = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    if spec.source is not None and spec.version < 7 and spec.flag("broadcast") and spec.has("axis"):
        axis = spec.int("axis") % max(a.ndim, 1)
        b = b.reshape(b.shape + (1,) * max(a.ndim - axis - b.ndim, 0))
    broadcast_shape(spec, (a, b))
    return a, b


def same_types(spec: OpSpec, arrays: Sequence[Array]) -> None:
    """Raise KernelInputError unless all element types are equal: ONNX and GE convert nothing implicitly."""
    if any(item.dtype != arrays[0].dtype for item in arrays):
        types = ", ".join(str(item.dtype) for item in arrays)
        raise KernelInputError(f"{spec.type}: inputs of different element types ({types})")


def arithmetic_kernel(ufunc: np.ufunc, *, result: np.dtype | None = None) -> Kernel:
    """An operator that is one ufunc of two tensors of one type; `result` is the type of results if not theirs."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        a, b = operands(spec, inputs)
        same_types(spec, (a, b))
        return [np.asarray(ufunc(a, b)).astype(a.dtype if result is None else result, copy=False)]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        a, b = operands(spec, inputs)
        out = single_output(spec, outputs)
        same_types(spec, (a, b))
        check_output(
            spec, 0, a.dtype if result is None else result, broadcast_shape(spec, (a, b)), out
        )
        if a.dtype.kind not in "fiub":
            return None
        return ufunc_step(ufunc, out, a, b)

    return Kernel(evaluate, bind)


def _int_divide(a: Array, b: Array) -> Array:
    """Integer quotient, truncated toward zero as in C."""
    quotient = np.floor_divide(a, b)
    if a.dtype.kind == "i":
        inexact = np.not_equal(np.multiply(quotient, b), a)
        quotient = quotient + np.logical_and(inexact, np.less(a, 0) != np.less(b, 0)).astype(
            a.dtype
        )
    return np.asarray(quotient)


def _divide(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    a, b = operands(spec, inputs)
    same_types(spec, (a, b))
    if a.dtype.kind in "iu":
        return [_int_divide(a, b).astype(a.dtype, copy=False)]
    return [np.asarray(np.divide(a, b)).astype(a.dtype, copy=False)]


def _bind_divide(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    a, b = operands(spec, inputs)
    out = single_output(spec, outputs)
    same_types(spec, (a, b))
    check_output(spec, 0, a.dtype, broadcast_shape(spec, (a, b)), out)
    if a.dtype.kind == "f":
        return partial(np.divide, a, b, out)
    if a.dtype.kind == "u":
        return partial(np.floor_divide, a, b, out)
    return None


def _power(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Results have the type of the base (ONNX Pow since 12)."""
    a, b = operands(spec, inputs)
    if a.dtype.kind in "iu":
        if b.dtype.kind in "iu" and not np.any(np.less(b, 0)):
            result = np.power(a, b.astype(a.dtype))
        else:
            result = np.power(a.astype(np.float64), b.astype(np.float64))
    elif a.dtype == b.dtype:
        result = np.power(a, b)
    else:
        wide = np.float64 if a.dtype.itemsize == 8 or b.dtype.itemsize == 8 else np.float32
        result = np.power(a.astype(wide), b.astype(wide))
    return [np.asarray(result).astype(a.dtype, copy=False)]


def _bind_power(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    a, b = operands(spec, inputs)
    out = single_output(spec, outputs)
    check_output(spec, 0, a.dtype, broadcast_shape(spec, (a, b)), out)
    if a.dtype != b.dtype or a.dtype.kind != "f":
        return None
    if b.size != 1 or b.ndim > a.ndim:
        return partial(np.power, a, b, out)

    def run() -> None:
        exponent = b.item()
        if exponent == 2:
            np.multiply(a, a, out)
        elif exponent == 3:
            np.multiply(a, a * a, out)
        else:
            np.power(a, b, out)

    return run


def _mod(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The sign is that of the divisor, with `fmod` that of the dividend."""
    a, b = operands(spec, inputs)
    same_types(spec, (a, b))
    ufunc = np.fmod if spec.flag("fmod") else np.remainder
    return [np.asarray(ufunc(a, b)).astype(a.dtype, copy=False)]


def _bind_mod(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    ufunc = np.fmod if spec.flag("fmod") else np.remainder
    bind = arithmetic_kernel(ufunc).bind
    return None if bind is None else bind(spec, inputs, outputs)


def _bit_shift(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    a, b = operands(spec, inputs)
    direction = spec.string("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        raise KernelInputError(f"BitShift: direction {direction!r} is neither LEFT nor RIGHT")
    ufunc = np.left_shift if direction == "LEFT" else np.right_shift
    return [np.asarray(ufunc(a, b)).astype(a.dtype, copy=False)]


def variadic_kernel(ufunc: np.ufunc, *, mean: bool = False) -> Kernel:
    """An operator that folds any number of tensors with one ufunc; `mean` divides by their number."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        items = tensors(spec, inputs)
        same_types(spec, items)
        shape, dtype = broadcast_shape(spec, items), items[0].dtype
        # Narrow floats are summed in float32 and rounded once.
        wide = np.float32 if mean and dtype.itemsize < 4 and dtype.kind not in "iu" else dtype
        total = np.broadcast_to(items[0], shape).astype(wide)
        for item in items[1:]:
            ufunc(total, item.astype(wide, copy=False), out=total)
        if mean:
            total /= total.dtype.type(len(items))
        return [total.astype(dtype, copy=False)]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        items = tensors(spec, inputs)
        out = single_output(spec, outputs)
        same_types(spec, items)
        check_output(spec, 0, items[0].dtype, broadcast_shape(spec, items), out)
        if mean or len(items) < 2 or items[0].dtype.kind not in "fiub":
            return None
        first, second, *rest = items
        if not rest:
            return ufunc_step(ufunc, out, first, second)
        if any(np.may_share_memory(item, out) for item in rest):
            return None

        def run() -> None:
            ufunc(first, second, out=out)
            for item in rest:
                ufunc(out, item, out=out)

        return run

    return Kernel(evaluate, bind)


def _prelu(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, slope = _prelu_operands(spec, inputs)
    return [
        np.where(np.less(x, x.dtype.type(0)), np.multiply(x, slope), x).astype(x.dtype, copy=False)
    ]


def _prelu_operands(spec: OpSpec, inputs: Sequence[Value]) -> tuple[Array, Array]:
    x, slope = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    per_channel = slope.ndim == 1 and x.ndim > 1 and slope.size == x.shape[1]
    if spec.source is not None and spec.version < 7 and per_channel:
        slope = slope.reshape((-1,) + (1,) * (x.ndim - 2))
    if broadcast_shape(spec, (x, slope)) != x.shape:
        raise KernelInputError(f"PRelu: a slope {list(slope.shape)} does not fit {list(x.shape)}")
    return x, slope


def _bind_prelu(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, slope = _prelu_operands(spec, inputs)
    out = single_output(spec, outputs)
    check_output(spec, 0, x.dtype, x.shape, out)
    if x.dtype.kind != "f" or np.may_share_memory(slope, out):
        return None
    scaled = np.empty(x.shape, x.dtype)

    def run() -> None:
        np.minimum(x, 0, out=scaled)
        np.multiply(scaled, slope, scaled)
        np.maximum(x, 0, out=out)
        np.add(out, scaled, out)

    return run


def _bias_add(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """x + bias along the channels, which are dimension 1 unless `data_format` ends in C."""
    x, bias = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    channels_last = spec.string("data_format", "NHWC").endswith("C") or x.ndim < 2
    if not channels_last:
        bias = bias.reshape((-1,) + (1,) * (x.ndim - 2))
    return [np.asarray(x + bias)]


def _squared_difference(a: Array, b: Array) -> Array:
    delta = np.subtract(a, b)
    return np.multiply(delta, delta)


def _function_kernel(function: Binary) -> Kernel:
    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        a, b = operands(spec, inputs)
        same_types(spec, (a, b))
        return [np.asarray(function(a, b)).astype(a.dtype, copy=False)]

    return Kernel(evaluate)


def _scalar_kernel(ufunc: np.ufunc) -> Kernel:
    """x op `value`, an attribute."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        return [np.asarray(ufunc(x, np.asarray(spec.float("value", 0.0), x.dtype)))]

    return Kernel(evaluate)


_DIVIDE = Kernel(_divide, _bind_divide)
_SHARED: Mapping[str, Kernel] = MappingProxyType(
    {
        "Add": arithmetic_kernel(np.add),
        "Sub": arithmetic_kernel(np.subtract),
        "Mul": arithmetic_kernel(np.multiply),
        "Div": _DIVIDE,
        "Pow": Kernel(_power, _bind_power),
        "Mod": Kernel(_mod, _bind_mod),
        "PRelu": Kernel(_prelu, _bind_prelu),
    }
)

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        **_SHARED,
        "Maximum": arithmetic_kernel(np.maximum),
        "Minimum": arithmetic_kernel(np.minimum),
        "RealDiv": _DIVIDE,
        "AddV2": arithmetic_kernel(np.add),
        "AddN": variadic_kernel(np.add),
        "BiasAdd": Kernel(_bias_add),
        "SquaredDifference": _function_kernel(_squared_difference),
        "FloorDiv": _function_kernel(np.floor_divide),
        "FloorMod": _function_kernel(np.remainder),
        "Adds": _scalar_kernel(np.add),
        "Muls": _scalar_kernel(np.multiply),
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    *(OnnxKernel(name, kernel) for name, kernel in _SHARED.items()),
    OnnxKernel("Max", variadic_kernel(np.maximum)),
    OnnxKernel("Min", variadic_kernel(np.minimum)),
    OnnxKernel("Sum", variadic_kernel(np.add)),
    OnnxKernel("Mean", variadic_kernel(np.add, mean=True)),
    OnnxKernel("BitShift", Kernel(_bit_shift)),
    OnnxKernel("BitwiseAnd", arithmetic_kernel(np.bitwise_and)),
    OnnxKernel("BitwiseOr", arithmetic_kernel(np.bitwise_or)),
    OnnxKernel("BitwiseXor", arithmetic_kernel(np.bitwise_xor)),
)
