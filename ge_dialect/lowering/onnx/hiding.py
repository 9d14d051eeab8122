"""Nodes that onnx's type inference must not see before it knows the type of their input (`onnx_crashes`)."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from ge_dialect.kernels.shapes.onnx_crashes import NEEDS_TYPE

_HIDDEN = "hidden"
"""Stands before the domain of a hidden node; inference passes over domains that it does not know."""


def hide_untyped(model: ModelProto) -> int:
    """Hide, in place and in all graphs, the nodes whose input has no type yet; returns how many are hidden."""
    hidden = list(_untyped(model.graph, frozenset()))
    for node in hidden:
        node.domain = f"{_HIDDEN}.{node.domain}"
    for domain in dict.fromkeys(node.domain for node in hidden):
        model.opset_import.add(domain=domain, version=1)
    return len(hidden)


def show_hidden(model: ModelProto) -> None:
    """Undo `hide_untyped`, in place."""
    for node in _nodes(model.graph):
        if node.domain.startswith(f"{_HIDDEN}."):
            node.domain = node.domain.removeprefix(f"{_HIDDEN}.")
    kept = [item for item in model.opset_import if not item.domain.startswith(f"{_HIDDEN}.")]
    if len(kept) < len(model.opset_import):
        del model.opset_import[:]
        model.opset_import.extend(kept)


def _untyped(graph: GraphProto, outer: frozenset[str]) -> Iterator[NodeProto]:
    found: list[NodeProto] = []
    nested: list[GraphProto] = []
    for node in graph.node:
        if (node.domain, node.op_type) in NEEDS_TYPE:
            found.append(node)
        nested.extend(_graphs(node))
    if not found and not nested:
        return
    typed = set(outer)
    for group in (graph.input, graph.value_info, graph.output):
        typed.update(item.name for item in group if item.type.WhichOneof("value"))
    typed.update(tensor.name for tensor in graph.initializer)
    yield from (node for node in found if node.input[0] not in typed)
    known = frozenset(typed)
    for inner in nested:
        yield from _untyped(inner, known)


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for inner in _graphs(node):
            yield from _nodes(inner)


def _graphs(node: NodeProto) -> Iterator[GraphProto]:
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs
