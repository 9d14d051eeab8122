"""ONNX attribute values as IR attributes and back."""

from __future__ import annotations

from typing import Any, cast

from onnx import AttributeProto, helper
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f32,
    f64,
)
from xdsl.ir import Attribute, TypeAttribute

from ge_dialect.dialects.attrs import i64 as i64_attr
from ge_dialect.dialects.attrs import i64_array, string
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.ge.weights import StringElementsAttr
from ge_dialect.lowering.onnx.constants import ExternalFiles, tensor_elements, tensor_proto
from ge_dialect.lowering.onnx.errors import OnnxExportError, OnnxImportError
from ge_dialect.lowering.onnx.value_types import type_from_onnx, type_to_onnx

GRAPH_KINDS = frozenset({AttributeProto.GRAPH, AttributeProto.GRAPHS})


def text_attr(data: bytes) -> Attribute:
    """A string attribute; bytes that are not ASCII stay bytes, which is how they print."""
    return string(data.decode()) if data.isascii() else BytesAttr(data)


def attribute_from_onnx(proto: AttributeProto, files: ExternalFiles) -> Attribute:
    """The IR attribute that says the same. Raises OnnxImportError for a kind that stands for no value (sub-graphs are
    no values: see `ge_dialect.lowering.onnx.subgraphs`)."""
    kind = proto.type
    if kind == AttributeProto.INT:
        return i64_attr(proto.i)
    if kind == AttributeProto.INTS:
        return i64_array(proto.ints)
    if kind == AttributeProto.FLOAT:
        return FloatAttr(proto.f, f32)
    if kind == AttributeProto.STRING:
        return text_attr(proto.s)
    if kind == AttributeProto.TENSOR:
        return tensor_elements(proto.t, files)
    if kind == AttributeProto.FLOATS:
        return DenseArrayBase.from_list(f32, list(proto.floats))
    if kind == AttributeProto.STRINGS:
        return ArrayAttr([text_attr(item) for item in proto.strings])
    if kind == AttributeProto.TYPE_PROTO:
        return type_from_onnx(proto.tp)
    if kind == AttributeProto.TENSORS:
        return ArrayAttr([tensor_elements(item, files) for item in proto.tensors])
    if kind == AttributeProto.TYPE_PROTOS:
        return ArrayAttr([type_from_onnx(item) for item in proto.type_protos])
    raise OnnxImportError(
        f'attribute "{proto.name}" has kind {AttributeProto.AttributeType.Name(kind)}, which is not supported here'
    )


def attribute_to_onnx(name: str, value: Attribute) -> AttributeProto:
    """The ONNX attribute that says the same. Raises OnnxExportError for a value that ONNX cannot say."""
    proto = AttributeProto(name=name)
    if isinstance(value, IntegerAttr):
        proto.type = AttributeProto.INT
        proto.i = int(to_python(cast("Attribute", value)))
    elif isinstance(value, FloatAttr):
        proto.type = AttributeProto.FLOAT
        proto.f = value.value.data
    elif isinstance(value, UnitAttr):
        proto.type = AttributeProto.INT
        proto.i = 1
    elif isinstance(value, StringAttr):
        proto.type = AttributeProto.STRING
        proto.s = value.data.encode()
    elif isinstance(value, BytesAttr):
        proto.type = AttributeProto.STRING
        proto.s = bytes(value.data)
    elif isinstance(value, DenseArrayBase):
        array = cast("DenseArrayBase[Any]", value)
        numbers = to_python(array)
        if array.elt_type in (f32, f64):
            proto.type = AttributeProto.FLOATS
            proto.floats.extend(numbers)
        else:
            proto.type = AttributeProto.INTS
            proto.ints.extend(numbers)
    elif isinstance(value, DenseIntOrFPElementsAttr | StringElementsAttr):
        proto.type = AttributeProto.TENSOR
        proto.t.CopyFrom(tensor_proto(name, cast("Attribute", value)))
    elif isinstance(value, TypeAttribute) and (kind := type_to_onnx(value)) is not None:
        proto.type = AttributeProto.TYPE_PROTO
        proto.tp.CopyFrom(kind)
    elif isinstance(value, ArrayAttr):
        _list_to_onnx(proto, cast("ArrayAttr[Attribute]", value))
    else:
        raise OnnxExportError(f'attribute "{name}" has the value {value}, which ONNX cannot say')
    return proto


def _list_to_onnx(proto: AttributeProto, value: ArrayAttr[Attribute]) -> None:
    items = [attribute_to_onnx(proto.name, item) for item in value.data]
    kinds = {item.type for item in items}
    if not kinds or kinds == {AttributeProto.STRING}:
        proto.type = AttributeProto.STRINGS
        proto.strings.extend(item.s for item in items)
    elif kinds == {AttributeProto.TENSOR}:
        proto.type = AttributeProto.TENSORS
        proto.tensors.extend(item.t for item in items)
    elif kinds == {AttributeProto.TYPE_PROTO}:
        proto.type = AttributeProto.TYPE_PROTOS
        proto.type_protos.extend(item.tp for item in items)
    elif kinds == {AttributeProto.INT}:
        proto.type = AttributeProto.INTS
        proto.ints.extend(item.i for item in items)
    elif kinds <= {AttributeProto.INT, AttributeProto.FLOAT}:
        proto.type = AttributeProto.FLOATS
        proto.floats.extend(item.f or float(item.i) for item in items)
    else:
        raise OnnxExportError(f'attribute "{proto.name}" is a list that ONNX cannot say: {value}')


def python_to_onnx(name: str, value: object) -> AttributeProto:
    """The ONNX attribute of a Python value (an empty list is a list of integers)."""
    if isinstance(value, list) and not value:
        return helper.make_attribute(name, value, attr_type=AttributeProto.INTS)
    return helper.make_attribute(name, value)
