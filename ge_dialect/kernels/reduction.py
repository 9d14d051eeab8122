"""Reductions over axes, and positions of extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, cast

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.pooling import lowest
from ge_dialect.kernels.precision import NATIVE_FLOATS, widened
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor
from ge_dialect.kernels.views import copy_step, on_values

Reduce: TypeAlias = Callable[[Array, tuple[int, ...], bool], Array]
"""(x, axes, keep) -> result of x's element type."""

Axes: TypeAlias = Callable[[OpSpec, Sequence[Value], int], "tuple[int, ...] | None"]
"""Axes to reduce, or None for: give the input back."""


def normal_axes(spec: OpSpec, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front, sorted, each once. Raises KernelInputError."""
    for axis in axes:
        if not -rank <= axis < rank:
            raise KernelInputError(f"{spec.type}: axis {axis} of a tensor of rank {rank}")
    return tuple(sorted({axis % rank for axis in axes}))


def _sum(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _mean(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    total = np.asarray(_sum(x, axes, keep))
    count = math.prod(x.shape[axis] for axis in axes)
    if x.dtype.kind not in "iu":
        return np.asarray(np.divide(total, x.dtype.type(count)))
    return np.asarray(np.trunc(total / count)).astype(x.dtype) if count else total


def _prod(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.prod(x, axis=axes, keepdims=keep, dtype=x.dtype)


def _max(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    if x.size or x.dtype == np.bool_:
        return (
            np.any(x, axis=axes, keepdims=keep)
            if x.dtype == np.bool_
            else np.max(x, axis=axes, keepdims=keep)
        )
    return np.max(x, axis=axes, keepdims=keep, initial=lowest(x.dtype))


def _min(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    if x.size or x.dtype == np.bool_:
        return (
            np.all(x, axis=axes, keepdims=keep)
            if x.dtype == np.bool_
            else np.min(x, axis=axes, keepdims=keep)
        )
    highest = np.iinfo(x.dtype).max if x.dtype.kind in "iu" else np.inf
    return np.min(x, axis=axes, keepdims=keep, initial=highest)


def _l1(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return _sum(np.abs(x), axes, keep)


def _sum_square(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return _sum(np.multiply(x, x), axes, keep)


def _l2(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.asarray(np.sqrt(_sum_square(x, axes, keep))).astype(x.dtype, copy=False)


def _log_sum(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    return np.asarray(np.log(_sum(x, axes, keep))).astype(x.dtype, copy=False)


def _log_sum_exp(x: Array, axes: tuple[int, ...], keep: bool) -> Array:
    if not x.size:
        return _log_sum(x, axes, keep)
    top: Array = np.max(x, axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0)) if x.dtype.kind == "f" else top
    total: Array = np.log(np.sum(np.exp(x - top), axis=axes, keepdims=True)) + top
    return np.asarray(total if keep else np.squeeze(total, axis=axes)).astype(x.dtype, copy=False)


def _listed(spec: OpSpec, inputs: Sequence[Value], index: int | None) -> list[int] | None:
    if index is not None:
        given = maybe_tensor(inputs, index)
        if given is not None:
            return [int(axis) for axis in given.reshape(-1).tolist()]
    return spec.ints("axes")


def _axes(
    spec: OpSpec, inputs: Sequence[Value], rank: int, index: int | None
) -> tuple[int, ...] | None:
    axes = _listed(spec, inputs, index)
    if axes:
        return normal_axes(spec, axes, rank)
    return None if spec.flag("noop_with_empty_axes") else tuple(range(rank))


def reduce_kernel(
    reduce: Reduce, *, keep: str, index: int | None, bound: tuple[np.ufunc, bool] | None = None
) -> Kernel:
    """`keep` is the attribute that keeps reduced dimensions, `index` the input with the axes (None: an attribute).

    `bound` = (ufunc, divide by the number of elements) where a bound form can work so.
    """
    default = keep == "keepdims"

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        axes = _axes(spec, inputs, x.ndim, index)
        if axes is None:
            # Nothing is summed, but what each element goes through before and after still happens.
            return [np.asarray(reduce(x, (), True)).astype(x.dtype, copy=False)]
        return [np.asarray(reduce(x, axes, spec.flag(keep, default))).astype(x.dtype, copy=False)]

    def build(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
        axes = _axes(spec, inputs, x.ndim, index)
        keeping = spec.flag(keep, default)
        if axes is None:
            axes, keeping = (), True
        shape = tuple(
            1 if axis in axes else size
            for axis, size in enumerate(x.shape)
            if keeping or axis not in axes
        )
        check_output(spec, 0, x.dtype, shape, out)
        if bound is None:
            return partial(_store, reduce, x, axes, keeping, out)
        ufunc, mean = bound
        if not axes:
            return copy_step(out, x)
        fold: Thunk = partial(
            cast("Any", ufunc.reduce), x, axes[0] if len(axes) == 1 else axes, None, out, keeping
        )
        size = math.prod(x.shape[axis] for axis in axes)
        trailing = axes == tuple(range(x.ndim - len(axes), x.ndim))
        if ufunc is np.add and trailing and x.flags.c_contiguous and out.flags.c_contiguous:
            # A product with ones is several times faster than add.reduce.
            fold = partial(np.matmul, x.reshape(-1, size), np.ones(size, x.dtype), out.reshape(-1))
        if not mean:
            return fold
        count = x.dtype.type(size)

        def run() -> None:
            fold()
            np.divide(out, count, out)

        return run

    watch = on_values(() if index is None else (index,), build)

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x = tensor(spec, inputs, 0)
        if x.dtype not in NATIVE_FLOATS or not x.size or not x.ndim:
            return None
        return watch(spec, inputs, outputs)

    return Kernel(widened(evaluate), bind)


def _store(reduce: Reduce, x: Array, axes: tuple[int, ...], keep: bool, out: Array) -> None:
    np.copyto(out, reduce(x, axes, keep))


def _arg_extreme(largest: bool) -> Kernel:
    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        find = np.argmax if largest else np.argmin
        (axis,) = normal_axes(spec, [spec.int("axis", 0)], x.ndim)
        keep = spec.flag("keepdims", True)
        if spec.flag("select_last_index"):
            found = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis, keepdims=keep)
        else:
            found = find(x, axis=axis, keepdims=keep)
        return [np.asarray(found).astype(np.int64, copy=False)]

    return Kernel(evaluate)


_REDUCTIONS: Mapping[str, tuple[Reduce, tuple[np.ufunc, bool] | None]] = {
    "ReduceSum": (_sum, (np.add, False)),
    "ReduceMean": (_mean, (np.add, True)),
    "ReduceMax": (_max, (np.maximum, False)),
    "ReduceMin": (_min, (np.minimum, False)),
    "ReduceProd": (_prod, (np.multiply, False)),
}
_ONNX_ONLY: Mapping[str, Reduce] = {
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceSumSquare": _sum_square,
}

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        name + "D": reduce_kernel(reduce, keep="keep_dims", index=None, bound=bound)
        for name, (reduce, bound) in _REDUCTIONS.items()
    }
    | {
        name: reduce_kernel(reduce, keep="keep_dims", index=1, bound=bound)
        for name, (reduce, bound) in _REDUCTIONS.items()
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    *(
        OnnxKernel(name, reduce_kernel(reduce, keep="keepdims", index=1, bound=bound))
        for name, (reduce, bound) in _REDUCTIONS.items()
    ),
    *(
        OnnxKernel(name, reduce_kernel(reduce, keep="keepdims", index=1))
        for name, reduce in _ONNX_ONLY.items()
    ),
    OnnxKernel("ArgMax", _arg_extreme(True)),
    OnnxKernel("ArgMin", _arg_extreme(False)),
)
