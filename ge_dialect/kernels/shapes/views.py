"""The same elements under another shape: Reshape and its relatives, Transpose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

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
    element_count,
    int_attr,
    ints_attr,
    known_ints,
    length_of,
    normal_axes,
    normal_axis,
    optional_input,
    partial_ints,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def reshaped(
    spec: OpSpec, shape: Shape | None, target: Sequence[int | None], zero_is_zero: bool
) -> Shape:
    """The shape that `target` gives a tensor of `shape` (ONNX Reshape).

    In `target` 0 copies the dimension at its place (unless `zero_is_zero`), -1 is what is left over, None not known.
    """
    if list(target).count(-1) > 1:
        raise ShapeError(f"{spec.type} target {_target_text(target)} has more than one -1")
    result: list[int] = []
    copied: set[int] = set()
    for place, dim in enumerate(target):
        if dim is None or dim == -1:
            result.append(UNKNOWN)
        elif dim < -1:
            raise ShapeError(f"{spec.type} target {_target_text(target)} has the dimension {dim}")
        elif dim > 0 or zero_is_zero:
            result.append(dim)
        elif shape is None:
            result.append(UNKNOWN)
        elif place < len(shape):
            result.append(shape[place])
            copied.add(place)
        else:
            raise ShapeError(
                f"{spec.type} target {_target_text(target)} copies dimension {place}"
                f" of a tensor of shape {shape_text(shape)}"
            )
    if shape is None:
        return tuple(result)
    if 0 not in result:
        _fill_in(spec, shape, target, copied, result)
    elif element_count(shape) > 0:
        raise _other_count(spec, shape, target)
    return tuple(result)


def _fill_in(
    spec: OpSpec, shape: Shape, target: Sequence[int | None], copied: set[int], result: list[int]
) -> None:
    """Put the one dimension that is left over into `result`: both shapes have the same number of elements.

    Dimensions that are copied count on both sides, so they need not be known.
    """
    left = element_count([dim for place, dim in enumerate(shape) if place not in copied])
    places = [place for place, dim in enumerate(target) if dim is None or dim == -1]
    spelled = math.prod(
        dim for place, dim in enumerate(result) if place not in copied and place not in places
    )
    if left < 0 or len(places) > 1:
        return
    if left % spelled if places else left != spelled:
        raise _other_count(spec, shape, target)
    # With an unknown dimension that may be 0 around, an entry that is not known could be anything.
    if places and (target[places[0]] == -1 or UNKNOWN not in shape):
        result[places[0]] = left // spelled


def _other_count(spec: OpSpec, shape: Shape, target: Sequence[int | None]) -> ShapeError:
    return ShapeError(
        f"{spec.type} cannot give a tensor of shape {shape_text(shape)} the shape {_target_text(target)}:"
        " the numbers of elements differ"
    )


def _target_text(target: Sequence[int | None]) -> str:
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in target) + "]"


def reshape(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, shape){allowzero}: nothing known about `shape` but its length gives a rank."""
    x = tensor_input(spec, inputs, 0)
    given = optional_input(spec, inputs, 1)
    target: Sequence[int | None] | None = partial_ints(values, 1)
    if given is None:
        target = ints_attr(spec, "shape")
        if target is None:
            raise ShapeError(f"{spec.type} has neither an input 1 nor an attribute shape")
    if target is None:
        count = length_of(given)
        if count < 0:
            return [TensorInfo(x.dtype, None)]
        target = [None] * count
    return [
        TensorInfo(x.dtype, reshaped(spec, x.shape, target, bool(spec.attrs.get("allowzero", 0))))
    ]


