"""A model computed in float64: who is right when two float32 runtimes differ."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun


class BatchNormalization(OpRun):
    """At inference. The reference's own takes opsets 9 to 13 for training, as their momentum has a default."""

    op_domain = ""

    def _run(self, x: Any, scale: Any, bias: Any, mean: Any, var: Any, **attributes: Any) -> Any:
        shape = (-1,) + (1,) * (x.ndim - 2)
        spread = np.sqrt(var + (attributes.get("epsilon") or 1e-5))
        return (
            (x - mean.reshape(shape)) / spread.reshape(shape) * scale.reshape(shape)
            + bias.reshape(shape),
        )


def exact_outputs(path: str, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of the model at `path`, all its float32 values taken as float64, by onnx's reference implementation.

    Raises whatever an operator of the reference raises; some do not know float64.
    """
    model: onnx.ModelProto = cast(Any, onnx).load(path)
    _widen(model.graph)
    evaluator: Any = ReferenceEvaluator(model, new_ops=[BatchNormalization])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter(
            "ignore"
        )  # overflows of the reference, which its results show as well
        results = evaluator.run(None, {name: _widened(value) for name, value in feeds.items()})
    return dict(zip(evaluator.output_names, results, strict=True))


def _widened(value: Any) -> Any:
    return value.astype(np.float64) if getattr(value, "dtype", None) == np.float32 else value


def _widen(graph: GraphProto) -> None:
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for group in (graph.input, graph.output, graph.value_info):
        for item in group:
            if item.type.tensor_type.elem_type == TensorProto.FLOAT:
                item.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                _widen_tensor(attribute.t)
            elif attribute.type == AttributeProto.GRAPH:
                _widen(attribute.g)
            elif (
                node.op_type == "Cast"
                and attribute.name == "to"
                and attribute.i == TensorProto.FLOAT
            ):
                attribute.i = TensorProto.DOUBLE


def _widen_tensor(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        wide = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(wide, tensor.name))
