"""Damaged and malicious models: an error that says what is wrong, in little time and memory."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import ge_dialect
from ge_dialect.formats.errors import GeError
from ge_dialect.lowering.onnx import OnnxImportError, import_onnx
from ge_dialect.lowering.onnx.load import model_of_bytes
from ge_dialect.lowering.onnx.propagation import values_stay_small

node = helper.make_node


def floats(name: str, shape: list[int] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def make(
    *nodes: NodeProto,
    initializers: tuple[TensorProto, ...] = (),
    functions: tuple[onnx.FunctionProto, ...] = (),
    opsets: tuple[tuple[str, int], ...] = (("", 17),),
) -> ModelProto:
    """A model x -> y of float [2, 3]."""
    graph = helper.make_graph(
        list(nodes), "g", [floats("x", [2, 3])], [floats("y", None)], list(initializers)
    )
    sets = [helper.make_opsetid(*item) for item in opsets]
    return helper.make_model(graph, opset_imports=sets, functions=list(functions), ir_version=9)


def call(name: str) -> NodeProto:
    return node(name, ["p"], ["q"], domain="f")


def function(name: str, *nodes: NodeProto) -> onnx.FunctionProto:
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    return helper.make_function("f", name, ["p"], ["q"], list(nodes), sets)


def with_functions(first: str, *functions: onnx.FunctionProto) -> ModelProto:
    start = node(first, ["x"], ["y"], domain="f")
    return make(start, functions=functions, opsets=(("", 17), ("f", 1)))


def doubling(levels: int) -> ModelProto:
    """Each function calls the one below twice."""
    below = [
        function(
            f"F{i}",
            node(f"F{i - 1}", ["p"], ["t"], domain="f"),
            node(f"F{i - 1}", ["t"], ["q"], domain="f"),
        )
        for i in range(1, levels + 1)
    ]
    return with_functions(f"F{levels}", function("F0", node("Relu", ["p"], ["q"])), *below)


def with_weight(dims: list[int], raw: bytes = b"") -> ModelProto:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=raw)
    return make(node("Add", ["x", "w"], ["y"], name="a"), initializers=(tensor,))


def with_sparse(dims: list[int]) -> ModelProto:
    model = make(node("Add", ["x", "w"], ["y"], name="a"))
    values = numpy_helper.from_array(np.ones(1, np.float32), "w")
    indices = numpy_helper.from_array(np.zeros(1, np.int64), "i")
    model.graph.sparse_initializer.append(
        onnx.SparseTensorProto(values=values, indices=indices, dims=dims)
    )
    return model


def twice_given() -> ModelProto:
    softmax = node("Softmax", ["x"], ["y"], axis=1)
    softmax.attribute.append(softmax.attribute[0])
    return make(softmax)


def of_a_function() -> ModelProto:
    softmax = node("Softmax", ["x"], ["y"])
    softmax.attribute.add(name="axis", ref_attr_name="z", type=onnx.AttributeProto.INT)
    return make(softmax)


def long_cycle() -> ModelProto:
    nodes = [node("Relu", [f"v{i}"], [f"v{(i + 1) % 500}"], name=f"n{i}") for i in range(500)]
    return make(*nodes, node("Relu", ["v5"], ["y"]))


gather_nd = node("GatherND", ["x", "i"], ["y"], batch_dims=-3)
layer_norm = node("LayerNormalization", ["x", "x"], ["y"], axis=(1 << 63) - 1)
relu = node("Relu", ["x"], ["y"])

BROKEN: dict[str, tuple[ModelProto, str]] = {
    "negative dimension": (with_weight([-2, -3], bytes(24)), "dimension of size -2"),
    "too many dimensions": (with_weight([1] * 70, bytes(4)), "70 dimensions, more than 64"),
    "dims beyond the bytes": (with_weight([1 << 62, 4], bytes(24)), "24 bytes"),
    "sparse, beyond memory": (with_sparse([1 << 40, 1 << 30]), "sparse tensor .* is damaged"),
    "sparse, negative": (with_sparse([-2, 3]), "dimension of size -2"),
    "no operator": (make(node("", ["x"], ["y"], name="n")), 'node "n" of type .none.'),
    "operator with a space": (make(node("Re lu", ["x"], ["y"])), "is no name of an operator"),
    "operator with signs": (make(node("A@3::b", ["x"], ["y"])), "is no name of an operator"),
    "inputs": (make(node("Relu", ["x", "x"], ["y"])), "2 inputs, the operator takes at most 1"),
    "outputs": (make(node("Shape", ["x"], ["y", "z"])), "2 outputs, the operator has at most 1"),
    "attribute twice": (twice_given(), "given twice"),
    "attribute of a function": (of_a_function(), "refers to an attribute of a function"),
    "onnx crashes: attribute": (make(gather_nd), "batch_dims cannot be -3"),
    "onnx crashes: axis": (make(layer_norm), "axis cannot be 9223372036854775807"),
    "onnx crashes: input": (make(node("EyeLike", [""], ["y"], k=1)), "input 0 is missing"),
    "opset 0": (make(relu, opsets=(("", 0),)), "cannot have the version 0"),
    "opset beyond": (make(relu, opsets=(("", -(1 << 63)),)), "cannot have the version"),
    "opset twice": (make(relu, opsets=(("", 17), ("", 11))), "in the versions 17 and 11"),
    "recursion": (with_functions("A", function("A", call("A"))), "Cycle detected"),
    "recursion of two": (
        with_functions("A", function("A", call("B")), function("B", call("A"))),
        "Cycle detected",
    ),
    "function twice": (with_functions("A", *[function("A", call("Relu"))] * 2), "multiple"),
    "functions multiply": (doubling(60), "nodes when its functions are inlined"),
    "long cycle": (long_cycle(), r'"n5" -> \(489 more\) -> '),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_models(name: str) -> None:
    model, message = BROKEN[name]
    with pytest.raises(OnnxImportError, match=message):
        import_onnx(model)


@pytest.mark.parametrize("damage", ["input", "operator", "dimension", "metadata"])
def test_text_that_is_not_utf8(damage: str) -> None:
    model = make(node("Relu", ["x"], ["marker"]), node("Abs", ["marker"], ["y"]))
    if damage == "operator":
        model.graph.node[0].op_type = "marker"
    elif damage == "dimension":
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "marker"
    elif damage == "metadata":
        model.metadata_props.add(key="marker", value="")
    data = model.SerializeToString().replace(b"marker", b"mark\xe9r")
    with pytest.raises(OnnxImportError, match="not UTF-8"):
        import_onnx(model_of_bytes(data))


@pytest.mark.parametrize(
    "broken",
    [
        node("Constant", [], [], value_int=1),
        node("Constant", [], [""], value_int=1),
        node("ReduceProd", [], ["y"]),
        node("Transpose", [], ["y"]),
        node("Conv", ["x", "x", "x"], ["y"]),
        node("RoiAlign", ["x", "zero", "x"], ["y"]),
        node("Expand", ["x", "half"], ["y"]),
        node("Slice", ["x", "half", "half"], ["y"]),
        node("RegexFullMatch", ["unknown"], ["y"]),
        node("EyeLike", ["unknown"], ["y"]),
    ],
    ids=lambda item: f"{item.op_type}-{','.join(item.input)}",
)
def test_nodes_that_lack_what_they_need(broken: NodeProto) -> None:
    constants = (
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
        numpy_helper.from_array(np.array([0.5], np.float32), "half"),
    )
    outputs = [] if "y" in broken.output else [node("Relu", ["x"], ["y"])]
    untyped = node("Unknown", ["x"], ["unknown"], domain="d")
    sets = (("", 20), ("d", 1))
    model = make(untyped, broken, *outputs, initializers=constants, opsets=sets)
    with suppress(GeError):  # nothing else may come out of it
        ge_dialect.compile(model).run({"x": np.ones((2, 3), np.float32)})


def _link_in_a_circle(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("location", "prepare", "message"),
    [
        ("pipe", os.mkfifo, "no regular file"),
        ("sub", os.mkdir, "no regular file"),
        ("loop", _link_in_a_circle, "cannot be found"),
        ("a\0b", None, "cannot be found"),
        ("n" * 5000, None, "cannot be"),
    ],
    ids=("pipe", "folder", "circle", "nul", "long"),
)
def test_external_data_in_what_is_no_file(
    location: str, prepare: Callable[[Path], None] | None, message: str, tmp_path: Path
) -> None:
    if prepare is not None:
        prepare(tmp_path / location)
    model = with_weight([2, 3])
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    with pytest.raises(OnnxImportError, match=message):
        import_onnx(model, folder=tmp_path)


@pytest.mark.parametrize("shape", [[1 << 40], [1 << 62, 4], [-1], [1] * 70])
@pytest.mark.parametrize("op", ["ConstantOfShape", "Expand", "Tile", "OneHot", "Range"])
def test_impossible_sizes(op: str, shape: list[int]) -> None:
    s = numpy_helper.from_array(np.array(shape), "s")
    size = numpy_helper.from_array(np.array(shape[0]), "size")
    zero = numpy_helper.from_array(np.array(0), "zero")
    one = numpy_helper.from_array(np.array(1), "one")
    values = numpy_helper.from_array(np.array([0, 1], np.float32), "v")
    inputs = {
        "ConstantOfShape": ["s"],
        "OneHot": ["s", "size", "v"],
        "Range": ["zero", "size", "one"],
    }
    model = make(
        node(op, inputs.get(op, ["x", "s"]), ["y"]), initializers=(s, size, zero, one, values)
    )
    with suppress(GeError):  # nothing else may come out of it
        ge_dialect.compile(model).run({"x": np.ones((2, 3), np.float32)})


def test_constants_that_double_are_not_computed() -> None:
    nodes = [node("Concat", [f"v{i}"] * 2, [f"v{i + 1}"], axis=0) for i in range(40)]
    start = numpy_helper.from_array(np.ones(2, np.int64), "v0")
    model = make(*nodes, node("ReduceMax", ["v40"], ["y"]), initializers=(start,))
    assert not values_stay_small(model.graph)
    with pytest.raises(GeError, match="bytes in one memory space"):
        ge_dialect.compile(model).run({"x": np.ones((2, 3), np.float32)})


def test_concat_of_activations_is_no_reason_against_propagation() -> None:
    nodes = [node("Concat", [f"v{i}"] * 2, [f"v{i + 1}"], axis=0) for i in range(40)]
    assert values_stay_small(make(node("Relu", ["x"], ["v0"]), *nodes).graph)


def test_onnx_crashes_on_values_without_type(ops_of: Any) -> None:
    """EyeLike is shown to inference when the type of its input is known, which a first pass may find out."""
    unknown = node("Unknown", ["x"], ["u"], domain="d")
    nodes = (node("Relu", ["x"], ["r"]), node("EyeLike", ["r"], ["e"]), node("Neg", ["e"], ["y"]))
    eyes = (*nodes, node("EyeLike", ["u"], ["n"]))
    module = import_onnx(make(unknown, *eyes, opsets=(("", 17), ("d", 1))))
    first, second = ops_of(module, "EyeLike")
    assert str(first.results[0].type) == "tensor<2x3xf32>"
    assert str(second.results[0].type) == "tensor<*x!ge.undefined>"
    assert [str(op.properties["source"]) for op in (first, second)] == ['"ai.onnx::EyeLike@9"'] * 2


@pytest.mark.parametrize(
    ("op", "version", "operand", "attributes"),
    [
        ("EyeLike", 9, "%n", ""),
        ("RegexFullMatch", 20, "%n", ""),
        ("GatherND", 13, "%x, %x", "attrs = {batch_dims = -3 : i64}, "),
        ("LayerNormalization", 17, "%x, %x", "attrs = {axis = 9223372036854775807 : i64}, "),
    ],
)
def test_onnx_crashes_are_kept_from_text(
    op: str, version: int, operand: str, attributes: str, tmp_path: Path
) -> None:
    kinds = ", ".join({"%n": "none", "%x": "tensor<2x3xf32>"}[x] for x in operand.split(", "))
    path = tmp_path / "m.mlir"
    path.write_text(
        '"ge.graph"() <{sym_name = "main"}> ({\n'
        '  %x = "ge.data"() <{index = 0 : i64}> {ge.name = "x"} : () -> tensor<2x3xf32>\n'
        '  %n = "ge.absent"() : () -> none\n'
        f'  %y = "ge.op"({operand}) <{{type = "{op}", {attributes}source = "ai.onnx::{op}@{version}"}}>'
        f' {{ge.name = "y"}} : ({kinds}) -> tensor<*xf32>\n'
        '  "ge.net_output"(%y) {ge.name = "out"} : (tensor<*xf32>) -> ()\n'
        "}) : () -> ()"
    )
    with pytest.raises(GeError):
        ge_dialect.compile(path).run({"x": np.ones((2, 3), np.float32)})


def test_a_loop_without_iterations_and_values_of_unknown_rank() -> None:
    """Nothing says the rank of what the Loop collects: an empty list of scalars is as good as any."""
    unknown = helper.make_tensor_value_info("v", TensorProto.FLOAT, None)
    body = helper.make_graph(
        [node("Identity", ["c"], ["c2"]), node("Identity", ["v"], ["v2"])],
        "b",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            unknown,
        ],
        [
            helper.make_tensor_value_info("c2", TensorProto.BOOL, []),
            *(helper.make_tensor_value_info("v2", TensorProto.FLOAT, None) for _ in range(2)),
        ],
    )
    never = numpy_helper.from_array(np.array(0), "n")
    start = node("Reshape", ["x", "s"], ["start"])
    model = make(
        start, node("Loop", ["n", "", "start"], ["last", "y"], body=body), initializers=(never,)
    )
    model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, None))
    inputs = {"x": np.ones((2, 3), np.float32), "s": np.array([6])}
    assert ge_dialect.compile(model).run(inputs)["y"].size == 0


def _real_model() -> bytes:
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array(rng.standard_normal((4, 1, 3, 3)).astype(np.float32), "w")
    sizes = numpy_helper.from_array(np.array([1, -1]), "s")
    graph = helper.make_graph(
        [
            node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
            node("Relu", ["a"], ["b"], name="relu"),
            node("Split", ["b"], ["c", "d"], name="split", axis=1),
            node("Concat", ["d", "c"], ["e"], name="concat", axis=1),
            node("Reshape", ["e", "s"], ["f"], name="reshape"),
            node("Softmax", ["f"], ["y"], name="softmax", axis=-1),
        ],
        "g",
        [floats("x", [1, 1, 5, 5])],
        [floats("y", [1, 100])],
        [weight, sizes],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def _compile_and_run(data: bytes) -> None:
    """Nothing but GeError may come out of it."""
    with suppress(GeError):
        ge_dialect.compile(model_of_bytes(data)).run([np.ones((1, 1, 5, 5), np.float32)])


def test_every_cut_of_a_file() -> None:
    data = _real_model()
    for end in range(0, len(data), len(data) // 50):
        _compile_and_run(data[:end])


@pytest.mark.parametrize("seed", range(100))
def test_flipped_bits(seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(_real_model())
    for _ in range(rng.choice([1, 1, 2, 5])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    _compile_and_run(bytes(data))