def flatten(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Two dimensions: those before `axis` and those from it on."""
    axis = int_attr(spec, "axis", 1)
    x = tensor_input(spec, inputs, 0)
    if x.shape is None:
        return [TensorInfo(x.dtype, (UNKNOWN, UNKNOWN))]
    rank = len(x.shape)
    if not -rank <= axis <= rank:
        raise ShapeError(f"{spec.type} axis {axis} is out of range for rank {rank}")
    axis = axis + rank if axis < 0 else axis
    return [TensorInfo(x.dtype, (element_count(x.shape[:axis]), element_count(x.shape[axis:])))]


def squeezed(spec: OpSpec, x: TensorInfo, axes: Sequence[int] | None) -> Outputs:
    """Without the dimensions `axes`, which must be 1; None or none: without all dimensions that are 1."""
    shape = x.shape
    if shape is None:
        return [x]
    if not axes:
        if UNKNOWN in shape:
            return [TensorInfo(x.dtype, None)]
        return [TensorInfo(x.dtype, tuple(dim for dim in shape if dim != 1))]
    normal = normal_axes(spec, axes, len(shape))
    for axis in normal:
        if shape[axis] not in (1, UNKNOWN):
            raise ShapeError(f"{spec.type} dimension {axis} of shape {shape_text(shape)} is not 1")
    return [TensorInfo(x.dtype, tuple(dim for axis, dim in enumerate(shape) if axis not in normal))]


def squeeze_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){axis}."""
    return squeezed(spec, tensor_input(spec, inputs, 0), ints_attr(spec, "axis"))


def squeeze_by_input(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, axes), or ONNX's older attribute `axes`."""
    x = tensor_input(spec, inputs, 0)
    axes = ints_attr(spec, "axes")
    if axes is not None or optional_input(spec, inputs, 1) is None:
        return squeezed(spec, x, axes)
    axes = known_ints(values, 1)
    if axes is not None:
        return squeezed(spec, x, axes)
    count = length_of(optional_input(spec, inputs, 1))
    if x.shape is None or count <= 0 or count > len(x.shape):
        return [TensorInfo(x.dtype, None)]
    return [TensorInfo(x.dtype, (UNKNOWN,) * (len(x.shape) - count))]


def unsqueezed(spec: OpSpec, x: TensorInfo, axes: Sequence[int]) -> Outputs:
    """With new dimensions 1 at the places `axes` of the result."""
    shape = x.shape
    if shape is None:
        return [x]
    rank = len(shape) + len(axes)
    new = normal_axes(spec, axes, rank)
    old = iter(shape)
    return [TensorInfo(x.dtype, tuple(1 if axis in new else next(old) for axis in range(rank)))]


def unsqueeze(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){axes}, (x, axes)."""
    x = tensor_input(spec, inputs, 0)
    axes = ints_attr(spec, "axes")
    if axes is None:
        tensor_input(spec, inputs, 1)
        axes = known_ints(values, 1)
    if axes is not None:
        return unsqueezed(spec, x, axes)
    count = length_of(optional_input(spec, inputs, 1))
    if x.shape is None or count < 0:
        return [TensorInfo(x.dtype, None)]
    return [TensorInfo(x.dtype, (UNKNOWN,) * (len(x.shape) + count))]


def transpose(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x){perm}; no perm reverses."""
    x = tensor_input(spec, inputs, 0)
    perm = ints_attr(spec, "perm")
    shape = x.shape
    if perm is None:
        return [x if shape is None else TensorInfo(x.dtype, shape[::-1])]
    return permuted(spec, x, perm)


def permuted(spec: OpSpec, x: TensorInfo, perm: Sequence[int]) -> Outputs:
    """Dimension i of the result is dimension perm[i] of `x`."""
    shape = x.shape
    if shape is None:
        return [TensorInfo(x.dtype, (UNKNOWN,) * len(perm))]
    if len(perm) != len(shape) or len(set(perm)) != len(perm):
        raise ShapeError(
            f"{spec.type} perm {list(perm)} is no permutation of {len(shape)} dimensions"
        )
    return [
        TensorInfo(
            x.dtype,
            tuple(shape[normal_axis(spec, axis, len(shape), "perm entry")] for axis in perm),
        )
    ]


def transpose_by_input(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, perm)."""
    x = tensor_input(spec, inputs, 0)
    perm = known_ints(values, 1)
    if perm is not None:
        return permuted(spec, x, perm)
    return [TensorInfo(x.dtype, None if x.shape is None else (UNKNOWN,) * len(x.shape))]


def depth_to_space(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """[n, c, h, w] -> [n, c / b², h b, w b]."""
    return [_blocks(spec, tensor_input(spec, inputs, 0), True)]


def space_to_depth(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """[n, c, h, w] -> [n, c b², h / b, w / b]."""
    return [_blocks(spec, tensor_input(spec, inputs, 0), False)]


def _blocks(spec: OpSpec, x: TensorInfo, to_space: bool) -> TensorInfo:
    block = int_attr(spec, "blocksize")
    if block < 1:
        raise ShapeError(f"{spec.type} attribute blocksize = {block} must be positive")
    if x.shape is None:
        return TensorInfo(x.dtype, (UNKNOWN,) * 4)
    if len(x.shape) != 4:
        raise ShapeError(f"{spec.type} input 0 has rank {len(x.shape)}, expected 4")
    n, c, h, w = x.shape
    for size, unit in [(c, block * block)] if to_space else [(h, block), (w, block)]:
        if size >= 0 and size % unit:
            raise ShapeError(
                f"{spec.type} blocks of {block} do not divide shape {shape_text(x.shape)}"
            )
    if to_space:
        return TensorInfo(
            x.dtype, (n, *_scaled(c, 1, block * block), *_scaled(h, block), *_scaled(w, block))
        )
    return TensorInfo(
        x.dtype, (n, *_scaled(c, block * block), *_scaled(h, 1, block), *_scaled(w, 1, block))
    )


def _scaled(dim: int, factor: int, divisor: int = 1) -> Shape:
    return (UNKNOWN,) if dim < 0 else (dim * factor // divisor,)


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        "Reshape": reshape,
        "Flatten": flatten,
        "Squeeze": squeeze_ge,
        "SqueezeV3": squeeze_by_input,
        "Unsqueeze": unsqueeze,
        "UnsqueezeV3": unsqueeze,
        "ExpandDims": unsqueeze,
        "TransposeD": transpose,
        "Transpose": transpose_by_input,
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("Reshape", reshape),
    OnnxShape("Flatten", flatten),
    OnnxShape("Squeeze", squeeze_by_input),
    OnnxShape("Unsqueeze", unsqueeze),
    OnnxShape("Transpose", transpose),
    OnnxShape("DepthToSpace", depth_to_space),
    OnnxShape("SpaceToDepth", space_to_depth),
)
