"""Picking elements by index, and putting them back."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    BOOL,
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
    known_ints,
    normal_axis,
    rank_of,
    same_dim,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def _gathered(spec: OpSpec, x: TensorInfo, indices: TensorInfo, axis: int | None) -> Outputs:
    """The axis is replaced by the dimensions of the indices."""
    if x.shape is None or indices.shape is None:
        return [TensorInfo(x.dtype, None)]
    rank = rank_of(spec, 0, x.shape, 1)
    if axis is None:
        return [TensorInfo(x.dtype, (UNKNOWN,) * (rank - 1 + len(indices.shape)))]
    axis = normal_axis(spec, axis, rank)
    return [TensorInfo(x.dtype, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))]


def gather_v2(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, indices, axis); with batch dimensions (attribute batch_dims) nothing but the element type is known."""
    x, indices = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    if spec.attrs.get("batch_dims"):
        return [TensorInfo(x.dtype, None)]
    axes = known_ints(values, 2)
    return _gathered(spec, x, indices, axes[0] if axes else None)


def gather_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(data, indices){axis}."""
    x, indices = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    return _gathered(spec, x, indices, int_attr(spec, "axis", 0))


def gather_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """GE's older Gather(x, indices): axis 0."""
    return _gathered(spec, tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1), 0)


def gather_elements(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The result has the shape of the indices."""
    x, indices = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    if x.shape is not None and indices.shape is not None:
        rank_of(spec, 1, indices.shape, len(x.shape), len(x.shape))
    if x.shape is not None:
        normal_axis(spec, int_attr(spec, "axis", 0), len(x.shape))
    return [TensorInfo(x.dtype, indices.shape)]


def gather_nd(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """The last dimension of the indices counts the leading dimensions of the data that they address."""
    x, indices = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    if x.shape is None or indices.shape is None:
        return [TensorInfo(x.dtype, None)]
    rank_of(spec, 0, x.shape, 1)
    rank_of(spec, 1, indices.shape, 1)
    batch = int_attr(spec, "batch_dims", 0)
    depth = indices.shape[-1]
    if depth < 0:
        return [TensorInfo(x.dtype, None)]
    if batch + depth > len(x.shape):
        raise ShapeError(
            f"{spec.type} indices of shape {shape_text(indices.shape)} with {batch} batch dimensions"
            f" address more than the {len(x.shape)} dimensions of {shape_text(x.shape)}"
        )
    return [TensorInfo(x.dtype, (*indices.shape[:-1], *x.shape[batch + depth :]))]


def scatter(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(data, indices, updates): the data with some elements replaced."""
    x, updates = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 2)
    common_dtype(spec, (x, updates))
    return [x]


def one_hot(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(indices, depth, values): a new axis of `depth` elements, of the element type of `values`."""
    indices, on_off = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 2)
    if indices.shape is None:
        return [TensorInfo(on_off.dtype, None)]
    depth = known_ints(values, 1)
    axis = normal_axis(spec, int_attr(spec, "axis", -1), len(indices.shape) + 1)
    shape = list(indices.shape)
    shape.insert(axis, int(depth[0]) if depth else UNKNOWN)
    return [TensorInfo(on_off.dtype, tuple(shape))]


def topk(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(values, indices), `k` along the axis; k is input 1, or an attribute before version 10."""
    x = tensor_input(spec, inputs, 0)
    if x.shape is None:
        return [x, TensorInfo(INT64, None)]
    axis = normal_axis(spec, int_attr(spec, "axis", -1), len(x.shape))
    found = known_ints(values, 1) if spec.version >= 10 else [int_attr(spec, "k")]
    count = found[0] if found else UNKNOWN
    if count > x.shape[axis] >= 0:
        raise ShapeError(
            f"{spec.type} cannot take {count} of {x.shape[axis]} elements along axis {axis}"
        )
    shape: Shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    return [TensorInfo(x.dtype, shape), TensorInfo(INT64, shape)]


def non_zero(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Indices of the elements that are not 0, [rank, ?]."""
    x = tensor_input(spec, inputs, 0)
    rank = UNKNOWN if x.shape is None else len(x.shape)
    return [TensorInfo(INT64, (rank, UNKNOWN))]


def where_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """GE's Where: indices of the elements that are not 0, [?, rank]."""
    x = tensor_input(spec, inputs, 0)
    rank = UNKNOWN if x.shape is None else len(x.shape)
    return [TensorInfo(INT64, (UNKNOWN, rank))]


def compress(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(data, condition){axis}: how many are taken depends on the condition; without axis from the flat data."""
    x, condition = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    common_dtype(spec, (TensorInfo(BOOL, None), condition))
    if spec.attrs.get("axis") is None:
        return [TensorInfo(x.dtype, (UNKNOWN,))]
    if x.shape is None:
        return [x]
    axis = normal_axis(spec, int_attr(spec, "axis"), len(x.shape))
    return [TensorInfo(x.dtype, (*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :]))]


def non_max_suppression(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """[?, 3]: batch, class and box of each box that is kept."""
    boxes, scores = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    if boxes.shape is not None and scores.shape is not None:
        rank_of(spec, 0, boxes.shape, 3, 3)
        rank_of(spec, 1, scores.shape, 3, 3)
        if same_dim(boxes.shape[1], scores.shape[2]) is None:
            raise ShapeError(
                f"{spec.type} has {boxes.shape[1]} boxes and scores of {scores.shape[2]}"
            )
    return [TensorInfo(INT64, (UNKNOWN, 3))]


def unique(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(values, first indices, inverse indices, counts)."""
    x = tensor_input(spec, inputs, 0)
    some = TensorInfo(INT64, (UNKNOWN,))
    if spec.attrs.get("axis") is None:
        return [TensorInfo(x.dtype, (UNKNOWN,)), some, some, some]
    if x.shape is None:
        return [x, some, some, some]
    axis = normal_axis(spec, int_attr(spec, "axis"), len(x.shape))
    shape = (*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :])
    return [TensorInfo(x.dtype, shape), some, TensorInfo(INT64, (x.shape[axis],)), some]


def roi_align(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, rois, batch_indices) -> [rois, channels, output_height, output_width]."""
    x, rois = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    count = UNKNOWN if rois.shape is None else rois.shape[0]
    channels = UNKNOWN if x.shape is None else x.shape[rank_of(spec, 0, x.shape, 4, 4) - 3]
    size = (int_attr(spec, "output_height", 1), int_attr(spec, "output_width", 1))
    return [TensorInfo(x.dtype, (count, channels, *size))]


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        "GatherV2": gather_v2,
        "Gather": gather_ge,
        "GatherElements": gather_elements,
        "GatherNd": gather_nd,
        "Where": where_ge,
        "NonZero": non_zero,
        "ScatterElements": scatter,
        "ScatterNdUpdate": scatter,
        "ScatterUpdate": scatter,
        "TensorScatterUpdate": scatter,
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Gather", gather_onnx),
    OnnxShape("GatherElements", gather_elements),
    OnnxShape("GatherND", gather_nd),
    OnnxShape("Scatter", scatter),
    OnnxShape("ScatterElements", scatter),
    OnnxShape("ScatterND", scatter),
    OnnxShape("OneHot", one_hot),
    OnnxShape("TopK", topk),
    OnnxShape("NonZero", non_zero),
    OnnxShape("Compress", compress),
    OnnxShape("NonMaxSuppression", non_max_suppression),
    OnnxShape("Unique", unique),
    OnnxShape("RoiAlign", roi_align),
)
