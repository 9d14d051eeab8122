"""Calls of a model's own functions are replaced by the functions' nodes before anything else is looked at.

So are operators that own sub-graphs and that ONNX defines as functions (FlexAttention): their nodes say what becomes
of the sub-graphs. Other operators that ONNX defines as functions stay operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx
from onnx import AttributeProto, GraphProto, NodeProto, checker, inliner

from ge_dialect.lowering.onnx.errors import OnnxImportError

CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""Operators of ONNX's own set whose sub-graphs are run as they are."""


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without calls of functions. Raises OnnxImportError when a function cannot be inlined."""
    try:
        if model.functions:
            _check_expansion(model)
            model = inliner.inline_local_functions(model, convert_version=False)
        owners = sorted(set(_owners_of_graphs(model.graph)))
        if owners:
            model = inliner.inline_selected_functions(
                model, owners, exclude=False, inline_schema_functions=True
            )
        return model
    except (RuntimeError, ValueError, TypeError, checker.ValidationError) as error:
        raise OnnxImportError(f"the model's functions cannot be inlined: {error}") from None


GREATEST_EXPANSION = 1_000_000
"""Nodes that a model may have when its functions are inlined: functions that call functions multiply."""


def _check_expansion(model: onnx.ModelProto) -> None:
    """Raise OnnxImportError when inlining makes too many nodes. Recursion is left to onnx, which refuses it."""
    bodies = {(item.domain, item.name): list(_calls(item.node)) for item in model.functions}
    callers: dict[tuple[str, str], list[tuple[str, str]]] = {key: [] for key in bodies}
    waiting: dict[tuple[str, str], int] = {}
    for key, calls in bodies.items():
        callees = dict.fromkeys(x for x in calls if x in bodies)
        waiting[key] = len(callees)
        for callee in callees:
            callers[callee].append(key)
    sizes: dict[tuple[str, str], int] = {}
    ready = [key for key, count in waiting.items() if count == 0]
    while ready:
        key = ready.pop()
        sizes[key] = sum(sizes.get(x, 1) for x in bodies[key])
        for caller in callers[key]:
            waiting[caller] -= 1
            if waiting[caller] == 0:
                ready.append(caller)
    total = sum(sizes.get(x, 1) for x in _calls(model.graph.node))
    if total > GREATEST_EXPANSION:
        raise OnnxImportError(
            f"the model has {total} nodes when its functions are inlined, more than {GREATEST_EXPANSION}"
        )


def _calls(nodes: Iterable[NodeProto]) -> Iterator[tuple[str, str]]:
    """Domain and type of all nodes, those of nested graphs included."""
    for node in nodes:
        yield node.domain, node.op_type
        for attribute in node.attribute:
            yield from _calls(attribute.g.node)
            for graph in attribute.graphs:
                yield from _calls(graph.node)


def _owners_of_graphs(graph: GraphProto) -> Iterator[tuple[str, str]]:
    """Domain and type of the nodes with sub-graphs that are no control flow, in nested graphs too."""
    for node in graph.node:
        inner = [
            nested
            for attribute in node.attribute
            for nested in (
                [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
            )
        ]
        if inner and (node.domain not in ("", "ai.onnx") or node.op_type not in CONTROL_FLOW):
            yield node.domain, node.op_type
        for nested in inner:
            yield from _owners_of_graphs(nested)
