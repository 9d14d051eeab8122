"""What protobuf and onnx let pass and nothing behind them can take: text that is no text, impossible nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import onnx
from google.protobuf.descriptor import FieldDescriptor
from onnx import GraphProto, NodeProto, defs

from ge_dialect.dialects.ge import SourceOp
from ge_dialect.kernels.shapes.onnx_crashes import crash
from ge_dialect.lowering.onnx.errors import OnnxImportError

_MANY = 1 << 31
"""More inputs or outputs than this is how a schema says "any number"."""


def check_text(model: onnx.ModelProto) -> None:
    """Raise OnnxImportError when a string of the model is not UTF-8: damage that protobuf lets pass."""
    try:
        _check_strings(model)
    except UnicodeDecodeError as error:
        raise OnnxImportError(
            f"the ONNX model is damaged: text that is not UTF-8 ({error})"
        ) from None


def _check_strings(message: Any) -> None:
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            if field.is_repeated:
                for item in value:
                    _check_strings(item)
            else:
                _check_strings(value)
        elif field.type == FieldDescriptor.TYPE_STRING:
            for item in value if field.is_repeated else (value,):
                if not isinstance(item, str):  # a damaged one comes as bytes
                    cast(bytes, item).decode()


def check_nodes(graph: GraphProto, versions: Mapping[str, int]) -> None:
    """Raise OnnxImportError, naming the node, for one that no operator set can hold, in all graphs.

    That is a type or domain that is no name, more inputs or outputs than the operator has, an attribute that stands
    there twice or refers to an attribute of a function, and what crashes onnx's shape inference.
    """
    for node in graph.node:
        problem = _problem(node, versions)
        if problem is not None:
            name = f' "{node.name}"' if node.name else ""
            raise OnnxImportError(f"node{name} of type {node.op_type or '(none)'}: {problem}")
        for inner in _graphs_of(node):
            check_nodes(inner, versions)


def _graphs_of(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def _problem(node: NodeProto, versions: Mapping[str, int]) -> str | None:
    op, domain = node.op_type, node.domain
    inputs, outputs, is_name = _limits(op, domain, versions[domain])
    if not is_name:
        return f'operator "{op}" of the set "{domain or "ai.onnx"}" is no name of an operator'
    if len(node.input) > inputs:
        return f"{len(node.input)} inputs, the operator takes at most {inputs}"
    if len(node.output) > outputs:
        return f"{len(node.output)} outputs, the operator has at most {outputs}"
    attributes = node.attribute
    if len(attributes) > 1 and len({item.name for item in attributes}) < len(attributes):
        return "an attribute is given twice"
    for item in attributes:
        if not item.name.isascii():
            return f'attribute "{item.name}" is no name of an attribute'
        if item.ref_attr_name:
            return f'attribute "{item.name}" refers to an attribute of a function'
    return crash(
        domain,
        op,
        bool(node.input and node.input[0]),
        lambda name: next((item.i for item in attributes if item.name == name), None),
    )


@cache
def _limits(op: str, domain: str, version: int) -> tuple[int, int, bool]:
    """The most inputs and outputs of an operator, and whether it can be written as a source (`SourceOp`)."""
    try:
        SourceOp.parse(str(SourceOp(domain or "ai.onnx", op, version)))
    except ValueError:
        return 0, 0, False
    try:
        schema = defs.get_schema(op, version, domain)
    except defs.SchemaError:
        return _MANY, _MANY, True
    return schema.max_input, schema.max_output, True
