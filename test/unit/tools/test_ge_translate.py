from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from ge_dialect.tools.ge_translate import main

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
WEIGHTS = np.random.default_rng(0).standard_normal((4, 20)).astype(np.float32)


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> onnx.ModelProto:
    """A model of two nodes with weights of 320 bytes, as m.onnx of the working directory."""
    monkeypatch.chdir(tmp_path)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["m"], name="matmul"),
            helper.make_node("Relu", ["m"], ["y"], name="relu"),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 20])],
        [numpy_helper.from_array(WEIGHTS, "w")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(proto, "m.onnx")
    return proto


@pytest.mark.parametrize("weights", [[], ["--weights=w.bin"]])
def test_there_and_back(model: onnx.ModelProto, weights: list[str]) -> None:
    assert main(["m.onnx", "-o", "m.mlir", *weights]) == 0
    assert main(["--export-onnx", "m.mlir", "-o", "again.onnx", *weights]) == 0
    again = onnx.load("again.onnx")
    onnx.checker.check_model(again, full_check=True)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": X})
    (found,) = ReferenceEvaluator(again).run(None, {"x": X})
    np.testing.assert_array_equal(found, expected)
    assert Path("w.bin").exists() == bool(weights)


def test_direction_by_extension_and_dims(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["m.onnx", "--dim", "batch=7"]) == 0
    assert "tensor<7x20xf32>" in capsys.readouterr().out


def test_elided_weights_cannot_be_exported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["m.onnx", "-o", "m.mlir", "--weights=elide"]) == 0
    assert "dense_resource<__elided__>" in Path("m.mlir").read_text()
    assert main(["m.mlir", "-o", "again.onnx"]) == 1
    assert not Path("again.onnx").exists()
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert ": error: " in error


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["m.onnx", "-o", "m.txt"], "ge-translate: error: cannot tell the direction"),
        (["missing.onnx", "-o", "m.mlir"], "missing.onnx: error: No such file or directory"),
        (["--import-onnx", "text.txt", "-o", "m.mlir"], "text.txt: error: "),
        (["--export-onnx", "text.txt", "-o", "x.onnx"], "text.txt:1:4: error: "),
        (["m.onnx", "--dim", "batch"], "--dim: error: a dimension takes NAME=NUMBER"),
    ],
)
def test_errors(args: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("text.txt").write_text("no model")
    assert main(args) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(error)
    assert captured.err.count("\n") == 1
    assert not Path("m.mlir").exists()
