"""Pools: the largest, the mean or the p-norm of windows, and of whole images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, cast

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
from ge_dialect.kernels.precision import NATIVE_FLOATS, widened
from ge_dialect.kernels.spec import Array, OpSpec, Value, places, tensor
from ge_dialect.kernels.views import sequence
from ge_dialect.kernels.windows import Windows, interior, onnx_windows, padded_like, window_view


def _windows(spec: OpSpec, x: Array) -> Windows:
    kernel = spec.ints("kernel_shape") or []
    if x.ndim < 3 or len(kernel) != x.ndim - 2:
        raise KernelInputError(f"{spec.type}: a kernel {kernel} for data {list(x.shape)}")
    return onnx_windows(spec, x.shape[2:], kernel, ceil=spec.flag("ceil_mode"))


def _fold_steps(windows: Windows, source: Array, out: Array, ufunc: np.ufunc) -> list[Thunk]:
    """Fold windows of `source` (padded) with a ufunc, one dimension after the other."""
    steps: list[Thunk] = []
    rank = len(windows.kernel)
    lead = source.ndim - rank
    current = source
    for axis in range(rank):
        shape = (*source.shape[:lead], *windows.out[: axis + 1], *current.shape[lead + axis + 1 :])
        into = out if axis == rank - 1 else np.empty(shape, source.dtype)
        count, stride = windows.out[axis], windows.strides[axis]
        slices = [
            current[
                (slice(None),) * (lead + axis)
                + (slice(first, first + (count - 1) * stride + 1, stride),)
            ]
            for first in range(0, windows.span[axis], windows.dilations[axis])
        ]
        if len(slices) == 1:
            steps.append(partial(np.copyto, into, slices[0]))
        else:
            steps.append(ufunc_step(ufunc, into, slices[0], slices[1]))
            steps.extend(ufunc_step(ufunc, into, into, item) for item in slices[2:])
        current = into
    return steps


def _padded_source(windows: Windows, x: Array, fill: object, steps: list[Thunk]) -> Array:
    if not windows.padded:
        return x
    padded = padded_like(windows, x, fill)
    target, source = interior(windows, padded, x)
    steps.append(partial(np.copyto, target, source))
    return padded


def lowest(dtype: np.dtype[Any]) -> Any:
    """The value that no other is below."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _max_thunk(windows: Windows, x: Array, out: Array) -> Thunk:
    steps: list[Thunk] = []
    source = _padded_source(windows, x, lowest(x.dtype), steps)
    steps.extend(_fold_steps(windows, source, out, np.maximum))
    return sequence(steps)


def _flat_indices(spec: OpSpec, windows: Windows, x: Array) -> Array:
    """Where each window's largest element is, counted over the whole tensor."""
    if not x.size or not math.prod(windows.out):
        return np.zeros((*x.shape[:2], *windows.out), np.int64)
    steps: list[Thunk] = []
    source = _padded_source(windows, x, lowest(x.dtype), steps)
    sequence(steps)()
    view = window_view(windows, source)
    rank = len(windows.kernel)
    taps = np.moveaxis(view, range(2, 2 + rank), range(view.ndim - rank, view.ndim))
    best = taps.reshape(*taps.shape[: 2 + rank], -1).argmax(axis=-1)
    taken = cast("tuple[Array, ...]", np.unravel_index(best, windows.kernel))
    order = range(rank) if not spec.flag("storage_order") else reversed(range(rank))
    flat: Array = np.zeros_like(best, np.int64)
    for axis in order:
        start = places(windows.out[axis], *(1,) * (rank - 1 - axis))
        start = start * windows.strides[axis] - windows.begin[axis]
        flat = flat * windows.extent[axis] + taken[axis] * windows.dilations[axis] + start
    image = places(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *(1,) * rank)
    return flat + image * math.prod(windows.extent)


