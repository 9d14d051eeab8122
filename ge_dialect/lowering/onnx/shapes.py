"""Types of all values of a model, by onnx's own inference with data propagation, on a copy without the weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx
from onnx import (
    AttributeProto,
    GraphProto,
    TensorProto,
    TensorShapeProto,
    TypeProto,
    shape_inference,
)

from ge_dialect.lowering.onnx.collectives import GE_DOMAINS, stand_in
from ge_dialect.lowering.onnx.constants import ExternalFiles
from ge_dialect.lowering.onnx.errors import OnnxImportError
from ge_dialect.lowering.onnx.hiding import hide_untyped, show_hidden
from ge_dialect.lowering.onnx.propagation import values_stay_small
from ge_dialect.lowering.onnx.value_types import element_dtype

NO_NAMES = ("", "?")
"""Names of a dimension that do not tell it from another."""

SMALL_TENSOR_ELEMENTS = 1024
"""Initializers of more elements are no shapes, axes or limits: inference is not shown their values."""


def without_weights(
    model: onnx.ModelProto, versions: Mapping[str, int], files: ExternalFiles
) -> onnx.ModelProto:
    """A copy of the model whose large initializers are inputs of the same type, so that the copy is small.

    Small ones keep their values, those in external files included, since shapes follow from them. The main graph alone
    is treated: initializers of sub-graphs are small. The copy imports the operator sets `versions`.
    """
    # Before IR version 4 inference looks only at initializers that are inputs as well.
    copy = onnx.ModelProto(ir_version=max(model.ir_version, 4))
    for domain, version in versions.items():
        copy.opset_import.add(domain=domain, version=version)
    copy.functions.extend(model.functions)
    graph, source = copy.graph, model.graph
    graph.name = source.name
    graph.node.extend(source.node)
    graph.value_info.extend(source.value_info)
    graph.output.extend(source.output)
    constants = {tensor.name for tensor in source.initializer}
    constants.update(sparse.values.name for sparse in source.sparse_initializer)
    graph.input.extend(item for item in source.input if item.name not in constants)
    for tensor in source.initializer:
        elements = 1
        for size in tensor.dims:
            elements *= size
        if elements > SMALL_TENSOR_ELEMENTS:
            _declare(graph, tensor.name, tensor.data_type, tensor.dims)
        elif tensor.data_location == TensorProto.EXTERNAL:
            inline = graph.initializer.add(name=tensor.name, data_type=tensor.data_type)
            inline.dims.extend(tensor.dims)
            inline.raw_data = bytes(files.bytes_of(tensor))
        else:
            graph.initializer.append(tensor)
    for sparse in source.sparse_initializer:
        _declare(graph, sparse.values.name, sparse.values.data_type, sparse.dims)
    for group in (graph.input, graph.output, graph.value_info):
        for item in group:
            _clear_placeholders(item.type)
    return copy


def _clear_placeholders(kind: TypeProto) -> None:
    """Make dimensions of size -1 or called "?" unknown and nameless: inference takes equal names for equal sizes."""
    if kind.WhichOneof("value") == "tensor_type":
        for dim in kind.tensor_type.shape.dim:
            if dim.dim_value < 0:
                dim.ClearField("dim_value")
            elif dim.dim_param in NO_NAMES:
                dim.ClearField("dim_param")


def _declare(graph: GraphProto, name: str, element: int, dims: Iterable[int]) -> None:
    element_dtype(element)
    kind = graph.input.add(name=name).type.tensor_type
    kind.elem_type = element
    kind.shape.SetInParent()
    for size in dims:
        kind.shape.dim.add(dim_value=size)


def is_unknown(dim: TensorShapeProto.Dimension) -> bool:
    """Whether a declared dimension has no size: some exporters write -1 for it."""
    return not dim.HasField("dim_value") or dim.dim_value < 0


def _unknown_dims(model: onnx.ModelProto) -> Iterator[tuple[str, TensorShapeProto.Dimension]]:
    """`input:axis` and the dimension, for each unknown dimension of the inputs that have no initializer."""
    constants = {tensor.name for tensor in model.graph.initializer}
    for item in model.graph.input:
        if item.name not in constants and item.type.WhichOneof("value") == "tensor_type":
            for axis, dim in enumerate(item.type.tensor_type.shape.dim):
                if is_unknown(dim):
                    yield f"{item.name}:{axis}", dim


def symbolic_dims(model: onnx.ModelProto) -> list[str]:
    """The keys that name the unknown dimensions of the model's inputs, in order.

    A named dimension has its name as key, one that is nameless (or called "?", as some exporters call all of them) has
    `input:axis`.
    """
    return list(
        dict.fromkeys(
            dim.dim_param if dim.dim_param not in NO_NAMES else place
            for place, dim in _unknown_dims(model)
        )
    )


def substitute_dims(model: onnx.ModelProto, dims: Mapping[str, int]) -> None:
    """Give symbolic dimensions their sizes, in place, in the declarations of all graphs.

    A key is a dimension's name or, for any unknown dimension, `input:axis`. Raises OnnxImportError for a key that the
    model does not have, naming those it has, and for a negative size.
    """
    places = dict(_unknown_dims(model))
    keys = symbolic_dims(model)
    for key, size in dims.items():
        if key not in keys and key not in places:
            known = ", ".join(keys) if keys else "none"
            raise OnnxImportError(f'there is no symbolic dimension "{key}"; the model has: {known}')
        if size < 0:
            raise OnnxImportError(f'dimension "{key}" cannot be {size}')
    _substitute_in_graph(model.graph, dims)
    for place, dim in places.items():
        if place in dims:
            dim.dim_value = dims[place]


def _substitute_in_graph(graph: GraphProto, dims: Mapping[str, int]) -> None:
    for group in (graph.input, graph.output, graph.value_info):
        for item in group:
            _substitute_in_type(item.type, dims)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                _substitute_in_graph(attribute.g, dims)
            elif attribute.type == AttributeProto.GRAPHS:
                for inner in attribute.graphs:
                    _substitute_in_graph(inner, dims)


def _substitute_in_type(kind: TypeProto, dims: Mapping[str, int]) -> None:
    match kind.WhichOneof("value"):
        case "tensor_type":
            for dim in kind.tensor_type.shape.dim:
                if dim.dim_param in dims:
                    dim.dim_value = dims[dim.dim_param]
        case "sequence_type":
            _substitute_in_type(kind.sequence_type.elem_type, dims)
        case "optional_type":
            _substitute_in_type(kind.optional_type.elem_type, dims)
        case _:
            pass


def with_inferred_types(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types of all values that onnx can infer in `value_info`, in sub-graphs too.

    Where the model declares another type than onnx infers, the declared one stays. Raises OnnxImportError when onnx
    refuses the model as a whole.
    """
    collectives = [i for i, node in enumerate(model.graph.node) if node.domain in GE_DOMAINS]
    stood_in = {
        i: onnx.NodeProto.FromString(model.graph.node[i].SerializeToString()) for i in collectives
    }
    for i in collectives:
        stand_in(model.graph.node[i], model)
    hidden = hide_untyped(model)
    typed = _inferred(model)
    while hidden:  # what they need may be known now
        show_hidden(typed)
        still = hide_untyped(typed)
        if still < hidden:
            typed = _inferred(typed)
        hidden = still if still < hidden else 0
    show_hidden(typed)
    for i, node in stood_in.items():
        typed.graph.node[i].CopyFrom(node)
    return typed


def _inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    try:
        return shape_inference.infer_shapes(
            model, check_type=False, strict_mode=False, data_prop=values_stay_small(model.graph)
        )
    except (shape_inference.InferenceError, RuntimeError, ValueError, MemoryError) as error:
        text = " ".join(str(error).split())
        raise OnnxImportError(f"types cannot be inferred: {text}") from None
