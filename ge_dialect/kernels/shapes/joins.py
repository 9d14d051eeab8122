"""Joining tensors along an axis, and cutting them up again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    UNKNOWN,
    Info,
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
    known_ints,
    normal_axis,
    rank_of,
    same_dim,
    tensor_input,
    tensor_inputs,
)
from ge_dialect.kernels.spec import OpSpec


def joined(spec: OpSpec, inputs: Inputs, axis: int | None, first: int = 0) -> Outputs:
    """Tensors of one element type that differ along `axis` only (None: it is not known which axis).

    `first` is the input slot of `inputs[0]`, for messages.
    """
    infos = tensor_inputs(spec, inputs)
    dtype = common_dtype(spec, infos)
    shape: list[int] | None = None
    total, reference = 0, 0
    for index, info in enumerate(infos):
        if info.shape is None:
            total = UNKNOWN
            continue
        if shape is None:
            shape, reference = list(info.shape), index
            rank = rank_of(spec, first + index, info.shape, 1)
            axis = None if axis is None else normal_axis(spec, axis, rank)
        dim = _merge(spec, shape, info.shape, axis, first + index, first + reference)
        total = UNKNOWN if dim < 0 or total < 0 else total + dim
    if shape is None:
        return [TensorInfo(dtype, None)]
    if axis is None:
        return [TensorInfo(dtype, (UNKNOWN,) * len(shape))]
    shape[axis] = total
    return [TensorInfo(dtype, tuple(shape))]


def _merge(
    spec: OpSpec, shape: list[int], other: Shape, axis: int | None, index: int, reference: int
) -> int:
    """Put what `other` says about the common dimensions into `shape`; returns its dimension along the axis."""
    if len(other) != len(shape):
        raise ShapeError(
            f"{spec.type} input {index} has shape {shape_text(other)}, expected rank {len(shape)} as input {reference}"
        )
    if axis is None:
        return UNKNOWN
    for place, dim in enumerate(other):
        if place == axis or dim == shape[place]:
            continue
        merged = same_dim(shape[place], dim)
        if merged is None:
            wanted = [UNKNOWN if i == axis else d for i, d in enumerate(shape)]
            raise ShapeError(
                f"{spec.type} input {index} has shape {shape_text(other)}, expected {shape_text(wanted)}"
                f" outside axis {axis} as input {reference}"
            )
        shape[place] = merged
    return other[axis]


def concat_d(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Axis `concat_dim`."""
    return joined(spec, inputs, int_attr(spec, "concat_dim"))


