"""Operators that make tensors from numbers, or numbers from shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ge_dialect.formats.dtypes import DType, dtype_of_numpy
from ge_dialect.kernels.shapes.extents import target_dims
from ge_dialect.kernels.shapes.info import (
    FLOAT,
    INT32,
    INT64,
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.readers import (
    common_dtype,
    ge_dtype_attr,
    int_attr,
    ints_attr,
    known_ints,
    onnx_dtype_attr,
    tensor_input,
    value_of,
)
from ge_dialect.kernels.spec import OpSpec


def _shape_vector(spec: OpSpec, inputs: Inputs, dtype: DType) -> Outputs:
    x = tensor_input(spec, inputs, 0)
    if x.shape is None:
        return [TensorInfo(dtype, (UNKNOWN,))]
    rank = len(x.shape)
    start, end = int_attr(spec, "start", 0), int_attr(spec, "end", rank)
    return [TensorInfo(dtype, (len(range(*slice(start, end).indices(rank))),))]


def shape_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The dimensions, from `start` to `end`, as `dtype` (int32 unless given)."""
    return _shape_vector(spec, inputs, ge_dtype_attr(spec, "dtype", INT32))


def shape_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The dimensions, from `start` to `end`, as int64."""
    return _shape_vector(spec, inputs, INT64)


def size_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The number of elements, a scalar of `dtype` (int32 unless given)."""
    tensor_input(spec, inputs, 0)
    return [TensorInfo(ge_dtype_attr(spec, "dtype", INT32), ())]


def size_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The number of elements, an int64 scalar."""
    tensor_input(spec, inputs, 0)
    return [TensorInfo(INT64, ())]


def rank_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The number of dimensions, an int32 scalar."""
    tensor_input(spec, inputs, 0)
    return [TensorInfo(INT32, ())]


def range_count(start: NDArray[Any], limit: NDArray[Any], delta: NDArray[Any]) -> int | None:
    """Elements of Range by ONNX's formula: max(ceil((limit - start) / delta), 0); None for a delta of 0.

    Differences of small floats are rounded to their type, as a run-time does.
    """
    if delta.item() == 0:
        return None
    if start.dtype.kind in "iu":
        return max(-((start.item() - limit.item()) // delta.item()), 0)
    with np.errstate(all="ignore"):
        quotient = float((limit - start).item()) / float(delta.item())
    return max(math.ceil(quotient), 0) if math.isfinite(quotient) else None


def range_of(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(start, limit, delta) scalars of one element type."""
    infos = [tensor_input(spec, inputs, index) for index in range(3)]
    dtype = common_dtype(spec, infos)
    found = [value_of(values, index) for index in range(3)]
    if any(value is None or value.size != 1 for value in found):
        return [TensorInfo(dtype, (UNKNOWN,))]
    start, limit, delta = (cast("NDArray[Any]", value).reshape(()) for value in found)
    count = range_count(start, limit, delta)
    if count is None:
        raise ShapeError(f"{spec.type} from {start} to {limit} by {delta} has no end")
    return [TensorInfo(dtype, (count,))]


def constant_of_shape(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(shape){value}: filled with the one element of `value`, float32 unless given."""
    tensor_input(spec, inputs, 0)
    value = spec.attrs.get("value")
    dtype = FLOAT
    if isinstance(value, np.ndarray):
        dtype = dtype_of_numpy(cast("NDArray[Any]", value).dtype)
    return [TensorInfo(dtype, target_dims(spec, inputs, values, 0))]


def fill(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(dims, value)."""
    value = tensor_input(spec, inputs, 1)
    return [TensorInfo(value.dtype, target_dims(spec, inputs, values, 0))]


def random(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Attributes `shape` and `dtype`."""
    shape = ints_attr(spec, "shape")
    if shape is None:
        raise ShapeError(f"{spec.type} attribute shape is missing")
    return [TensorInfo(onnx_dtype_attr(spec, "dtype", FLOAT), tuple(shape))]


def like(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Shape of input 0; its element type unless `dtype` is given."""
    x = tensor_input(spec, inputs, 0)
    return [TensorInfo(onnx_dtype_attr(spec, "dtype", x.dtype), x.shape)]


def window_function(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(size): one dimension of `size` elements."""
    tensor_input(spec, inputs, 0)
    size = known_ints(values, 0)
    return [
        TensorInfo(onnx_dtype_attr(spec, "output_datatype", FLOAT), (size[0] if size else UNKNOWN,))
    ]


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {"Shape": shape_ge, "Size": size_ge, "Rank": rank_ge, "Range": range_of, "Fill": fill}
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Shape", shape_onnx),
    OnnxShape("Size", size_onnx),
    OnnxShape("Range", range_of),
    OnnxShape("ConstantOfShape", constant_of_shape),
    *(OnnxShape(op, random) for op in ("RandomNormal", "RandomUniform")),
    *(
        OnnxShape(op, like)
        for op in ("RandomNormalLike", "RandomUniformLike", "EyeLike", "Bernoulli")
    ),
    *(OnnxShape(op, window_function) for op in ("HannWindow", "HammingWindow", "BlackmanWindow")),
)
