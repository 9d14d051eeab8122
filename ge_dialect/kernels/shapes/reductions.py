"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    INT64,
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    Shape,
    ShapeFunction,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.readers import (
    int_attr,
    ints_attr,
    known_ints,
    length_of,
    normal_axes,
    normal_axis,
    optional_input,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def reduced(spec: OpSpec, shape: Shape | None, axes: Sequence[int], keep: bool) -> Shape | None:
    """The axes become 1 or are dropped; no axes means all."""
    if shape is None:
        return None if keep or axes else ()
    if not axes:
        return (1,) * len(shape) if keep else ()
    normal = normal_axes(spec, axes, len(shape))
    if keep:
        return tuple(1 if axis in normal else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in normal)


def _by_unknown_axes(x: TensorInfo, axes: TensorInfo, keep: bool) -> Shape | None:
    """What is known of the result when the axes are not."""
    if x.shape is None:
        return None
    if keep:
        return tuple(1 if dim == 1 else UNKNOWN for dim in x.shape)
    count = length_of(axes)
    return (UNKNOWN,) * (len(x.shape) - count) if 0 < count <= len(x.shape) else None


def reduce_by_attribute(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){axes, keep_dims = false}."""
    x = tensor_input(spec, inputs, 0)
    keep = bool(spec.attrs.get("keep_dims", False))
    return [TensorInfo(x.dtype, reduced(spec, x.shape, ints_attr(spec, "axes") or (), keep))]


def _by_input(spec: OpSpec, inputs: Inputs, values: Values, keep: bool) -> TensorInfo:
    x, axes = tensor_input(spec, inputs, 0), optional_input(spec, inputs, 1)
    found = known_ints(values, 1)
    if axes is not None and found is None and length_of(axes) != 0:
        return TensorInfo(x.dtype, _by_unknown_axes(x, axes, keep))
    if not found and spec.attrs.get("noop_with_empty_axes"):
        return x
    return TensorInfo(x.dtype, reduced(spec, x.shape, found or (), keep))


def reduce_by_input(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, axes){keep_dims = false}."""
    return [_by_input(spec, inputs, values, bool(spec.attrs.get("keep_dims", False)))]


def reduce_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The attribute axes (older versions) or input 1; keepdims is 1 unless given."""
    keep = bool(spec.attrs.get("keepdims", 1))
    axes = ints_attr(spec, "axes")
    if axes is None:
        return [_by_input(spec, inputs, values, keep)]
    x = tensor_input(spec, inputs, 0)
    return [TensorInfo(x.dtype, reduced(spec, x.shape, axes, keep))]


def arg_extreme(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """ArgMax, ArgMin: indices along one axis."""
    x = tensor_input(spec, inputs, 0)
    keep = bool(spec.attrs.get("keepdims", 1))
    axis = int_attr(spec, "axis", 0)
    if x.shape is not None:
        normal_axis(spec, axis, len(x.shape))
    return [TensorInfo(INT64, reduced(spec, x.shape, (axis,), keep))]


_KINDS = "Sum Mean Max Min Prod".split()

GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        **dict.fromkeys(
            (f"Reduce{kind}D" for kind in (*_KINDS, "Any", "All")), reduce_by_attribute
        ),
        **dict.fromkeys((f"Reduce{kind}" for kind in (*_KINDS, "Any", "All")), reduce_by_input),
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    *(
        OnnxShape(f"Reduce{kind}", reduce_onnx)
        for kind in (*_KINDS, "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
    ),
    OnnxShape("ArgMax", arg_extreme),
    OnnxShape("ArgMin", arg_extreme),
)
