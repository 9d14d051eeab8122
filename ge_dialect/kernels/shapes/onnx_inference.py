"""ONNX operators without a shape function of ours: onnx infers a model that is just this node.

A whole model, not `infer_node_outputs`: only that looks into the bodies of operators that are defined as functions.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import defs, helper, numpy_helper, shape_inference
from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.element_types import dtype_of, ir_element_type
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.dialects.ge.types import MapType, OptionalType, SequenceType
from ge_dialect.dialects.ge.weights import ranked_tensor
from ge_dialect.formats.dtypes import DType, dtype_by_onnx
from ge_dialect.kernels.shapes.info import (
    ANY_TYPE,
    UNKNOWN,
    Info,
    Inputs,
    OpaqueInfo,
    Outputs,
    Shape,
    ShapeError,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.onnx_crashes import crash
from ge_dialect.kernels.shapes.readers import value_of
from ge_dialect.kernels.spec import OpSpec

_NUMBER_KINDS = frozenset("biufc")


@cache
def schema_of(source: SourceOp) -> Any:
    """onnx's definition of the operator, None when the installed onnx has none."""
    domain = "" if source.domain == "ai.onnx" else source.domain
    try:
        return defs.get_schema(source.op, source.version, domain)
    except defs.SchemaError:
        return None


def infer_by_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """What onnx infers; an operator that it does not know, or an input of unknown element type, gives nothing.

    Raises ShapeError with onnx's words.
    """
    source = spec.source
    if source is None or (schema := schema_of(source)) is None or schema.deprecated:
        return []
    if any(isinstance(info, TensorInfo) and info.dtype.onnx in (None, 0) for info in inputs):
        return []
    node = _node(spec, schema, inputs)
    has_input = bool(inputs) and inputs[0] is not None
    ints = {item.name: item.i for item in node.attribute}
    if (reason := crash(schema.domain, schema.name, has_input, ints.get)) is not None:
        raise ShapeError(f"{spec.type}: {reason}")
    model = _model(spec, source, node, inputs, values)
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except shape_inference.InferenceError as error:
        if all(info is None or (isinstance(info, TensorInfo) and info.static) for info in inputs):
            raise ShapeError(f"{spec.type}: {_reason(error)}") from None
        # Some inference functions (StringNormalizer, STFT) take an unknown dimension for a wrong one.
        try:
            inferred = shape_inference.infer_shapes(model, data_prop=True)
        except shape_inference.InferenceError:
            return []
    found = {item.name: item.type for item in (*inferred.graph.output, *inferred.graph.value_info)}
    return [_info(found[name]) if name in found else None for name in node.output]


