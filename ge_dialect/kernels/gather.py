"""Elements picked by index, and elements put by index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.reduction import normal_axes
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, places, tensor
from ge_dialect.kernels.views import on_values

ReadAxis: TypeAlias = Callable[[OpSpec, Sequence[Value]], int]


def _axis_attribute(spec: OpSpec, _inputs: Sequence[Value]) -> int:
    return spec.int("axis", 0)


def _axis_input(spec: OpSpec, inputs: Sequence[Value]) -> int:
    """GE's GatherV2 takes the axis as a third tensor."""
    if spec.int("batch_dims", 0):
        raise KernelInputError(f"{spec.type}: no kernel for batch_dims {spec.int('batch_dims')}")
    return int(tensor(spec, inputs, 2).item())


def _take(spec: OpSpec, x: Array, indices: Array, axis: int, out: Array | None = None) -> Array:
    try:
        return x.take(indices, axis, out)
    except IndexError as error:
        raise KernelInputError(f"{spec.type}: {error}") from error


def _gather_kernel(read_axis: ReadAxis, watched: Sequence[int] = ()) -> Kernel:
    """x.take(indices, axis); negative indices count from the end."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x, indices = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
        (axis,) = normal_axes(spec, [read_axis(spec, inputs)], x.ndim)
        return [np.asarray(_take(spec, x, indices, axis))]

    def build(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, indices, out = (
            tensor(spec, inputs, 0),
            tensor(spec, inputs, 1),
            single_output(spec, outputs),
        )
        (axis,) = normal_axes(spec, [read_axis(spec, inputs)], x.ndim)
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        check_output(spec, 0, x.dtype, shape, out)
        take = x.take
        size = x.shape[axis]

        def run() -> None:
            try:
                take(indices, axis, out)
            except IndexError as error:
                raise KernelInputError(f"{spec.type}: {error}") from error

        def run_large() -> None:
            # With its own check take() works in a copy of the result.
            if indices.size and (indices.min() < -size or indices.max() >= size):
                raise KernelInputError(
                    f"{spec.type}: an index is out of bounds for {size} elements"
                )
            take(indices, axis, out, "wrap")

        return run_large if out.size > 4096 else run

    return Kernel(evaluate, on_values(watched, build))


def _checked(spec: OpSpec, indices: Array, size: int) -> Array:
    """Indices counted from the front. Raises KernelInputError."""
    if indices.size and (indices.min() < -size or indices.max() >= size):
        raise KernelInputError(f"{spec.type}: an index is out of bounds for {size} elements")
    return np.where(indices < 0, indices + size, indices)


def _element_places(spec: OpSpec, x: Array, indices: Array, axis: int) -> tuple[Array, ...]:
    """Index arrays, one a dimension, which name x[..., indices[i, j, ...], ...] for every place of `indices`."""
    if indices.ndim != x.ndim:
        raise KernelInputError(f"{spec.type}: indices of rank {indices.ndim} for rank {x.ndim}")
    found = list(np.ogrid[tuple(slice(size) for size in indices.shape)])
    found[axis] = _checked(spec, indices, x.shape[axis])
    return tuple(found)


def _gather_elements(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, indices = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    (axis,) = normal_axes(spec, [spec.int("axis", 0)], x.ndim)
    return [x[_element_places(spec, x, indices, axis)]]


def _gather_nd(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, indices = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    batch, depth = spec.int("batch_dims", 0), indices.shape[-1]
    if batch + depth > x.ndim or x.shape[:batch] != indices.shape[:batch]:
        raise KernelInputError(f"{spec.type}: indices {list(indices.shape)} for {list(x.shape)}")
    lead: list[Array] = [
        places(size, *(1,) * (indices.ndim - 2 - axis)) for axis, size in enumerate(x.shape[:batch])
    ]
    parts = [_checked(spec, indices[..., k], x.shape[batch + k]) for k in range(depth)]
    return [np.array(x[tuple([*lead, *parts])])]


_COMBINE: Mapping[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _put(spec: OpSpec, out: Array, where: tuple[Array, ...], updates: Array) -> None:
    how = spec.string("reduction", "none")
    if how == "none":
        out[where] = updates
    elif how in _COMBINE:
        _COMBINE[how].at(out, where, updates)
    else:
        raise KernelInputError(f"{spec.type}: unknown reduction {how}")


def _scatter_elements(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, indices, updates = (tensor(spec, inputs, index) for index in range(3))
    (axis,) = normal_axes(spec, [spec.int("axis", 0)], x.ndim)
    out = x.copy()
    _put(spec, out, _element_places(spec, x, indices, axis), updates)
    return [out]


def _scatter_nd(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, indices, updates = (tensor(spec, inputs, index) for index in range(3))
    depth = indices.shape[-1]
    if depth > x.ndim or updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
        raise KernelInputError(f"{spec.type}: updates {list(updates.shape)} for {list(x.shape)}")
    out = x.copy()
    _put(
        spec, out, tuple(_checked(spec, indices[..., k], x.shape[k]) for k in range(depth)), updates
    )
    return [out]


def _compress(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, condition = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    return [np.compress(condition.reshape(-1), x, axis=spec.attrs.get("axis"))]


def _non_zero(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    found = np.array(np.nonzero(np.atleast_1d(x)), np.int64)
    # A tensor without dimensions has no coordinates: [0, number of elements found].
    return [found[: x.ndim]]


def _top_k(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The k largest (or smallest) in order, the earlier of equals first, and their places."""
    x = tensor(spec, inputs, 0)
    count = maybe_tensor(inputs, 1)
    k = spec.int("k") if count is None else int(count.reshape(-1)[0])
    (axis,) = normal_axes(spec, [spec.int("axis", -1)], x.ndim)
    if not 0 <= k <= x.shape[axis]:
        raise KernelInputError(f"{spec.type}: the first {k} of {x.shape[axis]}")
    if spec.flag("largest", True):
        # A stable sort from the back, then turned: equal elements end up with the earlier one first.
        order = (
            x.shape[axis]
            - 1
            - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
        )
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    first = np.take(order, np.arange(k), axis=axis)
    return [np.take_along_axis(x, first, axis), first.astype(np.int64, copy=False)]


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "GatherV2": _gather_kernel(_axis_input, (2,)),
        "Gather": _gather_kernel(_axis_attribute),
    }
)

_SCATTER = Kernel(_scatter_elements)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Gather", _gather_kernel(_axis_attribute)),
    OnnxKernel("GatherElements", Kernel(_gather_elements)),
    OnnxKernel("GatherND", Kernel(_gather_nd)),
    OnnxKernel("Scatter", _SCATTER),
    OnnxKernel("ScatterElements", _SCATTER),
    OnnxKernel("ScatterND", Kernel(_scatter_nd)),
    OnnxKernel("Compress", Kernel(_compress)),
    OnnxKernel("NonZero", Kernel(_non_zero)),
    OnnxKernel("TopK", Kernel(_top_k)),
)
