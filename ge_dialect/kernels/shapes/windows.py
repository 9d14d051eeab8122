"""Convolutions and pools: how many windows fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from ge_dialect.formats.dtypes import DType
from ge_dialect.kernels.shapes.info import (
    INT32,
    INT64,
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    Shape,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
    shape_text,
)
from ge_dialect.kernels.shapes.readers import (
    common_dtype,
    int_attr,
    ints_attr,
    optional_input,
    rank_of,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def per_axis(spec: OpSpec, name: str, rank: int, default: int) -> Sequence[int]:
    """The attribute's entry for each of `rank` spatial dimensions; an empty or absent one means `default`."""
    found = ints_attr(spec, name)
    if not found:
        return (default,) * rank
    if len(found) != rank:
        raise ShapeError(f"{spec.type} attribute {name} has {len(found)} entries, expected {rank}")
    if min(found) < 0 or (default == 1 and min(found) < 1):
        raise ShapeError(f"{spec.type} attribute {name} = {found} must be positive")
    return found


def padding(spec: OpSpec, rank: int) -> Sequence[int]:
    """ONNX's `pads`: all begins, then all ends."""
    pads = ints_attr(spec, "pads")
    if not pads:
        return (0,) * (2 * rank)
    if len(pads) != 2 * rank:
        raise ShapeError(f"{spec.type} attribute pads has {len(pads)} entries, expected {2 * rank}")
    return pads


