"""Shape functions on nodes: ONNX's node cases and the shared models, imported, say nothing that is not so."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect.analysis.node_info import constant_value, infer_node, info_of_type
from ge_dialect.dialects.ge import Ge, GraphOp
from ge_dialect.dialects.ge.access import graphs, node_name, nodes
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.location import location_text
from ge_dialect.kernels.shapes import (
    OpaqueInfo,
    ShapeError,
    TensorInfo,
    find,
    value_dependent_inputs,
)
from ge_dialect.kernels.spec import spec_of
from ge_dialect.lowering.onnx import OnnxImportError, import_onnx
from ge_dialect.transforms.verify.semantics import semantic_findings

FAULTY_MODELS = {"test_affine_grid_3d_expanded", "test_affine_grid_3d_align_corners_expanded"}
"""Hold, in a branch that never runs, a Split of five elements into four outputs."""


def node_tests() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return [test for test in collect_testcases(None) if test.model is not None]


@pytest.mark.parametrize("part", range(4))
def test_imported_node_cases(part: int) -> None:
    judged = 0
    for test in node_tests()[part::4]:
        try:
            module = import_onnx(test.model)
        except OnnxImportError:
            continue  # opset 1
        findings = [f"{test.name}: {finding.text()}" for finding in semantic_findings(module)]
        assert not findings or test.name in FAULTY_MODELS, findings
        judged += 1
    assert judged > 450


def test_twins_are_as_exact_as_onnx() -> None:
    """Where onnx knew a result's whole shape at import, we infer the same from the twin, if all that it needs is there."""
    judged = 0
    for test in node_tests():
        if len(test.model.graph.node) != 1:
            continue
        try:
            module = import_onnx(test.model)
        except OnnxImportError:
            continue
        for op in nodes(graphs(module)[0]):
            spec = spec_of(op)
            if spec.source is not None or find(spec) is None or spec.n_outputs != 1:
                continue
            needed = value_dependent_inputs(spec, len(op.operands))
            if any(constant_value(op.operands[index]) is None for index in needed):
                continue
            said = info_of_type(op.results[0].type)
            if isinstance(said, TensorInfo) and said.static:
                assert infer_node(op) == [said], test.name
                judged += 1
    assert judged > 200


@pytest.mark.parametrize("name", ["resnet50_slim", "bert_base_slim", "gpt2_slim_dyn", "unet_slim"])
def test_shared_models(shared_models: Path, name: str) -> None:
    module = import_onnx(shared_models / f"{name}.onnx")
    assert not [finding.text() for finding in semantic_findings(module)]


def _nodes(text: str) -> dict[str, Operation]:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Ge)
    module = Parser(ctx, text, "t.mlir").parse_module()
    graph = module.body.block.first_op
    assert isinstance(graph, GraphOp)
    return {node_name(op): op for op in nodes(graph)}


RESHAPE = """ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x3xf32>
  %n = ge.data index 1 {ge.name = "n"} : tensor<2xi64>
  %s = ge.constant value dense<[6, -1]> : tensor<2xi64> {ge.name = "s"} : tensor<2xi64>
  %e = ge.constant value dense_resource<__elided__> : tensor<2xi64> {ge.name = "e"} : tensor<2xi64>
  %a = ge.op "Reshape" (%x, %s) {ge.name = "a"} : tensor<*xf32>
  %b = ge.op "Reshape" (%x, %n) {ge.name = "b"} : tensor<*xf32>
  %c = ge.op "Reshape" (%x, %e) {ge.name = "c"} : tensor<*xf32>
  %d = ge.op "Reshape" (%x, %n) {ge.name = "d", ge.arg_attrs = [{type = tensor<?x3xf32>}, {}]} : tensor<*xf32>
}"""


def test_values_come_from_constants_and_from_the_caller() -> None:
    found = _nodes(RESHAPE)
    element = dtype_of(found["x"].results[0].type.element_type)  # pyright: ignore[reportAttributeAccessIssue]
    assert infer_node(found["a"]) == [TensorInfo(element, (6, 2))]
    assert infer_node(found["b"]) == [TensorInfo(element, (-1, -1))]
    assert infer_node(found["c"]) == [TensorInfo(element, (-1, -1))]
    known = {found["n"].results[0]: np.array([2, 6])}
    assert infer_node(found["b"], known) == [TensorInfo(element, (2, 6))]
    known = {found["n"].results[0]: np.array([-1, 3])}
    assert infer_node(found["d"], known) == [TensorInfo(element, (-1, 3))]
    with pytest.raises(ShapeError, match="the numbers of elements differ"):
        infer_node(found["b"], {found["n"].results[0]: np.array([5, 6])})


def test_types() -> None:
    found = _nodes(
        "ge.graph @main {\n"
        '%a = ge.op "A" {ge.name = "a"} : !ge.sequence<tensor<2xf32>>\n'
        '%b = ge.op "B" {ge.name = "b"} : tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>\n}'
    )
    kind = found["a"].results[0].type
    assert info_of_type(kind) == OpaqueInfo(kind)
    info = info_of_type(found["b"].results[0].type)
    assert isinstance(info, TensorInfo)
    assert info.shape == (1, 16, 8, 8)
    assert location_text(found["a"]) == 'node "a"'
