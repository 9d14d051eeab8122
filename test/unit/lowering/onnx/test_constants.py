"""Initializers, Constant nodes, sparse and external tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.weights import array_of
from ge_dialect.lowering.onnx import OnnxImportError, export_onnx, import_onnx
from ge_dialect.lowering.onnx.constants import ExternalFiles, tensor_elements, tensor_proto

NO_FILES = ExternalFiles(None)


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ({"value_int": 3}, np.array(3, np.int64)),
        ({"value_ints": [3, 4]}, np.array([3, 4], np.int64)),
        ({"value_float": 0.5}, np.array(0.5, np.float32)),
        ({"value_floats": [0.5]}, np.array([0.5], np.float32)),
        ({"value_string": "aä"}, np.array("aä", object)),
        ({"value_strings": ["a", "ä"]}, np.array(["a", "ä"], object)),
        ({"value": numpy_helper.from_array(np.eye(2, dtype=np.float16))}, np.eye(2, dtype=np.float16)),
        (
            {
                "sparse_value": helper.make_sparse_tensor(
                    helper.make_tensor("v", TensorProto.FLOAT, [2], [1.0, 2.0]),
                    helper.make_tensor("i", TensorProto.INT64, [2], [1, 3]),
                    [2, 2],
                )
            },
            np.array([[0, 1], [0, 2]], np.float32),
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)  # fmt: skip
def test_constant_nodes(
    attribute: dict[str, Any], expected: np.ndarray, build: Any, ops_of: Any
) -> None:
    node = helper.make_node("Constant", [], ["c"], name="the constant", **attribute)
    model = build([node, helper.make_node("Identity", ["c"], ["y"])], {}, {"y": None})
    module = import_onnx(model)
    (op,) = ops_of(module, "Const")
    assert node_name(op) == "the constant"
    found = array_of(op.properties["value"])
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_unused_constants_are_not_imported(build: Any, ops_of: Any) -> None:
    model = build(
        [helper.make_node("Relu", ["x"], ["y"])], {"x": [1]}, {"y": [1]}, {"w": np.zeros(3)}
    )
    assert ops_of(import_onnx(model), "Const") == []


def test_initializers_that_are_inputs_too_are_constants(build: Any, ops_of: Any) -> None:
    weights = np.arange(2, dtype=np.float32)
    add = helper.make_node("Add", ["x", "w"], ["y"])
    model = build([add], {"w": [2], "x": [2]}, {"y": [2]}, {"w": weights}, ir_version=3)
    module = import_onnx(model)
    (data,) = ops_of(module, "Data")
    assert (node_name(data), data.properties["index"].value.data) == ("x", 0)
    (constant,) = ops_of(module, "Const")
    np.testing.assert_array_equal(array_of(constant.properties["value"]), weights)
    onnx.checker.check_model(export_onnx(module))


def test_small_initializers_of_old_models_give_shapes(build: Any, ops_of: Any) -> None:
    nodes = [helper.make_node("Reshape", ["x", "s"], ["y"])]
    model = build(
        nodes,
        {"x": [4], "s": (TensorProto.INT64, [2])},
        {"y": None},
        {"s": np.array([2, 2])},
        ir_version=3,
    )
    (op,) = ops_of(import_onnx(model), "Reshape")
    assert str(op.results[0].type) == "tensor<2x2xf32>"


def test_an_output_may_be_an_input_or_a_constant(build: Any, run: Any) -> None:
    model = build([], {"x": [2]}, {"x": [2], "w": [2]}, {"w": np.ones(2, np.float32)})
    exported = export_onnx(import_onnx(model))
    onnx.checker.check_model(exported)
    assert [x.name for x in exported.graph.output] == ["x", "w"]


DTYPES = [
    np.float32, np.float64, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.bool_, np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e8m0fnu, ml_dtypes.int4, ml_dtypes.uint4,
    ml_dtypes.float4_e2m1fn,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("count", [1, 5, 301])
def test_tensors_of_every_type_with_raw_bytes_and_back(dtype: Any, count: int) -> None:
    array = (np.arange(count) % 2 + 1).astype(dtype).reshape(count, 1)
    tensor = numpy_helper.from_array(array, "t")
    value = tensor_elements(tensor, NO_FILES)
    found = array_of(value)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    assert tensor_proto("t", value) == tensor


@pytest.mark.parametrize(
    "number",
    [
        TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.INT64, TensorProto.UINT64,
        TensorProto.BOOL, TensorProto.BFLOAT16, TensorProto.FLOAT8E5M2, TensorProto.INT4, TensorProto.UINT4,
        TensorProto.STRING,
    ],
)  # fmt: skip
def test_tensors_in_typed_fields(number: int) -> None:
    values: list[Any] = ["a", "ä"] if number == TensorProto.STRING else [1, 0]
    tensor = helper.make_tensor("t", number, [2], values)
    found = array_of(tensor_elements(tensor, NO_FILES))
    assert found.shape == (2,)
    assert [x if isinstance(x, str) else float(x) for x in found.tolist()] == values


def test_bytes_of_a_tensor_are_not_copied() -> None:
    tensor = numpy_helper.from_array(np.zeros(1000, np.float32), "t")
    value = tensor_elements(tensor, NO_FILES)
    assert isinstance(value, DenseIntOrFPElementsAttr)
    assert np.shares_memory(array_of(value), np.frombuffer(value.data.data, np.uint8))


def test_empty_tensors() -> None:
    array = np.zeros((0, 3), np.float32)
    value = tensor_elements(numpy_helper.from_array(array, "t"), NO_FILES)
    assert array_of(value).shape == (0, 3)
    assert tensor_proto("t", value) == numpy_helper.from_array(array, "t")


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (
            TensorProto(name="t", data_type=1, dims=[2], raw_data=b"1234"),
            '"t" has 4 bytes, 8 are needed',
        ),
        (TensorProto(name="t", data_type=1, dims=[2], float_data=[1.0]), 'tensor "t" is damaged'),
        (
            TensorProto(name="t", data_type=99, dims=[1], raw_data=b"1"),
            "element type 99 is not known",
        ),
        (TensorProto(name="t", data_type=8, dims=[1], raw_data=b"1"), "cannot have raw bytes"),
    ],
)
def test_damaged_tensors(tensor: TensorProto, message: str) -> None:
    with pytest.raises(OnnxImportError, match=message):
        tensor_elements(tensor, NO_FILES)


# --- external data -------------------------------------------------------------------------------------------------

WEIGHTS = np.arange(2000, dtype=np.float32)
SHAPE = np.array([40, 50], dtype=np.int64)


@pytest.fixture
def external(tmp_path: Path, build: Any) -> Path:
    """A model in a folder of its own whose weights and shape lie in the file `weights.bin`."""
    folder = tmp_path / "model"
    folder.mkdir()
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"], name="add"),
        helper.make_node("Reshape", ["a", "s"], ["y"]),
    ]
    model = build(nodes, {"x": [2000]}, {"y": None}, {"w": WEIGHTS, "s": SHAPE})
    onnx.save(
        model,
        folder / "net.onnx",
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=0,
    )
    return folder / "net.onnx"


def _with_entries(path: Path, **entries: str) -> None:
    model = onnx.load(path, load_external_data=False)
    tensor = next(x for x in model.graph.initializer if x.name == "w")
    kept = {x.key: x.value for x in tensor.external_data} | entries
    del tensor.external_data[:]
    for key, value in kept.items():
        tensor.external_data.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())


def test_external_data_is_mapped(external: Path, ops_of: Any) -> None:
    module = import_onnx(external)
    weights, _ = (op.properties["value"] for op in ops_of(module, "Const"))
    np.testing.assert_array_equal(array_of(weights), WEIGHTS)
    assert isinstance(weights.data.data, memoryview)
    assert str(ops_of(module, "Reshape")[0].results[0].type) == "tensor<40x50xf32>"


def test_external_data_of_a_model_in_memory(external: Path, ops_of: Any) -> None:
    model = onnx.load(external, load_external_data=False)
    module = import_onnx(model, folder=external.parent)
    assert len(ops_of(module, "Const")) == 2
    with pytest.raises(OnnxImportError, match="the model came without a folder to look in"):
        import_onnx(model)


def test_links_inside_the_folder_are_followed(external: Path) -> None:
    (external.parent / "weights.bin").rename(external.parent / "blob")
    (external.parent / "weights.bin").symlink_to("blob")
    import_onnx(external).verify()


@pytest.mark.parametrize("kind", ["parent", "absolute", "link", "linked folder"])
def test_external_data_outside_the_folder_is_refused(
    kind: str, external: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "weights.bin"
    (external.parent / "weights.bin").rename(target)
    match kind:
        case "parent":
            location = "../outside/weights.bin"
        case "absolute":
            location = str(target)
        case "link":
            (external.parent / "link.bin").symlink_to(target)
            location = "link.bin"
        case _:
            (external.parent / "folder").symlink_to(outside)
            location = "folder/weights.bin"
    _with_entries(external, location=location)
    # the shape's file is gone as well; without the small tensor only the weights are looked at
    model = onnx.load(external, load_external_data=False)
    del model.graph.initializer[1]
    model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
    with pytest.raises(OnnxImportError, match="is outside the model's folder") as caught:
        import_onnx(model, folder=external.parent)
    assert location in caught.value.message


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"location": "gone.bin"},
            'external data "gone.bin" of tensor "w" cannot be read: No such file',
        ),
        ({"location": ""}, 'external data of tensor "w" names no file'),
        ({"offset": "100000000"}, "are not in"),
        ({"length": "4"}, "is 4 bytes long, 8000 are needed"),
        ({"offset": "x"}, "offset and length must be integers"),
    ],
)
def test_external_data_that_is_wrong(entries: dict[str, str], message: str, external: Path) -> None:
    _with_entries(external, **entries)
    with pytest.raises(OnnxImportError, match=message) as caught:
        import_onnx(external)
    assert str(caught.value).startswith(str(external))
