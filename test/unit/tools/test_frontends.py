from __future__ import annotations

from io import BytesIO
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import FileLineColLoc, NameLoc
from xdsl.utils.exceptions import ParseError

from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.program import context
from ge_dialect.tools.frontends import LocatedMLIRFrontend, OnnxFrontend, parse_dims

TEXT = b"""
"ge.graph"() <{sym_name = "g"}> ({
  %n = "ge.absent"() : () -> none
  "ge.net_output"() {ge.name = "out"} : () -> () loc("here":7:8)
  "ge.op"() <{type = "A"}> {ge.name = "a"} : () -> () loc("a")
}) : () -> ()
"""


def test_operations_get_the_place_where_they_were_written() -> None:
    module = LocatedMLIRFrontend(line_offset=10).parse(context(), BytesIO(TEXT), "f.mlir")
    graph = next(iter(module.body.block.ops))
    places = [location_text(op) for op in graph.walk()]
    assert places == ["f.mlir:12:1", "f.mlir:13:3", "here:7:8", 'node "a"']
    last = list(graph.walk())[-1]
    assert isinstance(last.location, NameLoc)
    assert isinstance(graph.location, FileLineColLoc)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (b'\n "ge.op"() : ', "f.mlir:12:14", ""),
        (b'"test.op"() {a = 300 : i8} : () -> ()', "f.mlir:11:26", "out of range"),
        (b'"test.op"() {a = #ge.desc<ND, memory = 3>} : () -> ()', "f.mlir:11:", ""),
        (b'%a = "test.op"(%b) : (i32) -> i32', "f.mlir:11:", "%b"),
    ],
)
def test_every_fault_of_the_text_has_a_place(text: bytes, place: str, message: str) -> None:
    ctx = context()
    from xdsl.dialects.test import Test

    ctx.load_dialect(Test)
    with pytest.raises(ParseError) as caught:
        LocatedMLIRFrontend(line_offset=10).parse(ctx, BytesIO(text), "f.mlir")
    assert str(caught.value.span.get_location()).startswith(place)
    assert message in caught.value.msg


def test_dims() -> None:
    assert parse_dims(("batch=1", "a=b=2")) == {"batch": 1, "a=b": 2}


@pytest.mark.parametrize("setting", ["batch", "batch=", "=1", "batch=-1", "batch=x"])
def test_wrong_dims(setting: str) -> None:
    with pytest.raises(GeError, match="NAME=NUMBER"):
        parse_dims((setting,))


def _model() -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="r")], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_onnx_from_a_stream(tmp_path: Path) -> None:
    data = _model().SerializeToString()
    module = OnnxFrontend(("batch=3",)).parse(context(), BytesIO(data), "<stdin>")
    module.verify()
    assert "tensor<3x4xf32>" in str(module)


def test_onnx_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(_model(), path)
    module = OnnxFrontend().parse(context(), BytesIO(b""), str(path))
    assert "tensor<?x4xf32>" in str(module)


def test_bytes_that_are_no_model() -> None:
    with pytest.raises(GeError) as caught:
        OnnxFrontend().parse(context(), BytesIO(b"not a model"), "<stdin>")
    assert caught.value.location == "<stdin>"
