"""Softmax and its logarithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.precision import NATIVE_FLOATS, widened
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor

View: TypeAlias = Callable[[OpSpec, Array], tuple[tuple[int, ...], tuple[int, ...]]]
"""Shape to compute in, and axes to normalise there."""


def _ge_view(spec: OpSpec, x: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    axes = spec.ints("axes") or [-1]
    return x.shape, tuple(sorted({axis % max(x.ndim, 1) for axis in axes}))


def _onnx_view(spec: OpSpec, x: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Since version 13 one axis; before, all axes from `axis` on, seen as the rows of a matrix."""
    if spec.version >= 13:
        return x.shape, (spec.int("axis", -1) % max(x.ndim, 1),)
    axis = spec.int("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])), (1,)


def _row_thunk(x: Array, out: Array, logarithm: bool) -> Thunk:
    """Rows of a contiguous matrix; `out` may be `x`.

    For short rows, argmax and a product with ones are several times faster than maximum.reduce and add.reduce.
    """
    rows, size = x.shape
    best, first = np.empty(rows, np.intp), np.arange(rows, dtype=np.intp) * size
    column = np.empty((rows, 1), x.dtype)
    row = column[:, 0]
    ones = np.ones(size, x.dtype)
    flat = x.reshape(-1)
    powers = np.empty(x.shape, x.dtype) if logarithm else out

    def run() -> None:
        x.argmax(1, best)
        np.add(best, first, best)
        flat.take(best, None, row, "clip")
        np.subtract(x, column, out)
        np.exp(out, powers)
        np.matmul(powers, ones, row)
        if logarithm:
            np.log(row, row)
            np.subtract(out, column, out)
        else:
            np.reciprocal(row, row)
            np.multiply(out, column, out)

    return run


def _thunk(x: Array, out: Array, axes: tuple[int, ...], logarithm: bool) -> Thunk:
    """`out` may be `x`; both are contiguous."""
    if axes == (x.ndim - 1,):
        return _row_thunk(x.reshape(-1, x.shape[-1]), out.reshape(-1, x.shape[-1]), logarithm)
    axis = axes[0] if len(axes) == 1 else axes
    low = np.empty([1 if i in axes else n for i, n in enumerate(x.shape)], x.dtype)
    powers = np.empty(x.shape, x.dtype) if logarithm else out

    def run() -> None:
        np.maximum.reduce(x, axis=axis, out=low, keepdims=True)
        np.subtract(x, low, out)
        np.exp(out, powers)
        np.add.reduce(powers, axis=axis, out=low, keepdims=True)
        if logarithm:
            np.log(low, low)
            np.subtract(out, low, out)
        else:
            np.divide(out, low, out)

    return run


def softmax_kernel(view: View, *, logarithm: bool = False) -> Kernel:
    """exp(x) / sum(exp(x)) over the axes of `view`, or its logarithm."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        if not x.ndim:
            return [np.full((), 0 if logarithm else 1, x.dtype)]
        shape, axes = view(spec, x)
        out = np.empty(shape, x.dtype)
        if x.size:
            _thunk(np.ascontiguousarray(x.reshape(shape)), out, axes, logarithm)()
        return [out.reshape(x.shape)]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
        check_output(spec, 0, x.dtype, x.shape, out)
        if (
            x.dtype not in NATIVE_FLOATS
            or not x.size
            or not x.ndim
            or not (x.flags.c_contiguous and out.flags.c_contiguous)
        ):
            return None
        shape, axes = view(spec, x)
        return _thunk(x.reshape(shape), out.reshape(shape), axes, logarithm)

    return Kernel(widened(evaluate), bind)


def _hardmax(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """1 at the first largest element along the axis, else 0."""
    x = tensor(spec, inputs, 0)
    shape, axes = _onnx_view(spec, x)
    data = x.reshape(shape)
    out = np.zeros(shape, x.dtype)
    best = np.expand_dims(np.argmax(data, axis=axes[0]), axes[0])
    np.put_along_axis(out, best, x.dtype.type(1), axes[0])
    return [out.reshape(x.shape)]


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "SoftmaxV2": softmax_kernel(_ge_view),
        "LogSoftmaxV2": softmax_kernel(_ge_view, logarithm=True),
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Softmax", softmax_kernel(_onnx_view)),
    OnnxKernel("LogSoftmax", softmax_kernel(_onnx_view, logarithm=True)),
    OnnxKernel("Hardmax", Kernel(_hardmax)),
)
