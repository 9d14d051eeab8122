"""Whether onnx may propagate the values of shapes, axes and limits while it infers types.

It keeps every such value in full. A chain of Concat that doubles its input at each step is small as a model and takes
all memory there is.
"""

from __future__ import annotations

from math import prod

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto

GREATEST_VALUE = 1 << 20
"""Elements that a propagated value may have."""

_GREATEST_RANK = 64


def values_stay_small(graph: GraphProto) -> bool:
    """Whether no value that follows from constants and shapes has more than `GREATEST_VALUE` elements, by a bound.

    Concat is the only operator that onnx propagates and that makes a value of more elements than its inputs have.
    """
    return _bounded(graph, {})


def _bounded(graph: GraphProto, outer: dict[str, int]) -> bool:
    sizes = dict(outer)  # of the values that may be known
    for tensor in graph.initializer:
        if (size := _elements(tensor)) is not None:
            sizes[tensor.name] = size
    for node in graph.node:
        if (size := _size(node, sizes)) is not None:
            if size > GREATEST_VALUE:
                return False
            sizes.update(dict.fromkeys(node.output, size))
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH and not _bounded(attribute.g, sizes):
                return False
    return True


def _size(node: NodeProto, sizes: dict[str, int]) -> int | None:
    """Elements of the outputs at most, None when no value is known."""
    if node.op_type in ("Shape", "Size"):
        return _GREATEST_RANK
    if node.op_type == "Constant":
        return _constant_size(node)
    inputs = [sizes.get(name) for name in node.input if name]
    known = [size for size in inputs if size is not None]
    if not known or len(known) < len(inputs):
        return None
    return sum(known) if node.op_type == "Concat" else max(known)


def _constant_size(node: NodeProto) -> int | None:
    for attribute in node.attribute:
        if attribute.type == AttributeProto.TENSOR:
            return _elements(attribute.t)
        return max(len(attribute.ints), len(attribute.floats), 1)
    return None


def _elements(tensor: TensorProto) -> int | None:
    """Of a scalar or a list; tensors of higher rank are not propagated."""
    return prod(tensor.dims) if len(tensor.dims) < 2 else None
