"""Models of opsets before 7, whose operators broadcast by attributes, become opset 7 by way of onnx's own converter."""

from __future__ import annotations

import onnx
from onnx import helper, shape_inference, version_converter

from ge_dialect.lowering.onnx.errors import OnnxImportError
from ge_dialect.lowering.onnx.load import OLDEST_OPSET


def upgraded(model: onnx.ModelProto, version: int) -> onnx.ModelProto:
    """The model, of opset `version`, in the oldest opset that is imported.

    Raises OnnxImportError when the converter cannot.
    """
    shaped = onnx.ModelProto()
    shaped.CopyFrom(model)
    try:
        _unsqueeze_slopes(shaped)
        return version_converter.convert_version(shaped, OLDEST_OPSET)
    except Exception as error:  # the converter raises whatever its C++ side throws
        text = " ".join(str(error).split())
        raise OnnxImportError(
            f"opset {version} cannot be converted to opset {OLDEST_OPSET}, the oldest one supported: {text}"
        ) from None


def _unsqueeze_slopes(model: onnx.ModelProto) -> None:
    """Give the slope of each PRelu, one number a channel (axis 1) before opset 7, the axes that broadcasting wants.

    The converter knows nothing of this change of PRelu's meaning.
    """
    graph = model.graph
    if all(node.op_type != "PRelu" for node in graph.node):
        return
    inferred = shape_inference.infer_shapes(model).graph
    ranks = {
        item.name: len(item.type.tensor_type.shape.dim)
        for group in (inferred.input, inferred.value_info, inferred.output)
        for item in group
    }
    ranks.update({tensor.name: len(tensor.dims) for tensor in graph.initializer})
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.op_type == "PRelu" and ranks.get(node.input[1]) == 1:
            rank = ranks.get(node.input[0])
            if rank is None:
                raise ValueError(f'the rank of PRelu\'s input "{node.input[0]}" is not known')
            if rank > 2:
                slope = f"{node.input[1]}_of_{node.output[0]}"
                axes = list(range(1, rank - 1))
                nodes.append(helper.make_node("Unsqueeze", [node.input[1]], [slope], axes=axes))
                node.input[1] = slope
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
