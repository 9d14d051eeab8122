"""Normalizations with more than one result."""

from __future__ import annotations

from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    FLOAT,
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
    shape_text,
)
from ge_dialect.kernels.shapes.readers import (
    int_attr,
    normal_axis,
    onnx_dtype_attr,
    optional_input,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def layer_normalization(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(y, mean, inverse deviation); the statistics have 1 from `axis` on and the element type `stash_type`."""
    x = tensor_input(spec, inputs, 0)
    stash = onnx_dtype_attr(spec, "stash_type", FLOAT)
    if x.shape is None:
        return [x, TensorInfo(stash, None), TensorInfo(stash, None)]
    rank = len(x.shape)
    axis = normal_axis(spec, int_attr(spec, "axis", -1), rank)
    statistics = TensorInfo(stash, (*x.shape[:axis], *((1,) * (rank - axis))))
    return [x, statistics, statistics]


def batch_normalization(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(y, mean, variance, ...); statistics have one number a channel."""
    x = tensor_input(spec, inputs, 0)
    channels = (
        x.shape[1]
        if x.shape is not None and len(x.shape) > 1
        else 1
        if x.shape is not None
        else UNKNOWN
    )
    for index in range(1, 5):
        info = optional_input(spec, inputs, index)
        if info is None or info.shape is None:
            continue
        if len(info.shape) != 1 or (
            info.shape[0] >= 0 and channels >= 0 and info.shape[0] != channels
        ):
            raise ShapeError(
                f"{spec.type} input {index} has shape {shape_text(info.shape)}, expected {shape_text((channels,))}"
            )
        if channels < 0:
            channels = info.shape[0]
    mean = optional_input(spec, inputs, 3)
    statistics = TensorInfo(x.dtype if mean is None else mean.dtype, (channels,))
    return [x, *[statistics] * 4]


GE_SHAPES: MappingProxyType[str, ShapeFunction] = MappingProxyType({})

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("LayerNormalization", layer_normalization),
    OnnxShape("BatchNormalization", batch_normalization, since=7),
)
