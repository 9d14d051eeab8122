"""Calls of a model's own functions are replaced by the functions' nodes before anything else is looked at.

So are operators that own sub-graphs and that ONNX defines as functions (FlexAttention): their nodes say what becomes
of the sub-graphs. Other operators that ONNX defines as functions stay operators.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import AttributeProto, GraphProto, inliner

from ge_dialect.lowering.onnx.errors import OnnxImportError

CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""Operators of ONNX's own set whose sub-graphs are run as they are."""


def inline_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without calls of functions. Raises OnnxImportError when a function cannot be inlined."""
    try:
        if model.functions:
            model = inliner.inline_local_functions(model, convert_version=False)
        owners = sorted(set(_owners_of_graphs(model.graph)))
        if owners:
            model = inliner.inline_selected_functions(
                model, owners, exclude=False, inline_schema_functions=True
            )
        return model
    except (RuntimeError, ValueError, TypeError) as error:
        raise OnnxImportError(f"the model's functions cannot be inlined: {error}") from None


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
