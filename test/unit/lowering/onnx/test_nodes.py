"""Nodes without twin, slots, names, order and types."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import NoneType, StringAttr

from ge_dialect.dialects.ge import MapType, OptionalType, SequenceType
from ge_dialect.dialects.ge.access import (
    ge_attrs,
    ge_type,
    graphs,
    is_absent,
    node_name,
    nodes,
    source_op,
)
from ge_dialect.dialects.location import location_text
from ge_dialect.lowering.onnx import OnnxImportError, export_onnx, import_onnx


def _main(module: Any) -> list[Any]:
    return list(nodes(graphs(module)[0]))


def test_node_without_twin_keeps_operator_version_and_attributes(build: Any, ops_of: Any) -> None:
    node = helper.make_node(
        "MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[1, 2], auto_pad="VALID"
    )
    module = import_onnx(build([node], {"x": [1, 1, 4, 4]}, {"y": None}, opset=12))
    (op,) = ops_of(module, "MaxPool")
    assert str(source_op(op)) == "ai.onnx::MaxPool@12"
    assert ge_attrs(op) == {"kernel_shape": [2, 2], "strides": [1, 2], "auto_pad": "VALID"}


def test_attributes_of_all_kinds_go_there_and_back(build: Any, ops_of: Any) -> None:
    values: dict[str, Any] = {
        "an_int": -3,
        "a_float": 0.25,
        "a_text": "aä",
        "ints": [1, -2],
        "no_ints": helper.make_attribute("no_ints", [], attr_type=onnx.AttributeProto.INTS).ints,
        "floats": [0.5, 1.5],
        "texts": ["a", "ä"],
        "tensor": onnx.numpy_helper.from_array(np.arange(3, dtype=np.int16), "tensor"),
    }
    node = helper.make_node("Own", ["x"], ["y"], domain="my.ops")
    for key, value in values.items():
        kind = onnx.AttributeProto.INTS if key == "no_ints" else None
        node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    kind = helper.make_tensor_type_proto(TensorProto.INT8, [2, None])
    node.attribute.append(helper.make_attribute("type", kind))
    model = build([node], {"x": [1]}, {"y": [1]}, domains={"my.ops": 3})
    module = import_onnx(model)
    (op,) = ops_of(module, "Own")
    assert str(source_op(op)) == "my.ops::Own@3"
    attrs = ge_attrs(op)
    np.testing.assert_array_equal(attrs.pop("tensor"), np.arange(3, dtype=np.int16))
    assert str(attrs.pop("type")) == "tensor<2x?xi8>"
    assert attrs == {
        k: list(v) if k == "no_ints" else v for k, v in values.items() if k != "tensor"
    }
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    (again,) = exported.graph.node
    assert (again.domain, again.op_type) == ("my.ops", "Own")
    assert {x.name: x for x in again.attribute} == {x.name: x for x in node.attribute}


def test_standard_domain_has_two_spellings(build: Any, ops_of: Any) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], domain="ai.onnx")
    module = import_onnx(build([node], {"x": [1]}, {"y": [1]}))
    assert source_op(ops_of(module, "Relu")[0]) is None


def test_operator_that_onnx_does_not_have_stays_generic(build: Any, ops_of: Any) -> None:
    node = helper.make_node("SimplifiedLayerNormalization", ["x", "w"], ["y"])
    module = import_onnx(build([node], {"x": [1], "w": [1]}, {"y": [1]}, opset=16))
    (op,) = ops_of(module, "SimplifiedLayerNormalization")
    assert str(source_op(op)) == "ai.onnx::SimplifiedLayerNormalization@16"


def test_ml_operators_and_their_types(build: Any, ops_of: Any) -> None:
    probabilities = helper.make_map_type_proto(
        TensorProto.STRING, helper.make_tensor_type_proto(1, [])
    )
    node = helper.make_node(
        "ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["a", "b"]
    )
    outputs = {"y": helper.make_sequence_type_proto(probabilities)}
    module = import_onnx(build([node], {"x": [1, 2]}, outputs, domains={"ai.onnx.ml": 1}))
    (op,) = ops_of(module, "ZipMap")
    assert str(source_op(op)) == "ai.onnx.ml::ZipMap@1"
    kind = op.results[0].type
    assert isinstance(kind, SequenceType)
    assert isinstance(kind.element, MapType)
    assert export_onnx(module).graph.output[0].type == helper.make_sequence_type_proto(
        probabilities
    )


def test_sequence_and_optional_inputs(build: Any) -> None:
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, None])
    kinds = {
        "s": helper.make_sequence_type_proto(tensor),
        "o": helper.make_optional_type_proto(tensor),
    }
    at = [
        helper.make_node("SequenceLength", ["s"], ["n"]),
        helper.make_node("OptionalHasElement", ["o"], ["h"]),
    ]
    model = build(at, kinds, {"n": (TensorProto.INT64, []), "h": (TensorProto.BOOL, [])})
    module = import_onnx(model)
    first, second = _main(module)[:2]
    assert isinstance(first.results[0].type, SequenceType)
    assert isinstance(second.results[0].type, OptionalType)
    assert str(first.results[0].type.element) == "tensor<2x?xf32>"
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    assert [x.type for x in exported.graph.input] == [x.type for x in model.graph.input]


def test_absent_inputs_and_outputs(build: Any, ops_of: Any) -> None:
    clip = helper.make_node("Clip", ["x", "", "m"], ["c"])
    lstm = helper.make_node("LSTM", ["s", "w", "r", "", "", ""], ["", "h", ""], hidden_size=1)
    model = build(
        [clip, lstm],
        {"x": [2], "m": [], "s": [3, 1, 1], "w": [1, 4, 1], "r": [1, 4, 1]},
        {"c": [2], "h": [1, 1, 1]},
    )
    module = import_onnx(model)
    module.verify()
    (op,) = ops_of(module, "Clip")
    assert [is_absent(x) for x in op.operands] == [False, True, False]
    (op,) = ops_of(module, "LSTM")
    assert len(op.operands) == 3, "unwired slots at the end are left out"
    assert [isinstance(x.type, NoneType) for x in op.results] == [True, False]
    assert len(ops_of(module, "ge.absent")) == 1
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    assert [list(x.input) for x in exported.graph.node] == [["x", "", "m"], ["s", "w", "r"]]
    assert list(exported.graph.node[1].output) == ["", "h"]


def test_unused_parts_of_a_split_stay(build: Any, ops_of: Any) -> None:
    node = helper.make_node("Split", ["x"], ["a", "", ""], axis=0)
    module = import_onnx(build([node], {"x": [6]}, {"a": [2]}))
    (op,) = ops_of(module, "SplitD")
    assert (len(op.results), ge_attrs(op)["num_split"]) == (3, 3)


def test_names_are_unique_and_kept(build: Any) -> None:
    names = ["x", "n", "n", "", "ünï/τ", "Relu_0", ""]
    relus = [
        helper.make_node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"], name=name)
        for i, name in enumerate(names)
    ]
    module = import_onnx(build(relus, {"x": [2]}, {"v7": [2]}), name="net.onnx")
    module.verify()
    ops = _main(module)
    assert [node_name(op) for op in ops] == [
        "x", "x_1", "n", "n_1", "Relu_1", "ünï/τ", "Relu_0", "Relu_2", "NetOutput",
    ]  # fmt: skip
    assert location_text(ops[5]) == 'net.onnx: node "ünï/τ"'
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    assert exported.graph.node[4].name == "ünï/τ"


def test_value_names_become_hints(build: Any) -> None:
    relus = [
        helper.make_node("Relu", ["x"], ["/a/b.c"]),
        helper.make_node("Relu", ["/a/b.c"], ["12"]),
        helper.make_node("Relu", ["12"], ["3d"]),
    ]
    ops = _main(import_onnx(build(relus, {"x": [2]}, {"3d": [2]})))
    assert [op.results[0].name_hint for op in ops[1:4]] == ["a_b.c", None, "_3d"]


def test_unsorted_nodes_are_sorted_stably(build: Any) -> None:
    def relu(source: str, target: str) -> onnx.NodeProto:
        return helper.make_node("Relu", [source], [target], name=target)

    listed = [relu("c", "d"), relu("x", "b"), relu("b", "c"), relu("x", "a"), relu("d", "y")]
    module = import_onnx(build(listed, {"x": [2]}, {"y": [2], "a": [2]}))
    ops = _main(module)
    assert [node_name(op) for op in ops] == ["x", "b", "c", "d", "a", "y", "NetOutput"]
    assert {str(op.results[0].type) for op in ops[:-1]} == {"tensor<2xf32>"}


def test_unsorted_nodes_wait_for_what_their_graphs_capture(build: Any, run: Any) -> None:
    body = helper.make_graph(
        [helper.make_node("Neg", ["late"], ["t"])],
        "b",
        [],
        [helper.make_tensor_value_info("t", 1, [2])],
    )
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body, name="if")
    late = helper.make_node("Relu", ["x"], ["late"], name="late")
    model = build([chosen, late], {"c": (TensorProto.BOOL, []), "x": [2]}, {"y": [2]})
    module = import_onnx(model)
    assert [node_name(op) for op in _main(module)] == ["c", "x", "late", "if", "NetOutput"]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("b", "a"), ("a", "b")], 'the graph has a cycle: "a" -> "b" -> "a"'),
        ([("x", "a"), ("c", "b"), ("d", "c"), ("b", "d")], '"b" -> "d" -> "c" -> "b"'),
        ([("x", "a"), ("x", "a")], 'value "a" is made twice, the second time by node "a"'),
        ([("x", "x")], 'value "x" is made twice'),
        ([("nowhere", "a")], 'node "a": value "nowhere" is used but nothing makes it'),
    ],
)
def test_graphs_that_are_none(edges: list[tuple[str, str]], message: str, build: Any) -> None:
    listed = [helper.make_node("Relu", [a], [b], name=b) for a, b in edges]
    with pytest.raises(OnnxImportError) as caught:
        import_onnx(build(listed, {"x": [2]}, {}), name="net.onnx")
    assert message in str(caught.value)
    assert str(caught.value).startswith("net.onnx: ")


def test_two_inputs_of_one_name(build: Any) -> None:
    model = build([], {"x": [2]}, {})
    model.graph.input.add().CopyFrom(model.graph.input[0])
    with pytest.raises(OnnxImportError, match='two inputs are called "x"'):
        import_onnx(model)


def test_operators_of_ge_domain_have_no_source(build: Any, ops_of: Any) -> None:
    nodes_ = [
        helper.make_node("HcomAllGather", ["x"], ["g"], domain="npu", rank_size=4, group="world"),
        helper.make_node("HcomReduceScatter", ["g"], ["s"], domain="npu", rank_size=2),
        helper.make_node("HcomAllReduce", ["s"], ["r"], domain="npu", reduction="sum"),
        helper.make_node("Relu", ["r"], ["y"]),
    ]
    module = import_onnx(build(nodes_, {"x": [2, 3]}, {"y": None}, domains={"npu": 1}))
    (gather,) = ops_of(module, "HcomAllGather")
    assert source_op(gather) is None
    assert ge_attrs(gather) == {"rank_size": 4, "group": "world"}
    assert [str(op.results[0].type) for op in _main(module)[1:5]] == [
        "tensor<8x3xf32>", "tensor<4x3xf32>", "tensor<4x3xf32>", "tensor<4x3xf32>",
    ]  # fmt: skip
    exported = export_onnx(module)
    assert [(n.domain, n.op_type) for n in exported.graph.node[:2]] == [
        ("npu", "HcomAllGather"),
        ("npu", "HcomReduceScatter"),
    ]


def test_dedicated_ops_of_ge_domain_get_their_class(build: Any, ops_of: Any) -> None:
    node = helper.make_node(
        "PhonyConcat", ["x", "x"], ["y"], domain="ge", concat_dim=[0], N=[2], keep=1
    )
    module = import_onnx(build([node], {"x": [2]}, {"y": [4]}, domains={"ge": 1}))
    (op,) = ops_of(module, "PhonyConcat")
    assert op.name == "ge.concat"
    assert ge_attrs(op) == {"concat_dim": [0], "N": [2], "keep": 1}


def test_unknown_types_are_unranked_with_the_element_type_that_is_sure(
    build: Any, ops_of: Any
) -> None:
    listed = [
        helper.make_node("Own", ["x"], ["u"], domain="my.ops"),
        helper.make_node("HcomSend", ["x"], ["h"], domain="npu"),
        helper.make_node("Relu", ["h"], ["y"]),
    ]
    module = import_onnx(
        build(listed, {"x": [2]}, {"u": None, "y": None}, domains={"my.ops": 1, "npu": 1})
    )
    ops = _main(module)
    assert str(ops[2].results[0].type) == "tensor<*xf32>"
    assert str(ops[3].results[0].type) == "tensor<*xf32>"
    untyped = build([listed[0]], {"x": [2]}, {}, domains={"my.ops": 1})
    untyped.graph.output.add(name="u")
    (op,) = ops_of(import_onnx(untyped), "Own")
    assert str(op.results[0].type) == "tensor<*x!ge.undefined>"


def test_module_says_where_it_came_from(build: Any) -> None:
    model = build(
        [helper.make_node("Relu", ["x"], ["y"])], {"x": [2]}, {"y": [2]}, domains={"my.ops": 5}
    )
    model.producer_name, model.producer_version = "maker", "1.5"
    model.metadata_props.add(key="task", value="tëst")
    module = import_onnx(model)
    attributes = module.attributes
    assert str(attributes["ge.opset_imports"]) == "{ai.onnx = 17 : i64, my.ops = 5 : i64}"
    assert attributes["ge.producer"] == StringAttr("maker 1.5")
    exported = export_onnx(module)
    assert exported.ir_version == model.ir_version
    assert list(exported.opset_import) == list(model.opset_import)
    assert [(x.key, x.value) for x in exported.metadata_props] == [("task", "tëst")]


def test_import_leaves_the_model_as_it_is(build: Any) -> None:
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    model = build([node], {"x": ["n", 4]}, {"y": None}, {"s": np.array([4, -1])})
    before = model.SerializeToString()
    import_onnx(model, dims={"n": 2})
    assert model.SerializeToString() == before
    assert ge_type(_main(import_onnx(model))[0]) == "Data"
