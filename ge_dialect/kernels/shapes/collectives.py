"""Collective communication: every rank gives one part and gets one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    UNKNOWN,
    Inputs,
    Outputs,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
    shape_text,
)
from ge_dialect.kernels.shapes.readers import (
    ge_dtype_attr,
    int_attr,
    ints_attr,
    rank_of,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def _ranks(spec: OpSpec) -> int:
    ranks = int_attr(spec, "rank_size")
    if ranks < 1:
        raise ShapeError(f"{spec.type} attribute rank_size = {ranks} must be positive")
    return ranks


def each_reduced(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Output k is like input k (AllReduce, Broadcast, Reduce, AllToAll)."""
    return [tensor_input(spec, inputs, index) for index in range(len(inputs))]


def all_gather(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Dimension 0 times `rank_size`."""
    ranks = _ranks(spec)
    result: Outputs = []
    for index in range(len(inputs)):
        x = tensor_input(spec, inputs, index)
        if x.shape is None:
            result.append(x)
            continue
        rank_of(spec, index, x.shape, 1)
        rows = x.shape[0]
        result.append(TensorInfo(x.dtype, (rows if rows < 0 else rows * ranks, *x.shape[1:])))
    return result


def reduce_scatter(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Dimension 0 divided by `rank_size`."""
    ranks = _ranks(spec)
    result: Outputs = []
    for index in range(len(inputs)):
        x = tensor_input(spec, inputs, index)
        if x.shape is None:
            result.append(x)
            continue
        rank_of(spec, index, x.shape, 1)
        rows = x.shape[0]
        if rows >= 0 and rows % ranks:
            raise ShapeError(
                f"{spec.type} cannot cut input {index} of shape {shape_text(x.shape)} into {ranks} equal parts"
            )
        result.append(TensorInfo(x.dtype, (rows if rows < 0 else rows // ranks, *x.shape[1:])))
    return result


def receive(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Attributes `shape` and `dtype`."""
    shape = ints_attr(spec, "shape")
    dtype = ge_dtype_attr(spec, "dtype")
    return [TensorInfo(dtype, None if shape is None else tuple(max(dim, UNKNOWN) for dim in shape))]


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        **dict.fromkeys(
            ("HcomAllReduce", "HcomBroadcast", "HcomReduce", "HcomAllToAll"), each_reduced
        ),
        "HcomAllGather": all_gather,
        "HcomReduceScatter": reduce_scatter,
        "HcomReceive": receive,
    }
)

ONNX_SHAPES: tuple[()] = ()
