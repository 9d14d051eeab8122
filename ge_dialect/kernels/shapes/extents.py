"""Operators that repeat, pad or cut a tensor along its dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ge_dialect.kernels.shapes.broadcast import broadcast_pair
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
    shape_text,
)
from ge_dialect.kernels.shapes.readers import (
    ints_attr,
    known_ints,
    length_of,
    normal_axis,
    optional_input,
    partial_ints,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def target_dims(spec: OpSpec, inputs: Inputs, values: Values, index: int) -> Shape | None:
    """The shape that input `index` spells, None when not even its length is known."""
    found = partial_ints(values, index)
    if found is not None:
        return tuple(UNKNOWN if dim is None or dim < 0 else dim for dim in found)
    count = length_of(optional_input(spec, inputs, index))
    return None if count < 0 else (UNKNOWN,) * count


def expand(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, shape): broadcast together, so a 1 in `shape` keeps the dimension."""
    x = tensor_input(spec, inputs, 0)
    target = target_dims(spec, inputs, values, 1)
    if target is None or x.shape is None:
        return [TensorInfo(x.dtype, None)]
    common = broadcast_pair(x.shape, target)
    if common is None:
        raise ShapeError(
            f"{spec.type} input 0 has shape {shape_text(x.shape)}, which does not broadcast with {shape_text(target)}"
        )
    return [TensorInfo(x.dtype, common)]


