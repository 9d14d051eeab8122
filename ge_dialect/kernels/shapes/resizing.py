"""Resize and its predecessor Upsample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ge_dialect.kernels.shapes.info import (
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    Shape,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.readers import (
    ints_attr,
    normal_axes,
    optional_input,
    partial_ints,
    tensor_input,
    value_of,
)
from ge_dialect.kernels.spec import OpSpec


def scaled_size(size: int, scale: float) -> int:
    """floor(size * scale), multiplied in float32 as run-times do."""
    return UNKNOWN if size < 0 else math.floor(float(np.float32(size) * np.float32(scale)))


def _by_scales(spec: OpSpec, shape: Shape, axes: Sequence[int], scales: Sequence[float]) -> Shape:
    if len(scales) != len(axes):
        raise ShapeError(f"{spec.type} has {len(scales)} scales for {len(axes)} axes")
    result = list(shape)
    for axis, scale in zip(axes, scales, strict=True):
        result[axis] = scaled_size(shape[axis], scale)
    return tuple(result)


def _by_sizes(
    spec: OpSpec, shape: Shape, axes: Sequence[int], sizes: Sequence[int | None]
) -> Shape:
    """`keep_aspect_ratio_policy`: one scale for all axes, the smallest or the largest that the sizes ask for."""
    if len(sizes) != len(axes):
        raise ShapeError(f"{spec.type} has {len(sizes)} sizes for {len(axes)} axes")
    wanted = [UNKNOWN if size is None else size for size in sizes]
    policy = spec.string("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        if UNKNOWN in wanted or any(shape[axis] <= 0 for axis in axes):
            wanted = [UNKNOWN] * len(axes)
        else:
            ratios = [
                np.float32(size) / np.float32(shape[axis])
                for size, axis in zip(wanted, axes, strict=True)
            ]
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            wanted = [math.floor(float(np.float32(shape[axis]) * ratio) + 0.5) for axis in axes]
    result = list(shape)
    for axis, size in zip(axes, wanted, strict=True):
        result[axis] = size
    return tuple(result)


def _resized(
    spec: OpSpec, inputs: Inputs, values: Values, scales_at: int, sizes_at: int | None
) -> Outputs:
    x = tensor_input(spec, inputs, 0)
    if x.shape is None:
        return [x]
    rank = len(x.shape)
    named = ints_attr(spec, "axes")
    axes = list(range(rank)) if named is None else normal_axes(spec, named, rank)
    sizes = None if sizes_at is None else optional_input(spec, inputs, sizes_at)
    if sizes is not None and sizes.shape != (0,):
        assert sizes_at is not None
        found = partial_ints(values, sizes_at)
        if found is not None:
            return [TensorInfo(x.dtype, _by_sizes(spec, x.shape, axes, found))]
    elif (scales := value_of(values, scales_at)) is not None:
        if spec.string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
            return [TensorInfo(x.dtype, _cropped(spec, x.shape, axes, scales, value_of(values, 1)))]
        factors = cast("list[float]", scales.reshape(-1).tolist())
        return [TensorInfo(x.dtype, _by_scales(spec, x.shape, axes, factors))]
    return [
        TensorInfo(
            x.dtype, tuple(UNKNOWN if axis in axes else dim for axis, dim in enumerate(x.shape))
        )
    ]


def _cropped(
    spec: OpSpec, shape: Shape, axes: Sequence[int], scales: NDArray[Any], roi: NDArray[Any] | None
) -> Shape:
    """Scales count from the region of interest: all starts, then all ends, as fractions of the dimensions."""
    count = len(axes)
    if roi is None or roi.size != 2 * count or scales.size != count:
        return tuple(UNKNOWN if axis in axes else dim for axis, dim in enumerate(shape))
    result = list(shape)
    bounds = roi.reshape(2, count)
    for i, axis in enumerate(axes):
        if shape[axis] >= 0:
            part = np.float32(shape[axis]) * np.float32(bounds[1, i] - bounds[0, i])
            result[axis] = math.floor(float(part * np.float32(scales.reshape(-1)[i])))
    return tuple(result)


def resize(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, roi, scales, sizes)."""
    return _resized(spec, inputs, values, 2, 3)


def resize_by_scales(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, scales): Resize of version 10, Upsample of version 9."""
    return _resized(spec, inputs, values, 1, None)


def upsample_by_attribute(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){scales}: Upsample of version 7."""
    x, scales = tensor_input(spec, inputs, 0), spec.floats("scales")
    if scales is None:
        raise ShapeError(f"{spec.type} attribute scales is missing")
    if x.shape is None:
        return [x]
    return [TensorInfo(x.dtype, _by_scales(spec, x.shape, range(len(x.shape)), scales))]


GE_SHAPES: MappingProxyType[str, ShapeFunction] = MappingProxyType({})

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Resize", resize_by_scales, since=10, until=10),
    OnnxShape("Resize", resize, since=11),
    OnnxShape("Upsample", upsample_by_attribute, since=7, until=8),
    OnnxShape("Upsample", resize_by_scales, since=9),
)