def _max_pool(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    windows = _windows(spec, x)
    out = np.empty((*x.shape[:2], *windows.out), x.dtype)
    if out.size:
        _max_thunk(windows, x, out)()
    return [out, _flat_indices(spec, windows, x)] if spec.n_outputs > 1 else [out]


def _bind_max_pool(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x = tensor(spec, inputs, 0)
    windows = _windows(spec, x)
    if any(item is not None for item in outputs[1:]) or x.dtype.kind not in "fiu":
        return None
    out = single_output(spec, outputs)
    check_output(spec, 0, x.dtype, (*x.shape[:2], *windows.out), out)
    return _max_thunk(windows, x, out) if out.size else None


def _counts(spec: OpSpec, windows: Windows, dtype: np.dtype[Any]) -> Array:
    """Elements that each mean divides by: all within the padded extents, or those of the input only."""
    include = spec.flag("count_include_pad")
    total = np.ones((), np.int64)
    for axis, size in enumerate(windows.extent):
        first = np.arange(windows.out[axis]) * windows.strides[axis] - windows.begin[axis]
        taps = first[:, None] + np.arange(windows.kernel[axis]) * windows.dilations[axis]
        low = -windows.begin[axis] if include else 0
        high = size + windows.end[axis] if include else size
        counted = np.count_nonzero((taps >= low) & (taps < high), axis=1)
        total = total[..., None] * counted
    return np.maximum(total, 1).astype(dtype)


def _average_thunk(spec: OpSpec, windows: Windows, x: Array, out: Array) -> Thunk:
    steps: list[Thunk] = []
    source = _padded_source(windows, x, 0, steps)
    steps.extend(_fold_steps(windows, source, out, np.add))
    counts = _counts(spec, windows, x.dtype)
    if counts.size and np.all(counts == counts.flat[0]):
        counts = counts.reshape(-1)[:1].reshape(())
    steps.append(partial(np.divide, out, counts, out))
    return sequence(steps)


def _average_pool(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    windows = _windows(spec, x)
    out = np.empty((*x.shape[:2], *windows.out), x.dtype)
    if out.size:
        _average_thunk(spec, windows, x, out)()
    return [out]


def _bind_average_pool(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    windows = _windows(spec, x)
    check_output(spec, 0, x.dtype, (*x.shape[:2], *windows.out), out)
    usable = x.dtype in NATIVE_FLOATS and out.size > 0
    return _average_thunk(spec, windows, x, out) if usable else None


def _lp_pool(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    windows = _windows(spec, x)
    p = spec.float("p", 2.0)
    powers = np.power(np.abs(x), x.dtype.type(p))
    out = np.empty((*x.shape[:2], *windows.out), x.dtype)
    steps: list[Thunk] = []
    source = _padded_source(windows, powers, 0, steps)
    steps.extend(_fold_steps(windows, source, out, np.add))
    sequence(steps)()
    return [np.power(out, x.dtype.type(1 / p))]


def _image_axes(spec: OpSpec, x: Array) -> tuple[int, ...]:
    if x.ndim < 3:
        raise KernelInputError(f"{spec.type}: data of rank {x.ndim}")
    return tuple(range(2, x.ndim))


def _global_average(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    return [np.mean(x, axis=_image_axes(spec, x), keepdims=True, dtype=x.dtype)]


def _global_max(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    return [np.max(x, axis=_image_axes(spec, x), keepdims=True)]


def _global_lp(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    kind, p = x.dtype.type, spec.float("p", 2.0)
    total = np.sum(
        np.power(np.abs(x), kind(p)), axis=_image_axes(spec, x), keepdims=True, dtype=x.dtype
    )
    return [np.power(total, kind(1 / p))]


def _bind_global(ufunc: np.ufunc, mean: bool) -> Any:
    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
        axes = _image_axes(spec, x)
        check_output(spec, 0, x.dtype, (*x.shape[:2], *(1,) * len(axes)), out)
        if x.dtype not in NATIVE_FLOATS or not x.flags.c_contiguous or not x.size:
            return None
        flat, target = x.reshape(*x.shape[:2], -1), out.reshape(out.shape[:2])
        if not mean:
            return partial(ufunc.reduce, flat, 2, None, target)
        # Summing by a product with ones is several times faster than add.reduce.
        reduce = partial(np.matmul, flat, np.ones(flat.shape[2], x.dtype), target)
        count = x.dtype.type(flat.shape[2])

        def run() -> None:
            reduce()
            np.divide(target, count, target)

        return run

    return bind


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("MaxPool", Kernel(_max_pool, _bind_max_pool)),
    OnnxKernel("AveragePool", Kernel(widened(_average_pool), _bind_average_pool)),
    OnnxKernel("LpPool", Kernel(widened(_lp_pool))),
    OnnxKernel("GlobalAveragePool", Kernel(widened(_global_average), _bind_global(np.add, True))),
    OnnxKernel("GlobalMaxPool", Kernel(_global_max, _bind_global(np.maximum, False))),
    OnnxKernel("GlobalLpPool", Kernel(widened(_global_lp))),
)
