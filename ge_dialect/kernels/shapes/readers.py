"""How shape functions read inputs, known values and attributes; everything wrong is a ShapeError."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ge_dialect.formats.dtypes import DType, dtype_by_cpp, dtype_by_onnx
from ge_dialect.kernels.shapes.info import (
    ANY_TYPE,
    UNKNOWN,
    Inputs,
    OpaqueInfo,
    Shape,
    ShapeError,
    TensorInfo,
    Values,
    dtype_text,
)
from ge_dialect.kernels.spec import OpSpec


def tensor_input(spec: OpSpec, inputs: Inputs, index: int) -> TensorInfo:
    """Input `index`, which must be a tensor."""
    info = inputs[index] if index < len(inputs) else None
    if isinstance(info, TensorInfo):
        return info
    if info is None:
        raise ShapeError(f"{spec.type} input {index} is missing")
    raise ShapeError(f"{spec.type} input {index} is {info.type}, expected a tensor")


def optional_input(spec: OpSpec, inputs: Inputs, index: int) -> TensorInfo | None:
    """Input `index`, None when it is not wired."""
    info = inputs[index] if index < len(inputs) else None
    if isinstance(info, OpaqueInfo):
        raise ShapeError(f"{spec.type} input {index} is {info.type}, expected a tensor")
    return info


def tensor_inputs(spec: OpSpec, inputs: Inputs) -> list[TensorInfo]:
    """All inputs, at least one, each a tensor."""
    if not inputs:
        raise ShapeError(f"{spec.type} has no inputs")
    return [tensor_input(spec, inputs, index) for index in range(len(inputs))]


def rank_of(spec: OpSpec, index: int, shape: Shape, least: int, most: int | None = None) -> int:
    """The rank of `shape`, the shape of input `index`, which must lie in `least` to `most`."""
    rank = len(shape)
    if rank < least or (most is not None and rank > most):
        wanted = (
            f"{least}"
            if most == least
            else f"at least {least}"
            if most is None
            else f"{least} to {most}"
        )
        raise ShapeError(f"{spec.type} input {index} has rank {rank}, expected {wanted}")
    return rank


def common_dtype(spec: OpSpec, infos: Sequence[TensorInfo]) -> DType:
    """The one element type of `infos`: neither ONNX nor GE converts implicitly."""
    result = infos[0].dtype
    for info in infos:
        dtype = info.dtype
        if dtype is result or dtype is ANY_TYPE:
            continue
        if result is ANY_TYPE:
            result = dtype
        elif dtype != result:
            raise ShapeError(
                f"{spec.type} element types {dtype_text(result)} and {dtype_text(dtype)} differ"
            )
    return result


def value_of(values: Values, index: int) -> NDArray[Any] | None:
    """The value of input `index` when all of its elements are known."""
    value = values[index] if index < len(values) else None
    if isinstance(value, np.ma.MaskedArray):
        return None if np.ma.is_masked(value) else np.asarray(value)
    return value


def partial_ints(values: Values, index: int) -> list[int | None] | None:
    """The integers of input `index`, None for each one that is not known; None when nothing is known.

    Whole numbers may be floats (OneHot's depth). Raises ShapeError for other numbers, and for text.
    """
    value = values[index] if index < len(values) else None
    if value is None:
        return None
    found: list[Any] = cast("Any", value.reshape(-1).tolist())
    if value.dtype.kind == "f":
        found = [int(x) if isinstance(x, float) and x.is_integer() else x for x in found]
    if value.dtype.kind in "fcOUS" and not all(x is None or isinstance(x, int) for x in found):
        raise ShapeError(f"input {index} should hold integers, it holds {value.dtype} {found[:4]}")
    return found


def known_ints(values: Values, index: int) -> list[int] | None:
    """The integers of input `index` when all are known."""
    found = partial_ints(values, index)
    return None if found is None or None in found else cast("list[int]", found)


def length_of(info: TensorInfo | None) -> int:
    """The number of elements of a list (rank 1; a scalar counts as one), UNKNOWN when it is not known."""
    if info is None or info.shape is None:
        return UNKNOWN
    return element_count(info.shape)


def element_count(shape: Sequence[int]) -> int:
    """The number of elements; UNKNOWN when a dimension is unknown, unless another is 0."""
    if UNKNOWN in shape:
        return 0 if 0 in shape else UNKNOWN
    return math.prod(shape)


def int_attr(spec: OpSpec, name: str, default: int | None = None) -> int:
    """An integer attribute (GE's may be lists of one); without default it is required."""
    value = spec.attrs.get(name)
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        if len(items) > 1:
            raise ShapeError(f"{spec.type} attribute {name} has {len(items)} entries, expected one")
        value = items[0] if items else None
    if value is None:
        if default is None:
            raise ShapeError(f"{spec.type} attribute {name} is missing")
        return default
    if not isinstance(value, int | np.integer):
        raise ShapeError(f"{spec.type} attribute {name} is {value!r}, expected an integer")
    return int(cast("int", value))


def ints_attr(spec: OpSpec, name: str) -> list[int] | None:
    """An integer list attribute (an integer is a list of one); None when it is not given."""
    value = spec.attrs.get(name)
    if value is None:
        return None
    if isinstance(value, int | np.integer):
        return [int(cast("int", value))]
    try:
        return [int(item) for item in cast("Sequence[Any]", value)]
    except (TypeError, ValueError):
        raise ShapeError(f"{spec.type} attribute {name} is {value!r}, expected integers") from None


def onnx_dtype_attr(spec: OpSpec, name: str, default: DType | None = None) -> DType:
    """The element type that an ONNX attribute numbers."""
    if default is not None and spec.attrs.get(name) is None:
        return default
    number = int_attr(spec, name)
    try:
        return dtype_by_onnx(number)
    except KeyError:
        raise ShapeError(
            f"{spec.type} attribute {name} = {number} is no ONNX element type"
        ) from None


def ge_dtype_attr(spec: OpSpec, name: str, default: DType | None = None) -> DType:
    """The element type that a GE attribute numbers (spec/dumps.md section 2: the C++ enumeration)."""
    if default is not None and spec.attrs.get(name) is None:
        return default
    number = int_attr(spec, name)
    try:
        return dtype_by_cpp(number)
    except KeyError:
        raise ShapeError(
            f"{spec.type} attribute {name} = {number} is no element type of GE"
        ) from None


def normal_axis(spec: OpSpec, axis: int, rank: int, what: str = "axis") -> int:
    """`axis` counted from the front; it must lie in -rank to rank - 1."""
    if -rank <= axis < rank:
        return axis + rank if axis < 0 else axis
    raise ShapeError(f"{spec.type} {what} {axis} is out of range for rank {rank}")


def normal_axes(spec: OpSpec, axes: Sequence[int], rank: int, what: str = "axis") -> list[int]:
    """`axes` counted from the front; all must be in range and no two the same."""
    normal = [normal_axis(spec, axis, rank, what) for axis in axes]
    if len(set(normal)) != len(normal):
        raise ShapeError(f"{spec.type} has an {what} twice in {list(axes)}")
    return normal


def same_dim(a: int, b: int) -> int | None:
    """What two statements about one dimension say together; None when they contradict each other."""
    if a == b or b < 0:
        return a
    return b if a < 0 else None