def _reason(error: Exception) -> str:
    """The last line is the innermost statement; the lines before it are the places that passed it on."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "onnx cannot infer its shapes"


def _node(spec: OpSpec, schema: Any, inputs: Inputs) -> onnx.NodeProto:
    names = ["" if info is None else f"x{index}" for index, info in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    outputs = [f"y{index}" for index in range(spec.n_outputs)]
    node = helper.make_node(schema.name, names, outputs, domain=schema.domain)
    for name, value in spec.attrs.items():
        if value is not None and name in schema.attributes:
            node.attribute.append(_attribute(spec, name, value, schema.attributes[name].type.value))
    # Said in full: some inference functions take another default than their schema's (STFT's onesided).
    for name, declared in schema.attributes.items():
        if declared.default_value.name and spec.attrs.get(name) is None:
            node.attribute.append(declared.default_value)
    return node


def _attribute(spec: OpSpec, name: str, value: Any, kind: int) -> onnx.AttributeProto:
    if isinstance(value, np.ndarray):
        value = numpy_helper.from_array(cast("NDArray[Any]", value))
    elif isinstance(value, Attribute):
        value = type_proto_of(value)
    elif kind == onnx.AttributeProto.FLOAT:
        value = float(value)
    elif kind == onnx.AttributeProto.FLOATS:
        value = [float(item) for item in value]
    elif kind == onnx.AttributeProto.INTS and isinstance(value, int):
        value = [value]
    elif kind == onnx.AttributeProto.TYPE_PROTO and isinstance(value, bytes):
        value = onnx.TypeProto.FromString(value)
    try:
        return helper.make_attribute(name, value, attr_type=kind)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{spec.type} attribute {name}: {error}") from None


def _model(
    spec: OpSpec, source: SourceOp, node: onnx.NodeProto, inputs: Inputs, values: Values
) -> onnx.ModelProto:
    feeds: list[onnx.ValueInfoProto] = []
    constants: list[onnx.TensorProto] = []
    for index, info in enumerate(inputs):
        if info is None:
            continue
        value = value_of(values, index)
        if value is not None and value.dtype.kind in _NUMBER_KINDS:
            constants.append(_constant(value, f"x{index}"))
        else:
            feeds.append(helper.make_value_info(f"x{index}", _type_proto(info)))
    wanted = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "one", feeds, wanted, constants)
    domain = "" if source.domain == "ai.onnx" else source.domain
    opsets = [helper.make_opsetid(domain, source.version)]
    if domain:
        opsets.append(helper.make_opsetid("", defs.onnx_opset_version()))
    return helper.make_model(graph, opset_imports=opsets)


def _constant(value: NDArray[Any], name: str) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)


def _tensor_proto(dtype: DType, shape: Shape | None) -> onnx.TypeProto:
    dims = None if shape is None else [None if dim < 0 else dim for dim in shape]
    return helper.make_tensor_type_proto(dtype.onnx or 0, dims)


def _type_proto(info: Info) -> onnx.TypeProto:
    if isinstance(info, TensorInfo):
        return _tensor_proto(info.dtype, info.shape)
    return type_proto_of(info.type)


def type_proto_of(kind: Attribute) -> onnx.TypeProto:
    """The ONNX type of an IR type. Raises ShapeError for one that ONNX lacks."""
    match kind:
        case TensorType():
            return _tensor_proto(dtype_of(kind.element_type), dims_of(kind))
        case UnrankedTensorType():
            return _tensor_proto(dtype_of(kind.element_type), None)
        case SequenceType():
            return helper.make_sequence_type_proto(type_proto_of(kind.element))
        case OptionalType():
            return helper.make_optional_type_proto(type_proto_of(kind.element))
        case MapType():
            return helper.make_map_type_proto(
                dtype_of(kind.key).onnx or 0, type_proto_of(kind.value)
            )
        case _:
            raise ShapeError(f"{kind} is no type of ONNX")


def _info(proto: onnx.TypeProto) -> Info | None:
    which = proto.WhichOneof("value")
    if which == "tensor_type":
        tensor = proto.tensor_type
        dtype = dtype_by_onnx(tensor.elem_type) if tensor.elem_type else ANY_TYPE
        return TensorInfo(dtype, _dims(tensor))
    kind = ir_type_of(proto)
    return None if kind is None else OpaqueInfo(kind)


def _dims(tensor: Any) -> Shape | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else UNKNOWN for dim in tensor.shape.dim
    )


def ir_type_of(proto: onnx.TypeProto) -> Attribute | None:
    """The IR type of an ONNX type, None for one that says nothing."""
    which = proto.WhichOneof("value")
    if which == "tensor_type":
        element = ir_element_type(dtype_by_onnx(proto.tensor_type.elem_type))
        dims = _dims(proto.tensor_type)
        return UnrankedTensorType(element) if dims is None else ranked_tensor(element, dims)
    if which == "sequence_type":
        return _wrapped(SequenceType, ir_type_of(proto.sequence_type.elem_type))
    if which == "optional_type":
        return _wrapped(OptionalType, ir_type_of(proto.optional_type.elem_type))
    if which == "map_type":
        value = ir_type_of(proto.map_type.value_type)
        key = ir_element_type(dtype_by_onnx(proto.map_type.key_type))
        return None if value is None else MapType(key, value)
    return None


def _wrapped(
    kind: type[SequenceType | OptionalType], element: Attribute | None
) -> Attribute | None:
    return None if element is None else kind(element)