def tile(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, multiples): more multiples than dimensions put new dimensions in front."""
    x = tensor_input(spec, inputs, 0)
    times = target_dims(spec, inputs, values, 1)
    if x.shape is None:
        return [x]
    if times is None:
        return [TensorInfo(x.dtype, (UNKNOWN,) * len(x.shape))]
    lead = len(times) - len(x.shape)
    if lead < 0 or (lead and spec.source is not None):
        raise ShapeError(f"{spec.type} has {len(times)} multiples for {len(x.shape)} dimensions")
    shape = ((1,) * lead) + x.shape
    return [
        TensorInfo(x.dtype, tuple(_product(dim, n) for dim, n in zip(shape, times, strict=True)))
    ]


def _product(a: int, b: int) -> int:
    if a < 0 or b < 0:
        return 0 if a == 0 or b == 0 else UNKNOWN
    return a * b


def slice_count(size: int, begin: int, end: int, step: int) -> int:
    """Elements that a slice takes, clamped as ONNX's Slice says: from the last element at most when going down."""
    if begin < 0:
        begin += size
    if end < 0:
        end += size
    if step > 0:
        begin, end = min(max(begin, 0), size), min(max(end, 0), size)
        return max(-(-(end - begin) // step), 0)
    begin, end = min(max(begin, 0), size - 1), min(max(end, -1), size - 1)
    return max(-((begin - end) // step), 0) if size else 0


def sliced(
    spec: OpSpec,
    x: TensorInfo,
    begins: Sequence[int | None],
    ends: Sequence[int | None],
    axes: Sequence[int | None] | None,
    steps: Sequence[int | None] | None,
) -> Outputs:
    """`x[begin:end:step]` along the axes; None for an entry that is not known."""
    shape = x.shape
    if shape is None:
        return [x]
    count = len(begins)
    axes = range(count) if axes is None else axes
    steps = [1] * count if steps is None else steps
    if not len(ends) == len(axes) == len(steps) == count:
        raise ShapeError(
            f"{spec.type} has {count} begins, {len(ends)} ends, {len(axes)} axes and {len(steps)} strides"
        )
    if None in axes:
        return [TensorInfo(x.dtype, (UNKNOWN,) * len(shape))]
    result = list(shape)
    for begin, end, axis, step in zip(begins, ends, axes, steps, strict=True):
        assert axis is not None
        place = normal_axis(spec, axis, len(shape))
        if step == 0:
            raise ShapeError(f"{spec.type} stride along axis {axis} is 0")
        size = shape[place]
        if size == 0:
            continue
        if size < 0 or begin is None or end is None or step is None:
            result[place] = UNKNOWN
        else:
            result[place] = slice_count(size, begin, end, step)
    return [TensorInfo(x.dtype, tuple(result))]


def strided_slice(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, begin, end, axes, strides) as ONNX's Slice; GE's masks, when set, make the shape unknown."""
    x = tensor_input(spec, inputs, 0)
    if any(spec.attrs.get(mask) for mask in _MASKS):
        return [TensorInfo(x.dtype, None)]
    begin, end = tensor_input(spec, inputs, 1), tensor_input(spec, inputs, 2)
    axes, strides = optional_input(spec, inputs, 3), optional_input(spec, inputs, 4)
    count = max(length_of(info) for info in (begin, end, axes, strides))
    lists = [partial_ints(values, index) for index in range(1, 5)]
    if count < 0:
        count = max((len(found) for found in lists if found is not None), default=UNKNOWN)
    if count < 0 or (axes is not None and lists[2] is None):
        return [x if x.shape is None else TensorInfo(x.dtype, (UNKNOWN,) * len(x.shape))]
    unknown: list[int | None] = [None] * count
    begins, ends = (unknown if found is None else found for found in lists[:2])
    steps = None if strides is None else unknown if lists[3] is None else lists[3]
    return sliced(spec, x, begins, ends, None if axes is None else lists[2], steps)


def slice_by_attributes(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """ONNX's Slice before version 10: attributes starts, ends, axes."""
    starts, ends = ints_attr(spec, "starts"), ints_attr(spec, "ends")
    if starts is None or ends is None:
        raise ShapeError(
            f"{spec.type} attribute {'starts' if starts is None else 'ends'} is missing"
        )
    return sliced(spec, tensor_input(spec, inputs, 0), starts, ends, ints_attr(spec, "axes"), None)


def padded(
    spec: OpSpec, x: TensorInfo, pads: Sequence[int | None] | None, axes: Sequence[int] | None
) -> Outputs:
    """All begins, then all ends, along `axes` (None: all axes); negative pads cut."""
    shape = x.shape
    if shape is None:
        return [x]
    if pads is None:
        return [TensorInfo(x.dtype, (UNKNOWN,) * len(shape))]
    places = (
        range(len(shape))
        if axes is None
        else [normal_axis(spec, axis, len(shape)) for axis in axes]
    )
    count = len(places)
    if len(pads) != 2 * count:
        raise ShapeError(f"{spec.type} has {len(pads)} pads for {count} axes, expected {2 * count}")
    result = list(shape)
    for i, place in enumerate(places):
        before, after = pads[i], pads[i + count]
        if before is None or after is None or result[place] < 0:
            result[place] = UNKNOWN
            continue
        result[place] += before + after
        if result[place] < 0:
            raise ShapeError(
                f"{spec.type} pads {before} and {after} cut more than dimension {place} of {shape_text(shape)}"
            )
    return [TensorInfo(x.dtype, tuple(result))]


def pad(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, pads, value, axes), or the attribute `pads` (ONNX before version 11)."""
    x = tensor_input(spec, inputs, 0)
    pads: Sequence[int | None] | None = ints_attr(spec, "pads")
    if pads is None:
        tensor_input(spec, inputs, 1)
        pads = partial_ints(values, 1)
    axes = known_ints(values, 3)
    if axes is None and optional_input(spec, inputs, 3) is not None:
        pads = None
    return padded(spec, x, pads, axes)


def center_crop_pad(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, shape){axes}: the axes get exactly these sizes."""
    x = tensor_input(spec, inputs, 0)
    if x.shape is None:
        return [x]
    axes = ints_attr(spec, "axes")
    places = (
        range(len(x.shape))
        if axes is None
        else [normal_axis(spec, axis, len(x.shape)) for axis in axes]
    )
    sizes = target_dims(spec, inputs, values, 1)
    if sizes is None:
        sizes = (UNKNOWN,) * len(places)
    if len(sizes) != len(places):
        raise ShapeError(f"{spec.type} has {len(sizes)} sizes for {len(places)} axes")
    result = list(x.shape)
    for place, size in zip(places, sizes, strict=True):
        result[place] = size
    return [TensorInfo(x.dtype, tuple(result))]


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        "Expand": expand,
        "BroadcastTo": expand,
        "Tile": tile,
        "StridedSliceV2": strided_slice,
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Expand", expand),
    OnnxShape("Tile", tile, since=6),
    OnnxShape("Slice", slice_by_attributes, until=9),
    OnnxShape("Slice", strided_slice, since=10),
    OnnxShape("Pad", pad, since=2),
    OnnxShape("CenterCropPad", center_crop_pad),
)