def window_count(
    spec: OpSpec,
    size: int,
    kernel: int,
    stride: int,
    dilation: int,
    begin: int,
    end: int,
    ceil: bool = False,
) -> int:
    """Windows over one dimension. With `ceil` the last may reach beyond the padding but may not start there."""
    if size < 0 or kernel < 0:
        return UNKNOWN
    room = size + begin + end - ((kernel - 1) * dilation + 1)
    if room < 0 and not ceil:
        if size == 0:
            return 0
        raise ShapeError(
            f"{spec.type} window of {(kernel - 1) * dilation + 1} does not fit into"
            f" {size} elements padded by {begin} and {end}"
        )
    count = (-(-room // stride) if ceil else room // stride) + 1
    if ceil and (count - 1) * stride >= size + begin:
        count -= 1
    return max(count, 0)


def onnx_window_counts(spec: OpSpec, sizes: Shape, kernel: Shape, ceil: bool = False) -> Shape:
    """Windows over each spatial dimension by strides, dilations, pads and auto_pad."""
    rank = len(sizes)
    strides = per_axis(spec, "strides", rank, 1)
    dilations = per_axis(spec, "dilations", rank, 1)
    auto = spec.string("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return tuple(UNKNOWN if n < 0 else -(-n // s) for n, s in zip(sizes, strides, strict=True))
    pads = (0,) * (2 * rank) if auto == "VALID" else padding(spec, rank)
    return tuple(
        window_count(
            spec, sizes[i], kernel[i], strides[i], dilations[i], pads[i], pads[i + rank], ceil
        )
        for i in range(rank)
    )


def _channels(spec: OpSpec, x: Shape, weights: Shape, groups: int) -> None:
    """Channels of x (dimension 1) = weights' input channels times groups, which divide the output channels."""
    if weights[1] >= 0 and x[1] >= 0 and weights[1] * groups != x[1]:
        raise ShapeError(
            f"{spec.type} has {x[1]} input channels, its filter {shape_text(weights)} with"
            f" {groups} groups expects {weights[1] * groups}"
        )
    if weights[0] >= 0 and weights[0] % groups:
        raise ShapeError(f"{spec.type} {groups} groups do not divide {weights[0]} output channels")


def _group_count(spec: OpSpec, name: str) -> int:
    groups = int_attr(spec, name, 1)
    if groups < 1:
        raise ShapeError(f"{spec.type} attribute {name} = {groups} must be positive")
    return groups


def conv2d(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """GE's Conv2D(x, filter[, bias]): strides and dilations have four entries, pads is [top, bottom, left, right].

    Layouts other than NCHW give an unknown shape of rank 4.
    """
    x, weights = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    bias = optional_input(spec, inputs, 2)
    dtype = common_dtype(spec, (x, weights))
    bias_channels(spec, bias, weights.shape, 0)
    if spec.string("data_format", "NHWC") != "NCHW":
        return [TensorInfo(dtype, (UNKNOWN,) * 4)]
    xs = (UNKNOWN,) * 4 if x.shape is None else x.shape
    ws = (UNKNOWN,) * 4 if weights.shape is None else weights.shape
    rank_of(spec, 0, xs, 4, 4)
    rank_of(spec, 1, ws, 4, 4)
    _channels(spec, xs, ws, _group_count(spec, "groups"))
    strides, dilations = per_axis(spec, "strides", 4, 1), per_axis(spec, "dilations", 4, 1)
    pads = ints_attr(spec, "pads") or [0, 0, 0, 0]
    if len(pads) != 4:
        raise ShapeError(f"{spec.type} attribute pads has {len(pads)} entries, expected 4")
    rows = window_count(spec, xs[2], ws[2], strides[2], dilations[2], pads[0], pads[1])
    columns = window_count(spec, xs[3], ws[3], strides[3], dilations[3], pads[2], pads[3])
    return [TensorInfo(dtype, (xs[0], ws[0], rows, columns))]


def bias_channels(
    spec: OpSpec, bias: TensorInfo | None, weights: Shape | None, axis: int, groups: int = 1
) -> None:
    """A bias is one number an output channel."""
    if bias is None or bias.shape is None or weights is None:
        return
    channels = weights[axis]
    wanted = UNKNOWN if channels < 0 else channels * groups
    if len(bias.shape) != 1 or (wanted >= 0 and bias.shape[0] >= 0 and bias.shape[0] != wanted):
        raise ShapeError(
            f"{spec.type} bias has shape {shape_text(bias.shape)}, expected {shape_text((wanted,))}"
        )


def _conv_shape(spec: OpSpec, xs: Shape | None, ws: Shape | None) -> Shape | None:
    """[n, c, d...] with filter [m, c / groups, k...] of one rank."""
    if xs is None and ws is None:
        return None
    xs = (UNKNOWN,) * len(ws or ()) if xs is None else xs
    ws = (UNKNOWN,) * len(xs) if ws is None else ws
    rank = rank_of(spec, 0, xs, 3)
    rank_of(spec, 1, ws, rank, rank)
    _channels(spec, xs, ws, _group_count(spec, "group"))
    kernel = ws[2:]
    if UNKNOWN in kernel:
        kernel = (
            tuple(per_axis(spec, "kernel_shape", rank - 2, UNKNOWN))
            if spec.has("kernel_shape")
            else kernel
        )
    return (xs[0], ws[0], *onnx_window_counts(spec, xs[2:], kernel))


def conv(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """ONNX's Conv of any rank."""
    x, weights = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    bias = optional_input(spec, inputs, 2)
    dtype = common_dtype(spec, (x, weights) if bias is None else (x, weights, bias))
    bias_channels(spec, bias, weights.shape, 0)
    return [TensorInfo(dtype, _conv_shape(spec, x.shape, weights.shape))]


def conv_integer(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, w, x_zero, w_zero) of 8-bit integers, as int32."""
    x, weights = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    return [TensorInfo(INT32, _conv_shape(spec, x.shape, weights.shape))]


def qlinear_conv(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero[, bias]): the element type is that of y_zero."""
    x, weights, zero = (tensor_input(spec, inputs, index) for index in (0, 3, 7))
    return [TensorInfo(zero.dtype, _conv_shape(spec, x.shape, weights.shape))]


def conv_transpose(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The filter is [c, m / groups, k...]; `output_shape`, when given, decides the spatial dimensions."""
    x, weights = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    bias = optional_input(spec, inputs, 2)
    dtype = common_dtype(spec, (x, weights) if bias is None else (x, weights, bias))
    groups = _group_count(spec, "group")
    bias_channels(spec, bias, weights.shape, 1, groups)
    xs, ws = x.shape, weights.shape
    if xs is None and ws is None:
        return [TensorInfo(dtype, None)]
    xs = (UNKNOWN,) * len(ws or ()) if xs is None else xs
    ws = (UNKNOWN,) * len(xs) if ws is None else ws
    rank = rank_of(spec, 0, xs, 3)
    rank_of(spec, 1, ws, rank, rank)
    if xs[1] >= 0 and ws[0] >= 0 and xs[1] != ws[0]:
        raise ShapeError(
            f"{spec.type} has {xs[1]} input channels, its filter {shape_text(ws)} expects {ws[0]}"
        )
    channels = UNKNOWN if ws[1] < 0 else ws[1] * groups
    return [TensorInfo(dtype, (xs[0], channels, *_transposed_sizes(spec, xs[2:], ws[2:])))]


def _transposed_sizes(spec: OpSpec, sizes: Shape, kernel: Shape) -> Shape:
    rank = len(sizes)
    wanted = ints_attr(spec, "output_shape")
    if wanted:
        if len(wanted) not in (rank, rank + 2):
            raise ShapeError(
                f"{spec.type} attribute output_shape has {len(wanted)} entries, expected {rank}"
            )
        return tuple(wanted[-rank:])
    strides = per_axis(spec, "strides", rank, 1)
    dilations = per_axis(spec, "dilations", rank, 1)
    extra = per_axis(spec, "output_padding", rank, 0)
    auto = spec.string("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return tuple(UNKNOWN if n < 0 else n * s for n, s in zip(sizes, strides, strict=True))
    pads = (0,) * (2 * rank) if auto == "VALID" else padding(spec, rank)
    result: list[int] = []
    for i, (n, k) in enumerate(zip(sizes, kernel, strict=True)):
        if n < 0 or k < 0:
            result.append(UNKNOWN)
            continue
        span = (k - 1) * dilations[i] + 1
        result.append(max(strides[i] * (n - 1) + extra[i] + span - pads[i] - pads[i + rank], 0))
    return tuple(result)


def _pool(index_dtype: DType, spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    x = tensor_input(spec, inputs, 0)
    kernel = ints_attr(spec, "kernel_shape")
    if kernel is None:
        raise ShapeError(f"{spec.type} attribute kernel_shape is missing")
    xs = x.shape
    if xs is None:
        xs = (UNKNOWN,) * (len(kernel) + 2)
    rank_of(spec, 0, xs, len(kernel) + 2, len(kernel) + 2)
    counts = onnx_window_counts(spec, xs[2:], tuple(kernel), bool(spec.attrs.get("ceil_mode", 0)))
    shape = (*xs[:2], *counts)
    return [TensorInfo(x.dtype, shape), TensorInfo(index_dtype, shape)]


pool: ShapeFunction = partial(_pool, INT64)
"""MaxPool (values, indices), AveragePool, LpPool."""


def global_pool(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """All spatial dimensions become 1."""
    x = tensor_input(spec, inputs, 0)
    if x.shape is None:
        return [x]
    rank = rank_of(spec, 0, x.shape, 2)
    return [TensorInfo(x.dtype, (*x.shape[:2], *((1,) * (rank - 2))))]


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType({"Conv2D": conv2d})

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Conv", conv),
    OnnxShape("ConvInteger", conv_integer),
    OnnxShape("QLinearConv", qlinear_conv),
    OnnxShape("ConvTranspose", conv_transpose),
    *(OnnxShape(op, pool) for op in ("MaxPool", "AveragePool", "LpPool")),
    *(OnnxShape(op, global_pool) for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")),
)
