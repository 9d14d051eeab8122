"""Which input elements, with which weights, each output element of a resized dimension is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.spec import Array


@dataclass(frozen=True, slots=True)
class ResizedAxis:
    """One dimension: sizes before and after, the scale, and the region of interest (fractions of the input)."""

    axis: int
    size: int
    out: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Method:
    """Attributes of ONNX's Resize. `simple` is the rounding of versions before 11."""

    mode: str
    coordinates: str
    nearest: str
    cubic: float
    exclude_outside: bool
    antialias: bool
    extrapolation: float
    simple: bool = False


@dataclass(frozen=True, slots=True)
class Taps:
    """`index` and `weight` are [out, taps]; `outside` [out] marks results that are the extrapolation value."""

    index: Array
    weight: Array
    outside: Array | None


def source_places(axis: ResizedAxis, coordinates: str) -> Array:
    """Where output elements lie in the input, in float32 as onnxruntime counts (it decides ties)."""
    f32 = np.float32
    y, scale, one = np.arange(axis.out, dtype=f32), f32(axis.scale), f32(1)
    half = f32(0.5)
    if coordinates == "asymmetric":
        return y / scale
    if coordinates == "align_corners":
        if axis.out == 1:
            return np.zeros(1, f32)
        return y * f32(axis.size - 1) / f32(axis.out - 1)
    if coordinates == "tf_crop_and_resize":
        first, last = (f32(item) for item in axis.roi)
        room = f32(axis.size - 1)
        if axis.out == 1:
            return np.full(1, half * (first + last) * room, f32)
        return first * room + y * (last - first) * room / f32(axis.out - 1)
    if coordinates == "tf_half_pixel_for_nn":
        return (y + half) / scale
    if coordinates == "pytorch_half_pixel" and axis.out == 1:
        return np.zeros(1, f32)
    if coordinates in ("half_pixel", "pytorch_half_pixel"):
        return (y + half) / scale - half
    if coordinates == "half_pixel_symmetric":
        # The centre of the output lies on the centre of the input, also where the output was cut to whole elements.
        adjustment = f32(axis.out) / (scale * f32(axis.size))
        offset = f32(axis.size) * half * (one - adjustment)
        return offset + (y + half) / scale - half
    raise KernelInputError(f"Resize: unknown coordinate transformation {coordinates}")


def _nearest(places: Array, method: Method, scale: float) -> Array:
    """The chosen element; halves are decided in float64, where places + 0.5 is exact."""
    exact = places.astype(np.float64)
    if method.simple:
        return np.ceil(exact) if scale < 1 else np.floor(exact)
    match method.nearest:
        case "round_prefer_floor":
            return np.ceil(exact - 0.5)
        case "round_prefer_ceil":
            return np.floor(exact + 0.5)
        case "floor":
            return np.floor(exact)
        case "ceil":
            return np.ceil(exact)
        case other:
            raise KernelInputError(f"Resize: unknown nearest mode {other}")


def _filter(distance: Array, method: Method) -> Array:
    """The weight at a distance: a triangle, or Keys' cubic."""
    d = np.abs(distance)
    if method.mode == "linear":
        return np.clip(1 - d, 0, 1)
    a = method.cubic
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def taps_of(axis: ResizedAxis, method: Method) -> Taps:
    """Indices and weights of one dimension; indices outside stand for the nearest element."""
    places = source_places(axis, method.coordinates)
    outside = None
    if method.coordinates == "tf_crop_and_resize":
        outside = (places < 0) | (places > axis.size - 1)
    if method.mode == "nearest":
        index = _nearest(places, method, axis.scale).astype(np.int64)
        index = np.clip(index, 0, axis.size - 1)[:, None]
        return Taps(index, np.ones(index.shape), outside)
    if method.mode not in ("linear", "cubic"):
        raise KernelInputError(f"Resize: unknown mode {method.mode}")
    exact = places.astype(np.float64)
    shrink = min(axis.scale, 1.0) if method.antialias else 1.0
    reach = 1 if method.mode == "linear" else 2
    first = int(np.floor(-reach / shrink)) + 1
    offsets = np.arange(first, 2 - first if shrink < 1 else reach + 1)
    base = np.floor(exact).astype(np.int64)
    index = base[:, None] + offsets
    weight = _filter((index - exact[:, None]) * shrink, method)
    if method.exclude_outside:
        weight = np.where((index < 0) | (index >= axis.size), 0.0, weight)
    total = weight.sum(axis=1, keepdims=True)
    if method.exclude_outside or shrink < 1:
        weight = weight / np.where(total == 0, 1.0, total)
    return Taps(np.clip(index, 0, axis.size - 1), weight, outside)


def weight_matrix(axis: ResizedAxis, taps: Taps) -> Array:
    """The same as a matrix [out, size]."""
    matrix = np.zeros((axis.out, axis.size))
    np.add.at(matrix, (np.arange(axis.out)[:, None], taps.index), taps.weight)
    return matrix
