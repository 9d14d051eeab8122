"""Whole models: functions, symbolic dimensions, versions, files that are none, real networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ge_dialect.dialects.ge.access import ge_type, graphs, nodes, source_op
from ge_dialect.lowering.onnx import OnnxImportError, export_onnx, import_onnx

RELU = helper.make_node("Relu", ["x"], ["y"], name="relu")


def _types(module: Any) -> list[str]:
    return [ge_type(op) for op in nodes(graphs(module)[0])]


# --- functions -----------------------------------------------------------------------------------------------------


def test_functions_of_the_model_are_inlined(build: Any, run: Any) -> None:
    twice = helper.make_function(
        "my.fns", "Twice", ["a"], ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    scaled = helper.make_function(
        "my.fns", "Scaled", ["a"], ["b"],
        [
            helper.make_node("Twice", ["a"], ["t"], domain="my.fns"),
            helper.make_node("Elu", ["t"], ["b"]),
        ],
        [helper.make_opsetid("", 17), helper.make_opsetid("my.fns", 1)],
        attributes=["alpha"],
    )  # fmt: skip
    scaled.node[1].attribute.add(
        name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="alpha"
    )
    call = helper.make_node("Scaled", ["x"], ["s"], domain="my.fns", alpha=0.5)
    model = build(
        [call, helper.make_node("Twice", ["s"], ["y"], domain="my.fns")],
        {"x": [3]},
        {"y": [3]},
        domains={"my.fns": 1},
        functions=[twice, scaled],
    )
    module = import_onnx(model)
    assert _types(module) == ["Data", "Add", "Elu", "Add", "NetOutput"]
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    feeds = {"x": np.array([-1, 0, 2], np.float32)}
    np.testing.assert_array_equal(run(model, feeds)[0], run(exported, feeds)[0])


def test_operators_that_a_schema_defines_as_functions_stay(build: Any) -> None:
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y"])
    module = import_onnx(build([node], {"x": [2, 3], "s": [3]}, {"y": [2, 3]}))
    assert _types(module) == ["Data", "Data", "LayerNormalization", "NetOutput"]


# --- dimensions ----------------------------------------------------------------------------------------------------


@pytest.fixture
def symbolic(build: Any) -> onnx.ModelProto:
    """x [batch, seq], z [batch, None, 4], n [-1]."""
    listed = [
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Relu", ["z"], ["w"]),
        helper.make_node("Relu", ["n"], ["m"]),
    ]
    model = build(
        listed,
        {"x": ["batch", "seq"], "z": ["batch", None, 4], "n": [None]},
        {"y": None, "w": None, "m": None},
    )
    model.graph.input[2].type.tensor_type.shape.dim[0].dim_value = -1
    return model


def _inputs(module: Any) -> list[str]:
    return [str(op.results[0].type) for op in module.walk() if op.name == "ge.data"]


def test_symbolic_dims_stay_unknown_and_keep_their_names(symbolic: onnx.ModelProto) -> None:
    module = import_onnx(symbolic)
    assert _inputs(module) == ["tensor<?x?xf32>", "tensor<?x?x4xf32>", "tensor<?xf32>"]
    names = [op.attributes.get("ge.dim_names") for op in module.walk() if op.name == "ge.data"]
    assert [str(x) for x in names] == ['["batch", "seq"]', '["batch", "", ""]', "None"]
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    assert exported.graph.input[0] == symbolic.graph.input[0]
    assert exported.graph.input[1] == symbolic.graph.input[1]


def test_dims_fix_sizes_everywhere(symbolic: onnx.ModelProto) -> None:
    module = import_onnx(symbolic, dims={"batch": 2, "seq": 0, "z:1": 3, "n:0": 5})
    assert _inputs(module) == ["tensor<2x0xf32>", "tensor<2x3x4xf32>", "tensor<5xf32>"]
    results = [str(op.results[0].type) for op in module.walk() if op.name == "ge.op"]
    assert results == _inputs(module)
    data = next(op for op in module.walk() if op.name == "ge.data")
    assert str(data.attributes["ge.dim_names"]) == '["batch", "seq"]', "names stay known"


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"size": 2}, 'no symbolic dimension "size"; the model has: batch, seq, z:1, n:0'),
        ({"batch": -2}, 'dimension "batch" cannot be -2'),
    ],
)
def test_dims_that_are_wrong(dims: dict[str, int], message: str, symbolic: onnx.ModelProto) -> None:
    with pytest.raises(OnnxImportError, match=message):
        import_onnx(symbolic, dims=dims)


def test_a_static_model_has_no_dims_to_give(build: Any) -> None:
    with pytest.raises(OnnxImportError, match="the model has: none"):
        import_onnx(build([RELU], {"x": [2]}, {"y": [2]}), dims={"batch": 1})


# --- versions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [7, 13, onnx.defs.onnx_opset_version()])
def test_every_opset_since_seven(opset: int, build: Any) -> None:
    assert _types(import_onnx(build([RELU], {"x": [2]}, {"y": [2]}, opset=opset)))[1] == "Relu"


def test_older_opsets_come_as_onnx_converts_them(build: Any) -> None:
    negated = helper.make_node("Not", ["x"], ["y"])
    types = {"x": (TensorProto.BOOL, [2])}, {"y": (TensorProto.BOOL, [2])}
    assert _types(import_onnx(build([negated], *types, opset=1)))[1] == "LogicalNot"
    add = helper.make_node("Add", ["x", "b"], ["y"], broadcast=1, axis=0)
    module = import_onnx(build([add], {"x": [2, 3], "b": [2]}, {"y": [2, 3]}, opset=6))
    assert {"Add", "Unsqueeze"} <= set(_types(module))


def test_slopes_of_an_old_prelu_belong_to_channels(build: Any) -> None:
    prelu = helper.make_node("PRelu", ["x", "slope"], ["y"])
    module = import_onnx(build([prelu], {"x": [2, 3, 4], "slope": [3]}, {"y": [2, 3, 4]}, opset=6))
    assert {"PRelu", "Unsqueeze"} <= set(_types(module))


def test_an_old_opset_that_onnx_cannot_convert(build: Any) -> None:
    node = helper.make_node("NoSuchOperator", ["x"], ["y"])
    with pytest.raises(OnnxImportError, match="opset 1 cannot be converted to opset 7, the oldest"):
        import_onnx(build([node], {"x": [2]}, {"y": [2]}, opset=1))


def test_newer_opsets_than_onnx_knows(build: Any) -> None:
    with pytest.raises(OnnxImportError, match="opset 999 is newer than the installed onnx"):
        import_onnx(build([RELU], {"x": [2]}, {"y": [2]}, opset=999))


def test_operators_of_a_set_that_is_not_imported(build: Any) -> None:
    model = build([RELU], {"x": [2]}, {"y": [2]}, domains={"my.ops": 1})
    del model.opset_import[0]
    with pytest.raises(
        OnnxImportError,
        match=r'node "relu": the model imports no operator set "ai.onnx", which Relu is from',
    ):
        import_onnx(model, name="net.onnx")


# --- files ---------------------------------------------------------------------------------------------------------


def test_files_that_are_no_models(tmp_path: Path, build: Any) -> None:
    data = build([RELU], {"x": [2]}, {"y": [2]}).SerializeToString()
    no_opset = build([RELU], {"x": [2]}, {"y": [2]})
    del no_opset.opset_import[:]
    cases = {
        "cut.onnx": (data[: len(data) // 2], "the ONNX model is cut short or damaged"),
        "text.onnx": (b"ge.graph @main {}", "not an ONNX model"),
        "empty.onnx": (b"", "the file is empty, not an ONNX model"),
        "other.onnx": (
            b"\x89PNG\r\n",
            "not an ONNX model",
        ),
        "opset.onnx": (
            no_opset.SerializeToString(),
            "not an ONNX model: it imports no operator set",
        ),
    }
    for name, (content, message) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(OnnxImportError) as caught:
            import_onnx(path)
        assert str(caught.value).startswith(f"{path}: {message}")
    with pytest.raises(OnnxImportError, match="cannot read the model: No such file") as caught:
        import_onnx(tmp_path / "gone.onnx")
    assert caught.value.location == str(tmp_path / "gone.onnx")


def test_import_is_lazy() -> None:
    import subprocess
    import sys

    code = "import sys, ge_dialect.lowering.onnx as o; assert 'onnx' not in sys.modules; assert o.import_onnx"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- real networks -------------------------------------------------------------------------------------------------

FEEDS: dict[str, dict[str, np.ndarray]] = {
    "bert_base_slim": {
        "input_ids": np.arange(64).reshape(1, 64) % 7,
        "attention_mask": np.ones((1, 64), np.int64),
        "token_type_ids": np.zeros((1, 64), np.int64),
    },
    "gpt2_slim_dyn": {
        "input_ids": np.arange(8).reshape(2, 4),
        "attention_mask": np.ones((2, 4), np.int64),
    },
    "llama2_shape": {
        "input_ids": np.arange(8).reshape(2, 4),
        "attention_mask": np.ones((2, 4), np.int64),
        "position_ids": np.tile(np.arange(4), (2, 1)),
    },
}
SIZES = {
    "inception_v3_slim": (1, 3, 299, 299),
    "unet_slim": (1, 3, 128, 128),
    "moe_dense_slim": (1, 32, 64),
}
SHARED = (
    "bert_base_slim", "densenet121_slim", "gpt2_slim_dyn", "hrnet_slim", "inception_v3_slim", "llama2_shape", "moe_dense_slim",
    "resnet50_slim", "shufflenet_v2_slim", "squeezenet_slim", "unet_slim",
)  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_shared_models_there_and_back(name: str, shared_models: Path, run: Any) -> None:
    path = shared_models / f"{name}.onnx"
    module = import_onnx(path)
    module.verify()
    assert [op for op in module.walk() if source_op(op) and source_op(op).op == "MatMul"] == []
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    image = np.random.default_rng(0).standard_normal(SIZES.get(name, (1, 3, 224, 224)))
    feeds = FEEDS.get(name, {"x": image.astype(np.float32)})
    for x, y in zip(run(onnx.load(path), feeds), run(exported, feeds), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)


def test_model_of_five_thousand_nodes_is_fully_typed(shared_models: Path) -> None:
    module = import_onnx(
        shared_models / "llama2_shape.onnx", dims={"batch": 1, "seq": 8, "total_seq": 8}
    )
    types = [str(result.type) for op in module.walk() for result in op.results]
    assert len(types) > 4000
    assert not any("*" in kind for kind in types)
