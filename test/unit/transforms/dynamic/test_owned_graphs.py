"""Parts of known shape inside If, Loop, Scan and While are sunk as well, and give the same numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.parser import Parser

from ge_dialect import program
from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge_task import ExecuteOp, HostOp

ort = pytest.importorskip("onnxruntime")

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


def info(name: str, dtype: int, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def chain(start: str, end: str, prefix: str) -> list[onnx.NodeProto]:
    """Five nodes of known shape, one behind the other."""
    names = [start, *(f"{prefix}{k}" for k in range(4)), end]
    kinds = ("Neg", "Tanh", "Exp", "Sqrt", "Relu")
    return [
        helper.make_node(kind, [a], [b])
        for kind, a, b in zip(kinds, names, names[1:], strict=False)
    ]


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "main", list(inputs), list(outputs))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)  # pyright: ignore[reportUnknownMemberType]
    return made


def branches() -> onnx.ModelProto:
    """An If whose first branch is of known shape and whose second is not."""
    then = helper.make_graph(chain("x", "t", "t"), "then", [], [info("t", FLOAT, [4])])
    other = helper.make_graph(
        [*chain("x", "u", "u"), helper.make_node("Concat", ["u", "y"], ["e"], axis=0)],
        "other", [], [info("e", FLOAT, ["k"])],
    )  # fmt: skip
    node = helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=other)
    inputs = [info("c", BOOL, []), info("x", FLOAT, [4]), info("y", FLOAT, ["n"])]
    return model([node], inputs, [info("r", FLOAT, ["k"])])


def loop(carried: Sequence[int | str]) -> onnx.ModelProto:
    """A Loop that carries a vector and collects what it was; its body is a chain and the sum with an outer value."""
    body = helper.make_graph(
        [
            *chain("v", "w", "b"),
            helper.make_node("Add", ["w", "x"], ["next"]),
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("ReduceSum", ["next"], ["row"], keepdims=0),
        ],
        "body",
        [info("i", INT64, []), info("go", BOOL, []), info("v", FLOAT, carried)],
        [info("go_on", BOOL, []), info("next", FLOAT, carried), info("row", FLOAT, [])],
    )
    node = helper.make_node("Loop", ["m", "c", "x"], ["last", "rows"], body=body)
    inputs = [info("m", INT64, []), info("c", BOOL, []), info("x", FLOAT, carried)]
    return model([node], inputs, [info("last", FLOAT, carried), info("rows", FLOAT, ["m"])])


def scan() -> onnx.ModelProto:
    """A Scan over rows of known length, of which there are as many as the input has."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s", "row"], ["sum"]),
            *chain("sum", "out", "b"),
            helper.make_node("Identity", ["out"], ["shown"]),
        ],
        "body",
        [info("s", FLOAT, [3]), info("row", FLOAT, [3])],
        [info("out", FLOAT, [3]), info("shown", FLOAT, [3])],
    )
    node = helper.make_node("Scan", ["s0", "rows"], ["s1", "all"], body=body, num_scan_inputs=1)
    inputs = [info("s0", FLOAT, [3]), info("rows", FLOAT, ["n", 3])]
    return model([node], inputs, [info("s1", FLOAT, [3]), info("all", FLOAT, ["n", 3])])


def feeds_of(made: onnx.ModelProto, size: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    feeds: dict[str, np.ndarray] = {}
    for x in made.graph.input:
        dims = [d.dim_value or size for d in x.type.tensor_type.shape.dim]
        kind = x.type.tensor_type.elem_type
        if kind == INT64:
            feeds[x.name] = np.array(size, np.int64)
        elif kind == BOOL:
            feeds[x.name] = np.array(bool(seed % 2))
        else:
            feeds[x.name] = rng.uniform(-1, 1, dims).astype(np.float32)
    return feeds


MODELS = {"if": branches(), "loop": loop([4]), "scan": scan()}


@pytest.mark.parametrize("name", MODELS)
def test_parts_in_control_flow_are_sunk(name: str) -> None:
    made = MODELS[name]
    compiled = program.compile(made)
    (host,) = [op for op in compiled.module.body.block.ops if isinstance(op, HostOp)]
    inside = [op for op in host.walk() if isinstance(op, ExecuteOp) and op.parent_op() is not host]
    assert inside, str(host)
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    sizes = ((1, 2), (3, 3), (5, 4)) if name == "scan" else ((0, 1), (1, 2), (3, 3), (5, 4))
    for size, seed in sizes:  # onnxruntime refuses to scan nothing
        feeds = feeds_of(made, size, seed)
        ours = list(compiled.run(feeds).outputs.values())
        for a, b in zip(ours, session.run(None, feeds), strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_part_in_a_loop_runs_in_each_turn() -> None:
    compiled = program.compile(MODELS["loop"])
    feeds = {"m": np.array(6), "c": np.array(True), "x": np.ones(4, np.float32)}
    report = compiled.run(feeds).report
    assert report.steps["iteration"] == 6
    assert report.by_kind["kernel"] >= 6 * 5


GROWING = """
ge.graph @main {
  %k = ge.data index 0 {ge.name = "k"} : tensor<i32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<4xf32>
  %n, %y = ge.op "While" (%k, %x) subgraphs [@cond, @body] {ge.name = "while"} : tensor<i32>, tensor<?xf32>
  ge.net_output (%y) {ge.name = "out"}
}
ge.graph @cond {
  %k = ge.data index 0 {ge.name = "k"} : tensor<i32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<?xf32>
  ge.net_output (%k) {ge.name = "cond_out"}
}
ge.graph @body {
  %k = ge.data index 0 {ge.name = "k"} : tensor<i32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<4xf32>
  %one = ge.constant value dense<1> : tensor<i32> {ge.name = "one"} : tensor<i32>
  %less = ge.op "Sub" (%k, %one) {ge.name = "less"} : tensor<i32>
  %a = ge.op "Neg" (%x) {ge.name = "a"} : tensor<4xf32>
  %b = ge.op "Exp" (%a) {ge.name = "b"} : tensor<4xf32>
  %c = ge.op "Tanh" (%b) {ge.name = "c"} : tensor<4xf32>
  %d = ge.op "Relu" (%c) {ge.name = "d"} : tensor<4xf32>
  %e = ge.concat (%d, %d) concat_dim 0 {ge.name = "e"} : tensor<8xf32>
  ge.net_output (%less, %e) {ge.name = "body_out"}
}
"""


def test_a_body_whose_carried_value_may_grow_stays_whole() -> None:
    module = Parser(program.context(), GROWING).parse_module()
    with collect_remarks() as remarks:
        for each in program.make_passes("ge-assign-engines,ge-partition-dynamic"):
            each.apply(program.context(), module)
    assert "known" not in str(module)
    (found,) = [x for x in remarks.remarks if x.args.get("condition") == "carried"]
    assert "input 1 of While may change its shape" in found.message
