"""What export says about what ONNX does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from ge_dialect.dialects.ge import Ge
from ge_dialect.formats.errors import GeError
from ge_dialect.lowering.onnx import OnnxExportError, export_onnx, import_onnx


def _module(text: str) -> ModuleOp:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Ge)
    module = Parser(ctx, text, "test.mlir").parse_module()
    module.verify()
    return module


def _metadata(proto: Any) -> dict[str, str]:
    return {entry.key: entry.value for entry in proto.metadata_props}


def test_text_becomes_a_model_that_runs(run: Any) -> None:
    module = _module("""
      ge.graph @main {
        %x = ge.data index 0 {ge.name = "x"} : tensor<2x2xf32>
        %w = ge.constant value dense<[1.0, 2.0]> : tensor<2xf32> {ge.name = "w"} : tensor<2xf32>
        %a = ge.op "Add" (%x, %w) {ge.name = "a"} : tensor<2x2xf32>
        %b = ge.op "Clip" (%a) source "ai.onnx::Clip@13" {ge.name = "b"} : tensor<2x2xf32>
        %c = ge.op "Squeeze" (%b) attrs {axis = array<i64>} {ge.name = "c"} : tensor<2x2xf32>
        %d = ge.op "SoftmaxV2" (%c) attrs {axes = array<i64: 0>} {ge.name = "d"} : tensor<2x2xf32>
        ge.net_output (%d) {ge.name = "out", ge.output_names = ["y"]}
      }""")
    model = export_onnx(module)
    onnx.checker.check_model(model, full_check=True)
    assert [(x.domain, x.version) for x in model.opset_import] == [("", 21)]
    x = np.array([[1, 2], [3, 5]], np.float32)
    (y,) = run(model, {"x": x})
    biased = x + np.array([1, 2], np.float32)
    e = np.exp(biased - biased.max(0))
    np.testing.assert_allclose(y, e / e.sum(0), rtol=1e-6)


def test_marks_of_passes_are_metadata() -> None:
    module = _module("""
      ge.graph @main attributes {ge.stream_num = 2 : i64, ge.arenas = {hbm = 512 : i64}} {
        %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 512>} : tensor<2xf32>
        %w = ge.constant value dense<1.0> : tensor<2xf32> {ge.name = "w", ge.spaces = ["weight"]} : tensor<2xf32>
        %a = ge.op "Add" (%x, %w) {ge.name = "a", ge.stream = 1 : i64, ge.engine = "AIcoreEngine", ge.no_task, ge.offsets = array<i64: 0, 8>} : tensor<2xf32>
        ge.net_output (%a) {ge.name = "out", ge.stream = 0 : i64}
      }""")
    model = export_onnx(module)
    onnx.checker.check_model(model)
    (node,) = model.graph.node
    assert _metadata(node) == {
        "ge.stream": "1",
        "ge.engine": "AIcoreEngine",
        "ge.no_task": "true",
        "ge.offsets": "[0, 8]",
    }
    assert _metadata(model) == {"ge.stream_num": "2", "ge.arenas": '{"hbm": 512}'}
    assert _metadata(model.graph.input[0]) == {"ge.offsets": "[512]"}
    assert _metadata(model.graph.initializer[0]) == {"ge.spaces": '["weight"]'}
    assert _metadata(model.graph) == {"net_output.ge.stream": "0"}
    assert [x.name for x in model.graph.output] == ["output0"]


def test_types_that_only_ge_has_are_nodes_of_its_domain() -> None:
    module = _module("""
      ge.graph @main {
        %x = ge.data index 0 {ge.name = "x"} : tensor<1x16x8x8xf16>
        %no = ge.absent
        %t = ge.op "TransData" (%x, %no) attrs {src_format = "NCHW", groups = 1 : i64} {ge.name = "t"} : tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>
        %c = ge.concat "PhonyConcat" (%t, %t) concat_dim [0] {ge.name = "c"} : tensor<2x1x8x8x16xf16>
        %m = ge.op "BatchMatMulV2" (%x, %x) attrs {adj_x1 = true, adj_x2 = false} {ge.name = "m"} : tensor<1x16x8x8xf16>
        ge.net_output (%c, %m) {ge.name = "out"}
      }""")
    model = export_onnx(module)
    onnx.checker.check_model(model)
    assert {(x.domain, x.version) for x in model.opset_import} == {("", 21), ("ge", 1)}
    transposed, joined, product = model.graph.node
    assert (transposed.domain, transposed.op_type, list(transposed.input)) == (
        "ge",
        "TransData",
        ["x"],
    )
    assert _metadata(transposed)["ge.desc.0"].startswith("#ge.desc<NC1HWC0")
    assert (joined.domain, joined.attribute[0].ints) == ("ge", [0])
    assert {x.name: x.i for x in product.attribute} == {"adj_x1": 1, "adj_x2": 0}
    again = import_onnx(model)
    assert [op.properties["type"].data for op in again.walk() if op.name == "ge.op"] == [
        "TransData",
        "BatchMatMulV2",
    ]


def test_control_edges_and_nodes_that_only_order() -> None:
    module = _module("""
      ge.graph @main {
        %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
        %a, %ctl = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2xf32>, !ge.control
        ge.send (%ctl) event_id 0 {ge.name = "send"}
        %b = ge.op "Neg" (%x, %ctl) {ge.name = "b"} : tensor<2xf32>
        %g = ge.gate %b (%ctl) : tensor<2xf32>
        ge.net_output (%a, %g) {ge.name = "out", ge.output_names = ["y", "z"]}
      }""")
    model = export_onnx(module)
    onnx.checker.check_model(model)
    assert [(x.op_type, _metadata(x)) for x in model.graph.node[:2]] == [
        ("Relu", {}),
        ("Neg", {"ge.control_inputs": "a"}),
    ]
    assert _metadata(model) == {"ge.left_out": "send"}
    assert [x.name for x in model.graph.output] == ["y", "z"]


def test_one_value_may_be_several_outputs(build: Any, run: Any) -> None:
    module = _module("""
      ge.graph @main {
        %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
        %a = ge.op "Neg" (%x) {ge.name = "a"} : tensor<2xf32>
        ge.net_output (%a, %a, %x) {ge.name = "out", ge.output_names = ["y", "z", "copy"]}
      }""")
    model = export_onnx(module)
    onnx.checker.check_model(model)
    y, z, copy = run(model, {"x": np.array([1, -2], np.float32)})
    assert (y.tolist(), z.tolist(), copy.tolist()) == ([-1, 2], [-1, 2], [1, -2])


def test_names_do_not_collide_with_inputs_and_outputs(build: Any, run: Any) -> None:
    module = _module("""
      ge.graph @main {
        %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
        %y = ge.op "Neg" (%x) {ge.name = "x"} : tensor<2xf32>
        %z = ge.op "Neg" (%y) {ge.name = "y"} : tensor<2xf32>
        ge.net_output (%z) {ge.name = "out", ge.output_names = ["y"]}
      }""")
    model = export_onnx(module)
    onnx.checker.check_model(model)
    assert run(model, {"x": np.array([1, -2], np.float32)})[0].tolist() == [1, -2]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '%a = ge.op "Softmax" (%x) source "ai.onnx::Softmax@11" {ge.name = "a"} : tensor<2xf32>\n'
            '%b = ge.op "Clip" (%x) source "ai.onnx::Clip@13" {ge.name = "b"} : tensor<2xf32>',
            "ai.onnx::Softmax@11 is asked for, but opset 13 of ai.onnx holds version 13",
        ),
        (
            '%a = ge.op "If" (%x) subgraphs [@gone, @too] {ge.name = "a"} : tensor<2xf32>',
            'node "a": graph @gone is not in the module',
        ),
        (
            '%a = ge.op "Cast" (%x) {ge.name = "a"} : tensor<2x!ge.hif8>',
            "ONNX has no element type !ge.hif8",
        ),
        (
            '%a = "test.op"(%x) : (tensor<2xf32>) -> tensor<2xf32>',
            "is not an op of the dialect ge",
        ),
        (
            '%w = ge.constant value dense_resource<__elided__> : tensor<2xf32> {ge.name = "w"} : tensor<2xf32>\n'
            '%a = ge.op "Add" (%x, %w) {ge.name = "a"} : tensor<2xf32>',
            'the bytes of "w" were left out of this text',
        ),
    ],
)
def test_what_onnx_cannot_say(body: str, message: str) -> None:
    ctx = Context(allow_unregistered=True)
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Ge)
    text = f"""
      ge.graph @main {{
        %x = ge.data index 0 {{ge.name = "x"}} : tensor<2xf32>
        {body}
        ge.net_output (%a) {{ge.name = "out"}}
      }}"""
    with pytest.raises(GeError) as caught:
        export_onnx(Parser(ctx, text, "test.mlir").parse_module())
    assert message in str(caught.value)


def test_a_module_without_graph() -> None:
    with pytest.raises(OnnxExportError, match=r"holds no ge\.graph"):
        export_onnx(ModuleOp([]))


def test_softmax_of_old_opsets_only_over_the_last_axis(build: Any) -> None:
    for axis, domain in ((1, ""), (-1, ""), (0, "ge")):
        module = _module(f"""
          builtin.module attributes {{ge.opset_imports = {{ai.onnx = 11 : i64}}}} {{
            ge.graph @main {{
              %x = ge.data index 0 {{ge.name = "x"}} : tensor<2x3xf32>
              %a = ge.op "SoftmaxV2" (%x) attrs {{axes = array<i64: {axis}>}} {{ge.name = "a"}} : tensor<2x3xf32>
              ge.net_output (%a) {{ge.name = "out"}}
            }}
          }}""")
        assert export_onnx(module).graph.node[0].domain == domain


def test_equal_constants_of_attributes_are_one_initializer(build: Any) -> None:
    listed = [
        helper.make_node("Unsqueeze", ["x", f"a{k}"], [f"y{k}"], name=f"u{k}") for k in range(2)
    ]
    axes = {f"a{k}": np.array([0]) for k in range(2)}
    exported = export_onnx(import_onnx(build(listed, {"x": [2]}, {"y0": None, "y1": None}, axes)))
    assert [x.name for x in exported.graph.initializer] == ["u0_axes"]
