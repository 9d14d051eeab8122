"""Resize and Upsample: one dimension after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.interpolation import Method, ResizedAxis, Taps, taps_of, weight_matrix
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.precision import NATIVE_FLOATS
from ge_dialect.kernels.reduction import normal_axes
from ge_dialect.kernels.shape import int_list
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor
from ge_dialect.kernels.views import copy_step, on_values, sequence

_DENSE = 512
"""Dimensions up to this size are interpolated by a matrix product, larger ones tap by tap."""


def _method(spec: OpSpec) -> Method:
    old = spec.source is not None and (spec.source.op == "Upsample" or spec.version < 11)
    return Method(
        mode=spec.string("mode", "nearest").replace("bilinear", "linear"),
        coordinates="asymmetric"
        if old
        else spec.string("coordinate_transformation_mode", "half_pixel"),
        nearest=spec.string("nearest_mode", "round_prefer_floor"),
        cubic=spec.float("cubic_coeff_a", -0.75),
        exclude_outside=spec.flag("exclude_outside"),
        antialias=spec.flag("antialias"),
        extrapolation=spec.float("extrapolation_value", 0.0),
        simple=old,
    )


def _given(inputs: Sequence[Value], index: int) -> Array | None:
    value = maybe_tensor(inputs, index)
    return value if value is not None and value.size else None


def _resized_axes(spec: OpSpec, inputs: Sequence[Value], x: Array) -> list[ResizedAxis]:
    """The dimensions that change, by scales or by sizes."""
    listed = spec.ints("axes")
    axes = (
        list(range(x.ndim))
        if listed is None
        else [normal_axes(spec, [a], x.ndim)[0] for a in listed]
    )
    version_10 = spec.source is not None and (spec.source.op == "Upsample" or spec.version < 11)
    if spec.source is not None and spec.source.op == "Upsample" and spec.version < 9:
        scales: list[float] | None = spec.floats("scales")
        sizes: list[int] | None = None
    else:
        scale_input = _given(inputs, 1 if version_10 else 2)
        scales = (
            None if scale_input is None else [float(s) for s in scale_input.reshape(-1).tolist()]
        )
        size_input = None if version_10 else _given(inputs, 3)
        sizes = None if size_input is None else int_list(size_input)
    roi_input = None if version_10 else _given(inputs, 1)
    roi = [0.0] * len(axes) + [1.0] * len(axes)
    if (
        roi_input is not None
        and spec.string("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    ):
        roi = [float(item) for item in roi_input.reshape(-1).tolist()]
    if len(scales or sizes or ()) != len(axes) or len(roi) != 2 * len(axes):
        raise KernelInputError(
            f"{spec.type}: scales {scales} or sizes {sizes} for {len(axes)} dimensions"
        )
    extents = [x.shape[axis] for axis in axes]
    if sizes is not None:
        scales = [
            size / extent if extent else 1.0 for size, extent in zip(sizes, extents, strict=True)
        ]
        scales, sizes = _keep_aspect(spec, scales, sizes, extents)
    else:
        assert scales is not None
        # float32, as the scales are: 3 * 0.33333334 is 1, not 1.00000002.
        sizes = [
            math.floor(float(np.float32(extent) * np.float32(scale)))
            for extent, scale in zip(extents, scales, strict=True)
        ]
    return [
        ResizedAxis(axis, extent, size, scale, (roi[i], roi[i + len(axes)]))
        for i, (axis, extent, size, scale) in enumerate(
            zip(axes, extents, sizes, scales, strict=True)
        )
        if size != extent or scale != 1.0 or (roi[i], roi[i + len(axes)]) != (0.0, 1.0)
    ]


def _keep_aspect(
    spec: OpSpec, scales: list[float], sizes: list[int], extents: Sequence[int]
) -> tuple[list[float], list[int]]:
    policy = spec.string("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return scales, sizes
    if policy not in ("not_larger", "not_smaller"):
        raise KernelInputError(f"{spec.type}: unknown policy {policy}")
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [scale] * len(scales), [int(scale * extent + 0.5) for extent in extents]


def _out_shape(x: Array, axes: Sequence[ResizedAxis]) -> tuple[int, ...]:
    shape = list(x.shape)
    for item in axes:
        shape[item.axis] = item.out
    return tuple(shape)


def _along(x: Array, axis: ResizedAxis, method: Method, taps: Taps) -> Array:
    """x (float) with one dimension interpolated."""
    shape = (1,) * axis.axis + (axis.out,) + (1,) * (x.ndim - axis.axis - 1)
    weights = taps.weight.astype(x.dtype)
    result = np.zeros(_out_shape(x, [axis]), x.dtype)
    for k in range(taps.index.shape[1]):
        result += x.take(taps.index[:, k], axis.axis) * weights[:, k].reshape(shape)
    if taps.outside is not None:
        result = np.where(taps.outside.reshape(shape), x.dtype.type(method.extrapolation), result)
    return result


def _rounded(result: Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(result), limits.min, limits.max).astype(dtype)
    return result.astype(dtype, copy=False)


def _resize(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    method, axes = _method(spec), _resized_axes(spec, inputs, x)
    if method.mode == "nearest":
        result = x
        for axis in axes:
            taps = taps_of(axis, method)
            result = result.take(taps.index[:, 0], axis.axis)
            if taps.outside is not None:
                shape = (-1,) + (1,) * (x.ndim - axis.axis - 1)
                fill = np.asarray(method.extrapolation).astype(x.dtype)
                result = np.where(taps.outside.reshape(shape), fill, result)
        return [result.copy() if result is x else result]
    wide = (
        x
        if x.dtype in NATIVE_FLOATS
        else x.astype(np.float64 if x.dtype.kind in "iu" else np.float32)
    )
    for axis in axes:
        wide = _along(wide, axis, method, taps_of(axis, method))
    return [_rounded(wide, x.dtype) if wide is not x else x.copy()]


def _repeat(x: Array, out: Array, axes: Sequence[ResizedAxis], method: Method) -> Thunk | None:
    """Nearest by whole factors: each element is copied to a block."""
    factors = [1] * x.ndim
    for axis in axes:
        taps = taps_of(axis, method)
        factor = axis.out // axis.size
        whole = factor * axis.size == axis.out
        if (
            not whole
            or taps.outside is not None
            or not np.array_equal(taps.index[:, 0], np.arange(axis.out) // max(factor, 1))
        ):
            return None
        factors[axis.axis] = factor
    shape = [n for pair in zip(x.shape, factors, strict=True) for n in pair]
    source = [n for size in x.shape for n in (size, 1)]
    return copy_step(out.reshape(shape), np.broadcast_to(x.reshape(source), shape))


def _by_matrices(x: Array, out: Array, axes: Sequence[ResizedAxis], method: Method) -> Thunk | None:
    """The last dimension by a product from the right, others by products from the left."""
    steps: list[Thunk] = []
    current = x
    for number, axis in enumerate(axes):
        taps = taps_of(axis, method)
        if taps.outside is not None or max(axis.size, axis.out) > _DENSE:
            return None
        shape = _out_shape(current, [axis])
        into = out if number == len(axes) - 1 else np.empty(shape, x.dtype)
        matrix = weight_matrix(axis, taps).astype(x.dtype)
        before, after = math.prod(shape[: axis.axis]), math.prod(shape[axis.axis + 1 :])
        if after == 1:
            left, right = current.reshape(before, axis.size), into.reshape(before, axis.out)
            steps.append(partial(np.matmul, left, np.ascontiguousarray(matrix.T), right))
        else:
            data, target = (
                current.reshape(before, axis.size, after),
                into.reshape(before, axis.out, after),
            )
            steps.append(partial(np.matmul, matrix, data, target))
        current = into
    return sequence(steps)


def _by_index(x: Array, out: Array, axes: Sequence[ResizedAxis], method: Method) -> Thunk | None:
    taps = [taps_of(axis, method) for axis in axes]
    if any(item.outside is not None for item in taps):
        return None
    steps: list[Thunk] = []
    current = x
    for number, (axis, item) in enumerate(zip(axes, taps, strict=True)):
        into = out if number == len(axes) - 1 else np.empty(_out_shape(current, [axis]), x.dtype)
        steps.append(partial(current.take, item.index[:, 0].copy(), axis.axis, into, "clip"))
        current = into
    return sequence(steps)


def _build(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    method, axes = _method(spec), _resized_axes(spec, inputs, x)
    check_output(spec, 0, x.dtype, _out_shape(x, axes), out)
    if not axes:
        return copy_step(out, x)
    thunk = None
    if x.flags.c_contiguous and out.flags.c_contiguous and out.size and x.size:
        if method.mode == "nearest":
            thunk = _repeat(x, out, axes, method) or _by_index(x, out, axes, method)
        elif x.dtype in NATIVE_FLOATS:
            thunk = _by_matrices(x, out, axes, method)
    return thunk or partial(_evaluate_into, spec, inputs, out)


def _evaluate_into(spec: OpSpec, inputs: Sequence[Array | None], out: Array) -> None:
    np.copyto(out, _resize(spec, inputs)[0])


_RESIZE = Kernel(_resize, on_values((1, 2, 3), _build))
_RESIZE_10 = Kernel(_resize, on_values((1,), _build))

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Resize", _RESIZE_10, until=10),
    OnnxKernel("Resize", _RESIZE, since=11),
    OnnxKernel("Upsample", _RESIZE_10),
)
