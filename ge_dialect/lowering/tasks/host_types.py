"""Types of a host program's values: where tensors live, and what values from two places have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.element_types import ir_element_type
from ge_dialect.dialects.ge.types import (
    MapType,
    OptionalType,
    SequenceType,
    StringType,
    UndefinedType,
)
from ge_dialect.dialects.ge.weights import ranked_tensor
from ge_dialect.dialects.ge_task import ObjectType, PlacedTensorType, Placement
from ge_dialect.formats.dtypes import dtype_by_name

Tensor: TypeAlias = TensorType[Attribute] | UnrankedTensorType[Attribute]

INT64 = ir_element_type(dtype_by_name("INT64"))
BOOL = ir_element_type(dtype_by_name("BOOL"))
SCALAR = ranked_tensor(INT64, ())
FLAG = ranked_tensor(BOOL, ())
HOST_SCALAR = PlacedTensorType(SCALAR, Placement.HOST)
"""A number on the host: iteration counters, lengths, positions."""


def as_tensor(kind: Attribute) -> Tensor | None:
    """The type of dialect `ge` when it is a tensor type, else None."""
    return cast(Tensor, kind) if isinstance(kind, TensorType | UnrankedTensorType) else None


def is_tensor(kind: Attribute) -> bool:
    """Whether a type of dialect `ge` is a tensor."""
    return isinstance(kind, TensorType | UnrankedTensorType)


def is_host_only(kind: Attribute) -> bool:
    """Whether values of a type of dialect `ge` exist on the host only: texts, sequences, optionals, maps."""
    tensor = as_tensor(kind)
    if tensor is not None:
        return isinstance(tensor.element_type, StringType)
    return isinstance(kind, SequenceType | OptionalType | MapType)


def without_shape(kind: Attribute) -> Attribute:
    """The tensor type with the same elements and nothing said about shape; another type as it is."""
    tensor = as_tensor(kind)
    return kind if tensor is None else UnrankedTensorType(tensor.element_type)


def open_dims(kind: Attribute) -> Attribute:
    """The tensor type with the same elements and rank and nothing said about the dimensions."""
    tensor, dims = as_tensor(kind), dims_of(kind)
    if tensor is None or dims is None:
        return kind
    return ranked_tensor(tensor.element_type, [-1] * len(dims))


def object_type(kind: Attribute) -> ObjectType:
    """The type of a sequence, optional or map, less what shapes its tensors have.

    Shapes are left out, and so is the optional around a sequence or map, because values that meet (in a branch, in the
    next turn of a loop) must have equal types, while ONNX lets them differ in just these.
    """
    return ObjectType(_erased(kind))


def _erased(kind: Attribute) -> Attribute:
    match kind:
        case SequenceType():
            return SequenceType(_erased(kind.element))
        case MapType():
            return MapType(kind.key, _erased(kind.value))
        case OptionalType():
            inner = _erased(kind.element)
            return inner if isinstance(inner, SequenceType | MapType) else OptionalType(inner)
        case _:
            return without_shape(kind)


@lru_cache(maxsize=1 << 14)
def host_type(kind: Attribute, placement: Placement) -> Attribute:
    """The host program's type of a value of dialect `ge`; texts are on the host whatever `placement` says."""
    tensor = as_tensor(kind)
    if tensor is not None:
        return PlacedTensorType(tensor, Placement.HOST if is_host_only(kind) else placement)
    if isinstance(kind, NoneType):
        return kind
    return object_type(kind)


def join(one: Attribute, other: Attribute) -> Attribute:
    """The type of what is either of two values: what both types say.

    Raises ValueError when they have nothing in common.
    """
    if one == other:
        return one
    tensor, second = as_tensor(one), as_tensor(other)
    if tensor is not None and second is not None:
        return _join_tensors(tensor, second)
    if tensor is not None and _is_optional_of_tensor(other):
        return other
    if second is not None and _is_optional_of_tensor(one):
        return one
    if tensor is None and second is None and _erased(one) == _erased(other):
        return _erased(one)
    raise ValueError(f"{one} and {other} are types of different values")


def _is_optional_of_tensor(kind: Attribute) -> bool:
    return isinstance(kind, OptionalType) and is_tensor(kind.element)


def _join_tensors(one: Tensor, other: Tensor) -> Attribute:
    if isinstance(one.element_type, UndefinedType):
        return without_shape(other)
    if isinstance(other.element_type, UndefinedType):
        return without_shape(one)
    if one.element_type != other.element_type:
        raise ValueError(f"{one} and {other} have different elements")
    dims, others = dims_of(one), dims_of(other)
    if dims is None or others is None or len(dims) != len(others):
        return without_shape(one)
    shape = [a if a == b else -1 for a, b in zip(dims, others, strict=True)]
    return ranked_tensor(one.element_type, shape)


def with_axis(kind: Attribute, axis: int) -> Attribute:
    """The type of tensors of type `kind` stacked along a new dimension at `axis` >= 0."""
    tensor, dims = as_tensor(kind), dims_of(kind)
    if tensor is None or dims is None:
        return kind
    return ranked_tensor(tensor.element_type, [*dims[:axis], -1, *dims[axis:]])


def without_axis(kind: Attribute, axis: int) -> Attribute:
    """The type of a slice of a tensor at one position of `axis`, which may be negative."""
    tensor, dims = as_tensor(kind), dims_of(kind)
    if tensor is None or dims is None or not -len(dims) <= axis < len(dims):
        return without_shape(kind)
    left = list(dims)
    del left[axis]
    return ranked_tensor(tensor.element_type, left)
