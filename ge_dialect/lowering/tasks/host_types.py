"""Types of a host program's values: where tensors live, and what values from two places have in common."""

from __future__ import annotations

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

TensorLike = TensorType | UnrankedTensorType

INT64 = ir_element_type(dtype_by_name("INT64"))
BOOL = ir_element_type(dtype_by_name("BOOL"))
HOST_SCALAR = PlacedTensorType(TensorType(INT64, ()), Placement.HOST)
"""A number on the host: iteration counters, lengths, positions."""


def is_tensor(kind: Attribute) -> bool:
    """Whether a type of dialect `ge` is a tensor."""
    return isinstance(kind, TensorType | UnrankedTensorType)


def is_host_only(kind: Attribute) -> bool:
    """Whether values of a type of dialect `ge` exist on the host only: texts, sequences, optionals, maps."""
    if isinstance(kind, TensorType | UnrankedTensorType):
        return isinstance(kind.element_type, StringType)
    return isinstance(kind, SequenceType | OptionalType | MapType)


def object_type(kind: Attribute) -> ObjectType:
    """The type of a sequence, optional or map, less what shapes its tensors have.

    Shapes are left out, and so is the optional around a sequence or map, because values that meet (in a branch, in the
    next turn of a loop) must have equal types, while ONNX lets them differ in just these.
    """
    return ObjectType(_erased(kind))


def _erased(kind: Attribute) -> Attribute:
    match kind:
        case TensorType() | UnrankedTensorType():
            return UnrankedTensorType(kind.element_type)
        case SequenceType():
            return SequenceType(_erased(kind.element))
        case MapType():
            return MapType(kind.key, _erased(kind.value))
        case OptionalType():
            inner = _erased(kind.element)
            return inner if isinstance(inner, SequenceType | MapType) else OptionalType(inner)
        case _:
            return kind


def host_type(kind: Attribute, placement: Placement) -> Attribute:
    """The host program's type of a value of dialect `ge`; texts are on the host whatever `placement` says."""
    if isinstance(kind, TensorType | UnrankedTensorType):
        return PlacedTensorType(kind, Placement.HOST if is_host_only(kind) else placement)
    if isinstance(kind, NoneType):
        return kind
    return object_type(kind)


def join(one: Attribute, other: Attribute) -> Attribute:
    """The type of what is either of two values: what both types say. Raises ValueError when they have nothing in common."""
    if one == other:
        return one
    if isinstance(one, TensorType | UnrankedTensorType) and isinstance(other, TensorType | UnrankedTensorType):
        return _join_tensors(one, other)
    if is_tensor(one) and _is_optional_of_tensor(other):
        return other
    if is_tensor(other) and _is_optional_of_tensor(one):
        return one
    if not is_tensor(one) and not is_tensor(other) and _erased(one) == _erased(other):
        return _erased(one)
    raise ValueError(f"{one} and {other} are types of different values")


def _is_optional_of_tensor(kind: Attribute) -> bool:
    return isinstance(kind, OptionalType) and is_tensor(kind.element)


def _join_tensors(one: TensorLike, other: TensorLike) -> Attribute:
    if isinstance(one.element_type, UndefinedType):
        return UnrankedTensorType(other.element_type)
    if isinstance(other.element_type, UndefinedType):
        return UnrankedTensorType(one.element_type)
    if one.element_type != other.element_type:
        raise ValueError(f"{one} and {other} have different elements")
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return UnrankedTensorType(one.element_type)
    dims, others = dims_of(one) or (), dims_of(other) or ()
    if len(dims) != len(others):
        return UnrankedTensorType(one.element_type)
    shape = [a if a == b else -1 for a, b in zip(dims, others, strict=True)]
    return ranked_tensor(one.element_type, shape)


def stacked(kind: Attribute, axis: int) -> Attribute:
    """The type of tensors of type `kind` stacked along a new dimension at `axis` >= 0."""
    if not isinstance(kind, TensorType):
        return kind
    shape = list(dims_of(kind) or ())
    return ranked_tensor(kind.element_type, [*shape[:axis], -1, *shape[axis:]])
