"""Operators around maps (ai.onnx.ml), dropout of old versions and pools over regions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel
from ge_dialect.kernels.spec import OpSpec, Value, maybe_tensor, tensor

_ML = "ai.onnx.ml"


def _zip_map(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """A row of scores becomes a map from label to score."""
    x = tensor(spec, inputs, 0)
    labels: list[Any] = (
        spec.strings("classlabels_strings", ()) or spec.ints("classlabels_int64s") or []
    )
    rows = x.reshape(-1, len(labels)) if labels else x
    if not labels or x.shape[-1] != len(labels):
        raise KernelInputError(f"ZipMap: {len(labels)} labels for {list(x.shape)}")
    return [[dict(zip(labels, row, strict=True)) for row in rows.tolist()]]


def _cast_map(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """A map from places to values becomes a row [1, n]: packed in order of the keys, or with zeros between."""
    given = cast("dict[int, Any]", inputs[0])
    keys = sorted(given)
    if spec.string("map_form", "DENSE") == "SPARSE":
        size = spec.int("max_map", 1)
        row = [given.get(place, 0) for place in range(size)]
    else:
        row = [given[key] for key in keys]
    kind = spec.string("cast_to", "TO_FLOAT")
    types: dict[str, Any] = {"TO_FLOAT": np.float32, "TO_INT64": np.int64, "TO_STRING": object}
    if kind not in types:
        raise KernelInputError(f"CastMap: unknown target {kind}")
    if kind == "TO_STRING":
        return [np.array([[str(item) for item in row]], object)]
    return [np.array([[float(item) for item in row]]).astype(types[kind])]


def _category_mapper(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Strings to integers or back, with a default for what is not listed."""
    x = tensor(spec, inputs, 0)
    names, numbers = spec.strings("cats_strings", ()), spec.ints("cats_int64s") or []
    flat = x.reshape(-1).tolist()
    if x.dtype.kind in "OUS":
        to_number = dict(zip(names, numbers, strict=True))
        default = spec.int("default_int64", -1)
        found = np.array([to_number.get(str(item), default) for item in flat], np.int64)
        return [found.reshape(x.shape)]
    to_name = dict(zip(numbers, names, strict=True))
    other = spec.string("default_string", "_Unused")
    out = np.empty(len(flat), object)
    out[:] = [to_name.get(int(item), other) for item in flat]
    return [out.reshape(x.shape)]


def _dropout(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Versions before 12: the identity, and a mask that keeps everything. Training with them is refused."""
    x = tensor(spec, inputs, 0)
    if spec.version < 7 and not spec.flag("is_test"):
        raise KernelInputError("Dropout: this version drops at random unless is_test is set")
    mask = np.ones(x.shape, np.bool_ if spec.version >= 10 else x.dtype)
    return [x.copy(), mask]


def _dropout_12(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The identity unless `training_mode` is given and true; then onnx's generator decides."""
    training = maybe_tensor(inputs, 2)
    if training is None or not training.item():
        x = tensor(spec, inputs, 0)
        return [x.copy(), np.ones(x.shape, np.bool_)]
    assert spec.source is not None
    # Imports onnx: only when it is needed.
    from ge_dialect.kernels.reference import reference_kernel

    return reference_kernel(spec.source).evaluate(spec, inputs)


def _max_roi_pool(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The largest element in each cell of regions [batch, x1, y1, x2, y2], rounded to whole elements."""
    x, regions = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    height, width = spec.ints("pooled_shape") or (1, 1)
    scale = spec.float("spatial_scale", 1.0)
    rows, columns = x.shape[2:]
    out = np.zeros((regions.shape[0], x.shape[1], height, width), x.dtype)

    def half_up(value: float) -> int:
        return math.floor(value + 0.5)

    for number, region in enumerate(regions.tolist()):
        left, top, right, bottom = (half_up(item * scale) for item in region[1:])
        tall = max(bottom - top + 1, 1) / height
        wide = max(right - left + 1, 1) / width
        image = x[int(region[0])]
        for i, j in np.ndindex(height, width):
            y = [
                min(max(top + k, 0), rows)
                for k in (math.floor(i * tall), math.ceil((i + 1) * tall))
            ]
            z = [
                min(max(left + k, 0), columns)
                for k in (math.floor(j * wide), math.ceil((j + 1) * wide))
            ]
            if y[1] > y[0] and z[1] > z[0]:
                out[number, :, i, j] = image[:, y[0] : y[1], z[0] : z[1]].max(axis=(1, 2))
    return [out]


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("ZipMap", Kernel(_zip_map), domain=_ML),
    OnnxKernel("CastMap", Kernel(_cast_map), domain=_ML),
    OnnxKernel("CategoryMapper", Kernel(_category_mapper), domain=_ML),
    OnnxKernel("Dropout", Kernel(_dropout), until=11),
    OnnxKernel("Dropout", Kernel(_dropout_12), since=12),
    OnnxKernel("MaxRoiPool", Kernel(_max_roi_pool)),
)
