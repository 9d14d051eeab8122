"""ONNX value types as IR types and back."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import onnx
from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.ge import MapType, OptionalType, SequenceType, UndefinedType
from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.element_types import dtype_of, ir_element_type
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.formats.dtypes import DType, dtype_by_onnx
from ge_dialect.lowering.onnx.errors import OnnxExportError, OnnxImportError

UNKNOWN: UnrankedTensorType[Attribute] = UnrankedTensorType(UndefinedType())
"""The type of a value about which nothing is known."""

_UNDEFINED = 0


def element_dtype(number: int) -> DType:
    """The element type of a TensorProto.DataType number. Raises OnnxImportError for one that is not supported."""
    try:
        return dtype_by_onnx(number)
    except KeyError:
        raise OnnxImportError(f"element type {number} is not known") from None


@lru_cache(maxsize=1 << 12)
def _ranked(number: int, dims: tuple[int, ...]) -> Attribute:
    return tensor_type(element_dtype(number), dims)


@lru_cache(maxsize=1 << 8)
def _unranked(number: int) -> Attribute:
    return UnrankedTensorType(ir_element_type(element_dtype(number)))


def type_from_onnx(proto: onnx.TypeProto) -> Attribute:
    """The IR type of an ONNX type; dimensions without value are -1, a missing shape is an unknown rank.

    A sparse tensor is the dense tensor of its shape. Raises OnnxImportError for an unknown element type.
    """
    kind = proto.WhichOneof("value")
    if kind == "tensor_type" or kind == "sparse_tensor_type":
        tensor = proto.tensor_type if kind == "tensor_type" else proto.sparse_tensor_type
        number = tensor.elem_type
        if not tensor.HasField("shape"):
            return _unranked(number)
        dims = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim]
        return _ranked(number, tuple(dims))
    if kind == "sequence_type":
        return SequenceType(type_from_onnx(proto.sequence_type.elem_type))
    if kind == "optional_type":
        return OptionalType(type_from_onnx(proto.optional_type.elem_type))
    if kind == "map_type":
        key = ir_element_type(element_dtype(proto.map_type.key_type))
        return MapType(key, type_from_onnx(proto.map_type.value_type))
    return UNKNOWN


def with_unknown_rank(kind: Attribute) -> Attribute:
    """The type with the same elements about whose shape nothing is said."""
    if not isinstance(kind, TensorType):
        return kind
    return UnrankedTensorType(cast("TensorType[Attribute]", kind).element_type)


def unranked_of_text(text: str) -> Attribute:
    """The type that a schema calls `tensor(float)`, `tensor(int64)`, ..., of unknown rank."""
    number = onnx.TensorProto.DataType.Value(text.removeprefix("tensor(").removesuffix(")").upper())
    return _unranked(number)


def dim_names(proto: onnx.TypeProto) -> list[str] | None:
    """The names of a tensor type's dimensions, "" for a nameless one; None when there are no names at all."""
    if proto.WhichOneof("value") != "tensor_type":
        return None
    names = [dim.dim_param for dim in proto.tensor_type.shape.dim]
    return names if any(names) else None


def onnx_element(element: Attribute) -> int:
    """The TensorProto.DataType number of an IR element type. Raises OnnxExportError when ONNX has none."""
    try:
        number = dtype_of(element).onnx
    except KeyError:
        number = None
    if number is None:
        raise OnnxExportError(f"ONNX has no element type {element}")
    return number


def type_to_onnx(kind: Attribute, names: list[str] | None = None) -> onnx.TypeProto | None:
    """The ONNX type of an IR type, `names` naming its unknown dimensions; None for one about which nothing is known.

    Raises OnnxExportError for a type that ONNX lacks.
    """
    proto = onnx.TypeProto()
    if isinstance(kind, TensorType | UnrankedTensorType):
        tensor = cast("TensorType[Attribute] | UnrankedTensorType[Attribute]", kind)
        number = onnx_element(tensor.element_type)
        if number == _UNDEFINED:
            return None
        proto.tensor_type.elem_type = number
        _set_shape(proto.tensor_type, dims_of(tensor), names or [])
        return proto
    if isinstance(kind, SequenceType | OptionalType):
        inner = type_to_onnx(kind.element)
        if inner is None:
            return None
        if isinstance(kind, SequenceType):
            proto.sequence_type.elem_type.CopyFrom(inner)
        else:
            proto.optional_type.elem_type.CopyFrom(inner)
        return proto
    if isinstance(kind, MapType):
        value = type_to_onnx(kind.value)
        if value is None:
            return None
        proto.map_type.key_type = onnx_element(kind.key)
        proto.map_type.value_type.CopyFrom(value)
        return proto
    raise OnnxExportError(f"ONNX has no type {kind}")


def _set_shape(
    tensor: onnx.TypeProto.Tensor, dims: tuple[int, ...] | None, names: list[str]
) -> None:
    if dims is None:
        return
    if max(dims, default=0) >= 1 << 63:
        raise OnnxExportError(f"ONNX has no dimension of size {max(dims)}")
    tensor.shape.SetInParent()
    for axis, size in enumerate(dims):
        dim = tensor.shape.dim.add()
        if size >= 0:
            dim.dim_value = size
        elif axis < len(names) and names[axis]:
            dim.dim_param = names[axis]