def concat_v2(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The axis is the last input."""
    tensor_input(spec, inputs, max(len(inputs) - 1, 0))
    return joined(spec, inputs[:-1], _one(known_ints(values, len(inputs) - 1)))


def concat_axis_first(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The axis is the first input."""
    tensor_input(spec, inputs, 0)
    return joined(spec, inputs[1:], _one(known_ints(values, 0)), first=1)


def concat_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Axis `axis`."""
    return joined(spec, inputs, int_attr(spec, "axis"))


def phony_concat(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Joins memory along one axis; with several axes, or without a result, nothing is known."""
    axes = ints_attr(spec, "concat_dim")
    if spec.n_outputs != 1 or axes is None or len(axes) != 1:
        return []
    return joined(spec, inputs, axes[0])


def _one(found: list[int] | None) -> int | None:
    return found[0] if found else None


def pack(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Tensors of one shape, stacked along a new axis `axis`."""
    infos = tensor_inputs(spec, inputs)
    dtype = common_dtype(spec, infos)
    shape: list[int] | None = None
    for index, info in enumerate(infos):
        if info.shape is None:
            continue
        if shape is None:
            shape = list(info.shape)
            continue
        merged = [same_dim(x, y) for x, y in zip(shape, info.shape, strict=False)]
        if len(shape) != len(info.shape) or None in merged:
            raise ShapeError(
                f"{spec.type} input {index} has shape {shape_text(info.shape)}, expected {shape_text(shape)}"
            )
        shape = [dim for dim in merged if dim is not None]
    if shape is None:
        return [TensorInfo(dtype, None)]
    shape.insert(normal_axis(spec, int_attr(spec, "axis", 0), len(shape) + 1), len(infos))
    return [TensorInfo(dtype, tuple(shape))]


def unpack(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The `num` slices along `axis`, without it."""
    x = tensor_input(spec, inputs, 0)
    count = int_attr(spec, "num", spec.n_outputs)
    if x.shape is None:
        return [x] * count
    axis = normal_axis(spec, int_attr(spec, "axis", 0), len(x.shape))
    if x.shape[axis] not in (UNKNOWN, count):
        raise ShapeError(
            f"{spec.type} cannot cut {x.shape[axis]} along axis {axis} into {count} slices"
        )
    return [TensorInfo(x.dtype, x.shape[:axis] + x.shape[axis + 1 :])] * count


def cut(
    spec: OpSpec, x: TensorInfo, axis: int | None, sizes: Sequence[int] | None, count: int
) -> Outputs:
    """`x` in `count` parts along `axis`; None for an axis or sizes that are not known, -1 for the rest of the axis."""
    if x.shape is None:
        return [x] * count
    if axis is None:
        return [TensorInfo(x.dtype, (UNKNOWN,) * len(x.shape))] * count
    axis = normal_axis(spec, axis, len(x.shape))
    parts = [UNKNOWN] * count if sizes is None else list(sizes)
    if len(parts) != count:
        raise ShapeError(f"{spec.type} has {len(parts)} sizes for {count} outputs")
    total = x.shape[axis]
    if sizes is not None and total >= 0:
        known = sum(size for size in parts if size >= 0)
        rest = [i for i, size in enumerate(parts) if size < 0]
        if len(rest) == 1:
            parts[rest[0]] = total - known
        if len(rest) > 1 or known > total or (not rest and known != total):
            raise ShapeError(
                f"{spec.type} sizes {list(sizes)} do not add up to {total}, the size of axis {axis}"
            )
    head, tail = x.shape[:axis], x.shape[axis + 1 :]
    return [TensorInfo(x.dtype, (*head, max(size, UNKNOWN), *tail)) for size in parts]


def cut_evenly(spec: OpSpec, x: TensorInfo, axis: int | None, count: int) -> Outputs:
    """`x` in `count` equal parts along `axis`."""
    if x.shape is None or axis is None:
        return cut(spec, x, axis, None, count)
    axis = normal_axis(spec, axis, len(x.shape))
    total = x.shape[axis]
    if count < 1:
        raise ShapeError(f"{spec.type} should cut into at least one part, not {count}")
    if total < 0:
        return cut(spec, x, axis, None, count)
    if total % count:
        raise ShapeError(
            f"{spec.type} cannot cut {total} along axis {axis} into {count} equal parts"
        )
    part: Info = TensorInfo(x.dtype, (*x.shape[:axis], total // count, *x.shape[axis + 1 :]))
    return [part] * count


def split_d(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){split_dim, num_split}: equal parts."""
    count = int_attr(spec, "num_split", spec.n_outputs)
    return cut_evenly(spec, tensor_input(spec, inputs, 0), int_attr(spec, "split_dim"), count)


def split_axis_first(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(split_dim, x){num_split}: equal parts."""
    count = int_attr(spec, "num_split", spec.n_outputs)
    return cut_evenly(spec, tensor_input(spec, inputs, 1), _one(known_ints(values, 0)), count)


def split_vd(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){size_splits, split_dim, num_split}."""
    sizes = ints_attr(spec, "size_splits")
    count = int_attr(spec, "num_split", spec.n_outputs)
    return cut(spec, tensor_input(spec, inputs, 0), int_attr(spec, "split_dim"), sizes, count)


def split_v(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, size_splits, split_dim){num_split}."""
    count = int_attr(spec, "num_split", spec.n_outputs)
    sizes, axis = known_ints(values, 1), _one(known_ints(values, 2))
    return cut(spec, tensor_input(spec, inputs, 0), axis, sizes, count)


def phony_split(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Cuts memory along one axis; with several axes nothing is known."""
    axes, counts = ints_attr(spec, "split_dim"), ints_attr(spec, "num_split")
    if axes is None or counts is None or len(axes) != 1 or len(counts) != 1:
        return []
    return cut_evenly(spec, tensor_input(spec, inputs, 0), axes[0], counts[0])


def split_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Sizes from the attribute (before version 13) or input 1; else parts of one size, the last may be smaller (18)."""
    x = tensor_input(spec, inputs, 0)
    axis = int_attr(spec, "axis", 0)
    sizes = ints_attr(spec, "split")
    count = spec.n_outputs
    if sizes is None and len(inputs) > 1 and inputs[1] is not None:
        return cut(spec, x, axis, known_ints(values, 1), count)
    if sizes is not None:
        return cut(spec, x, axis, sizes, count)
    if spec.version < 18 or x.shape is None:
        return cut_evenly(spec, x, axis, count)
    total = x.shape[normal_axis(spec, axis, len(x.shape))]
    if total < 0:
        return cut(spec, x, axis, None, count)
    part = -(-total // int_attr(spec, "num_outputs", count))
    return cut(spec, x, axis, [max(min(part, total - i * part), 0) for i in range(count)], count)


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        "ConcatD": concat_d,
        "ConcatV2D": concat_d,
        "ConcatV2": concat_v2,
        "Concat": concat_axis_first,
        "PhonyConcat": phony_concat,
        "Pack": pack,
        "Unpack": unpack,
        "SplitD": split_d,
        "Split": split_axis_first,
        "SplitVD": split_vd,
        "SplitV": split_v,
        "PhonySplit": phony_split,
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Concat", concat_onnx, since=4),
    OnnxShape("Split", split_onnx, since=2),
)
