"""If, Loop, Scan: their graphs, and the values that those take from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge.access import (
    data_operands,
    get_int,
    get_text,
    graphs,
    is_absent,
    node_name,
    nodes,
    source_op,
    subgraph_names,
)
from ge_dialect.lowering.onnx import export_onnx, import_onnx

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def _value(name: str, shape: Any = (2,), element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def _graph(listed: Any, inputs: Any, outputs: Any, initializers: Any = ()) -> onnx.GraphProto:
    return helper.make_graph(listed, "body", inputs, outputs, list(initializers))


def _data(module: ModuleOp, symbol: str) -> list[tuple[str, int | None, str | None]]:
    graph = next(x for x in graphs(module) if x.sym_name.data == symbol)
    return [
        (node_name(op), get_int(op, "ge.parent_node_index"), get_text(op, "ge.formal"))
        for op in nodes(graph)
        if op.name == "ge.data"
    ]


def _same(model: onnx.ModelProto, module: ModuleOp, feeds: dict[str, np.ndarray], run: Any) -> None:
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    for x, y in zip(run(model, feeds), run(exported, feeds), strict=True):
        np.testing.assert_array_equal(x, y)


def test_if_captures_values_as_inputs(build: Any, ops_of: Any, run: Any) -> None:
    then = _graph([helper.make_node("Add", ["x", "z"], ["t"])], [], [_value("t")])
    other = _graph([helper.make_node("Neg", ["z"], ["e"])], [], [_value("e")])
    listed = [
        helper.make_node("Relu", ["x"], ["z"], name="z"),
        helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other),
    ]
    model = build(listed, {"c": (BOOL, []), "x": [2]}, {"y": [2]})
    module = import_onnx(model)
    module.verify()
    (op,) = ops_of(module, "If")
    assert source_op(op) is None
    assert subgraph_names(op) == ["net_if_then_branch", "net_if_else_branch"]
    assert [node_name(x.owner) for x in op.operands] == ["c", "x", "z"]
    assert _data(module, "net_if_then_branch") == [("x", 1, None), ("z", 2, None)]
    assert _data(module, "net_if_else_branch") == [("z", 2, None)]
    assert [x.sym_name.data for x in graphs(module)] == ["net", *subgraph_names(op)]
    for flag in (True, False):
        _same(model, module, {"c": np.array(flag), "x": np.array([-1, 2], np.float32)}, run)


def test_branches_keep_their_slots_whatever_order_the_model_has(build: Any, ops_of: Any) -> None:
    then = _graph([helper.make_node("Neg", ["x"], ["t"])], [], [_value("t")])
    other = _graph([helper.make_node("Abs", ["x"], ["t2"])], [], [_value("t2")])
    node = helper.make_node("If", ["c"], ["y"], name="if", else_branch=other, then_branch=then)
    module = import_onnx(build([node], {"c": (BOOL, []), "x": [2]}, {"y": [2]}))
    first, second = subgraph_names(ops_of(module, "If")[0])
    assert (first.endswith("then_branch"), second.endswith("else_branch")) == (True, True)
    assert [next(op for op in nodes(g) if op.name == "ge.op").properties["type"].data for g in graphs(module)[1:]] == ["Neg", "Abs"]  # fmt: skip


def test_captures_go_through_several_levels(build: Any, ops_of: Any, run: Any) -> None:
    inner = _graph([helper.make_node("Add", ["x", "m"], ["i"])], [], [_value("i")])
    spare = _graph([helper.make_node("Identity", ["x"], ["j"])], [], [_value("j")])
    middle = _graph(
        [
            helper.make_node("Neg", ["x"], ["m"], name="m"),
            helper.make_node("If", ["d"], ["k"], name="if", then_branch=inner, else_branch=spare),
        ],
        [],
        [_value("k")],
    )
    spare2 = _graph([helper.make_node("Identity", ["x"], ["l"])], [], [_value("l")])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=middle, else_branch=spare2)
    model = build([node], {"c": (BOOL, []), "d": (BOOL, []), "x": [2]}, {"y": [2]})
    module = import_onnx(model)
    module.verify()
    outer_if, inner_if = ops_of(module, "If")
    assert [node_name(x.owner) for x in outer_if.operands] == ["c", "x", "d"]
    assert [node_name(x.owner) for x in inner_if.operands] == ["d", "x", "m"]
    assert _data(module, "net_if_then_branch_if_then_branch") == [("x", 1, None), ("m", 2, None)]
    for c, d in ((True, True), (True, False), (False, False)):
        feeds = {"c": np.array(c), "d": np.array(d), "x": np.array([-1, 2], np.float32)}
        _same(model, module, feeds, run)


def test_small_constants_are_repeated_and_large_ones_captured(
    build: Any, ops_of: Any, run: Any
) -> None:
    listed = [
        helper.make_node("Reshape", ["x", "shape"], ["r"]),
        helper.make_node("Add", ["r", "big"], ["t"]),
    ]
    then = _graph(listed, [], [_value("t", None)])
    other = _graph([helper.make_node("Identity", ["big"], ["e"])], [], [_value("e", None)])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)
    constants = {"shape": np.array([20, 20]), "big": np.ones((20, 20), np.float32)}
    model = build([node], {"c": (BOOL, []), "x": [400]}, {"y": [20, 20]}, constants)
    module = import_onnx(model)
    (op,) = ops_of(module, "If")
    assert [node_name(x.owner) for x in op.operands] == ["c", "x", "big"]
    (reshape,) = ops_of(module, "Reshape")
    assert reshape.operands[1].owner.name == "ge.constant"
    feeds = {"x": np.arange(400, dtype=np.float32)}
    for flag in (True, False):
        _same(model, module, {"c": np.array(flag), **feeds}, run)


def test_loop(build: Any, ops_of: Any, run: Any) -> None:
    body = _graph(
        [
            helper.make_node("Add", ["v", "step"], ["v_out"]),
            helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
            helper.make_node("Identity", ["go"], ["go_out"]),
        ],
        [_value("i", [], INT64), _value("go", [], BOOL), _value("v")],
        [_value("go_out", [], BOOL), _value("v_out"), _value("f", [])],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "all"], name="loop", body=body)
    model = build([node], {"n": (INT64, []), "x": [2], "step": [2]}, {"y": [2], "all": ["k"]})
    module = import_onnx(model)
    module.verify()
    (op,) = ops_of(module, "Loop")
    assert str(source_op(op)) == "ai.onnx::Loop@16"
    operands = data_operands(op)
    assert [is_absent(x) or node_name(x.owner) for x in operands] == ["n", True, "x", "step"]
    assert _data(module, "net_loop_body") == [
        ("i", None, "iteration"),
        ("go", None, "condition"),
        ("v", 2, None),
        ("step", 3, "captured"),
    ]
    feeds = {"n": np.array(3), "x": np.ones(2, np.float32), "step": np.full(2, 2, np.float32)}
    _same(model, module, feeds, run)


def test_loop_without_limit_has_two_absent_inputs(build: Any, ops_of: Any) -> None:
    body = _graph(
        [helper.make_node("Not", ["go"], ["out"])],
        [_value("i", [], INT64), _value("go", [], BOOL)],
        [_value("out", [], BOOL)],
    )
    node = helper.make_node("Loop", ["", ""], [], name="loop", body=body)
    module = import_onnx(build([node], {}, {}))
    (op,) = ops_of(module, "Loop")
    assert [is_absent(x) for x in op.operands] == [True, True]


def test_scan(build: Any, ops_of: Any, run: Any) -> None:
    body = _graph(
        [
            helper.make_node("Add", ["s", "e"], ["t"]),
            helper.make_node("Mul", ["t", "f"], ["s_out"]),
            helper.make_node("Identity", ["s_out"], ["o"]),
        ],
        [_value("s"), _value("e")],
        [_value("s_out"), _value("o")],
    )
    node = helper.make_node(
        "Scan", ["x", "xs"], ["y", "ys"], name="scan", body=body, num_scan_inputs=1
    )
    model = build([node], {"x": [2], "xs": [3, 2], "f": [2]}, {"y": [2], "ys": [3, 2]})
    module = import_onnx(model)
    (op,) = ops_of(module, "Scan")
    assert [node_name(x.owner) for x in op.operands] == ["x", "xs", "f"]
    assert _data(module, "net_scan_body") == [("s", 0, None), ("e", 1, None), ("f", 2, "captured")]
    feeds = {
        "x": np.zeros(2, np.float32),
        "xs": np.arange(6, dtype=np.float32).reshape(3, 2),
        "f": np.full(2, 2, np.float32),
    }
    _same(model, module, feeds, run)


def test_a_body_may_have_initializers_and_an_output_from_outside(build: Any, run: Any) -> None:
    weights = numpy_helper.from_array(np.array([3, 4], np.float32), "w")
    then = _graph([helper.make_node("Add", ["x", "w"], ["t"])], [], [_value("t")], [weights])
    other = _graph([], [], [_value("x")])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)
    model = build([node], {"c": (BOOL, []), "x": [2]}, {"y": [2]})
    module = import_onnx(model)
    exported = export_onnx(module)
    onnx.checker.check_model(exported)
    for flag, expected in ((True, [4, 6]), (False, [1, 2])):
        (got,) = run(exported, {"c": np.array(flag), "x": np.array([1, 2], np.float32)})
        np.testing.assert_array_equal(got, np.array(expected, np.float32))


def test_graphs_of_operators_that_are_not_known(build: Any, ops_of: Any) -> None:
    body = _graph([helper.make_node("Add", ["a", "x"], ["b"])], [_value("a")], [_value("b")])
    node = helper.make_node("Apply", ["x"], ["y"], name="own", domain="my.ops", what=body, k=2)
    module = import_onnx(build([node], {"x": [2]}, {"y": [2]}, domains={"my.ops": 1}))
    (op,) = ops_of(module, "Apply")
    assert str(op.attributes["ge.subgraph_names"]) == '["what"]'
    assert [node_name(x.owner) for x in op.operands] == ["x", "x"]
    assert _data(module, "net_own_what") == [("a", None, "argument"), ("x", 1, "captured")]
    (again,) = export_onnx(module).graph.node
    assert list(again.input) == ["x"]
    graph = next(x.g for x in again.attribute if x.name == "what")
    assert [list(n.input) for n in graph.node] == [["a", "x"]]


def test_symbols_are_unique(build: Any) -> None:
    def branch(name: str) -> onnx.GraphProto:
        return _graph([helper.make_node("Neg", ["x"], [name])], [], [_value(name)])

    listed = [
        helper.make_node("If", ["c"], [f"y{k}"], name=name, then_branch=branch(f"t{k}"), else_branch=branch(f"e{k}"))
        for k, name in enumerate(("a/b", "a_b"))
    ]  # fmt: skip
    module = import_onnx(build(listed, {"c": (BOOL, []), "x": [2]}, {"y0": [2], "y1": [2]}))
    symbols = [graph.sym_name.data for graph in graphs(module)]
    assert symbols == [
        "net",
        "net_a_b_then_branch",
        "net_a_b_else_branch",
        "net_a_b_then_branch_1",
        "net_a_b_else_branch_1",
    ]


def test_bodies_without_declared_types_have_those_that_follow(build: Any, ops_of: Any) -> None:
    untyped = [onnx.ValueInfoProto(name=name) for name in ("i", "go", "v")]
    body = _graph(
        [helper.make_node("Identity", ["go"], ["o"]), helper.make_node("Relu", ["v"], ["w"])],
        untyped,
        [onnx.ValueInfoProto(name=name) for name in ("o", "w")],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    module = import_onnx(build([node], {"n": (INT64, []), "x": [2]}, {"y": None}))
    types = {
        node_name(op): str(op.results[0].type) for op in nodes(graphs(module)[1]) if op.results
    }
    assert (types["i"], types["go"], types["v"]) == (
        "tensor<i64>",
        "tensor<*xi1>",
        "tensor<*xf32>",
    )
