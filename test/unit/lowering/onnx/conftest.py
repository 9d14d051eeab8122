"""Models for the tests of ONNX import and export, and onnxruntime to tell whether two compute the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_type

Shape = Sequence[int | str | None] | None
Values = Mapping[str, "tuple[int, Shape] | Shape"]


def _info(name: str, kind: Any) -> onnx.ValueInfoProto:
    if isinstance(kind, onnx.TypeProto):
        return helper.make_value_info(name, kind)
    if isinstance(kind, tuple) and len(kind) == 2 and not isinstance(kind[1], int):
        return helper.make_tensor_value_info(name, kind[0], kind[1])
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, kind)


@pytest.fixture
def build() -> Callable[..., onnx.ModelProto]:
    """`build(nodes, inputs, outputs, initializers, opset=, domains=)`: inputs and outputs are name -> shape (float) or
    (element type, shape); initializers name -> array."""

    def make(
        nodes: Sequence[onnx.NodeProto],
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        initializers: Mapping[str, np.ndarray] | None = None,
        *,
        opset: int = 17,
        domains: Mapping[str, int] | None = None,
        functions: Sequence[onnx.FunctionProto] = (),
        ir_version: int = 8,
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            nodes,
            "net",
            [_info(name, kind) for name, kind in inputs.items()],
            [_info(name, kind) for name, kind in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in (initializers or {}).items()],
        )
        imports = [helper.make_opsetid("", opset)]
        imports += [helper.make_opsetid(key, version) for key, version in (domains or {}).items()]
        return helper.make_model(
            graph, opset_imports=imports, ir_version=ir_version, functions=functions
        )

    return make


@pytest.fixture
def ops_of() -> Callable[..., list[Operation]]:
    """`ops_of(module, type)`: the nodes of a GE type, in all graphs."""

    def find(module: ModuleOp, kind: str) -> list[Operation]:
        return [op for op in module.walk() if op.name.startswith("ge.") and ge_type(op) == kind]

    return find


@pytest.fixture
def run() -> Callable[..., list[Any]]:
    """`run(model, feeds)`: the outputs by onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    runtime.set_default_logger_severity(4)

    def outputs(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[Any]:
        session = runtime.InferenceSession(model.SerializeToString())
        return session.run(None, dict(feeds))

    return outputs
