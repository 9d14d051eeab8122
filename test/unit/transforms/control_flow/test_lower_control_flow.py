"""Branches and loops as labels, with real numbers: one form at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.program import Program, compile
from ge_dialect.runtime import DeviceOptions
from ge_dialect.runtime.errors import RunawayError
from ge_dialect.runtime.executor import RunResult
from ge_dialect.tools.ge_opt import GeOptMain

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
Shape = tuple[int, ...]


def info(name: str, shape: Shape = (2,), kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def node(op: str, inputs: str, outputs: str, **attributes: object) -> onnx.NodeProto:
    ins = ["" if x == "-" else x for x in inputs.split()]
    return helper.make_node(op, ins, outputs.split(), **attributes)


def graph(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    **constants: np.ndarray,
) -> onnx.GraphProto:
    values = [onnx.numpy_helper.from_array(x, name) for name, x in constants.items()]
    return helper.make_graph(list(nodes), name, list(inputs), list(outputs), values)


def sunk(made: onnx.GraphProto, options: DeviceOptions | None = None) -> Program:
    """The compiled model, which must be one task list with labels."""
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(made, opset_imports=opset, ir_version=8)
    onnx.checker.check_model(model)
    program = compile(model, device_options=options)
    (found,) = program.module.body.block.ops
    assert isinstance(found, ModelOp)
    assert found.label_num.value.data > 0
    return program


def loop(
    nexts: str,
    nodes: Sequence[onnx.NodeProto] = (),
    *,
    limit: bool = True,
    going: str = "go",
    **constants: np.ndarray,
) -> onnx.GraphProto:
    """A Loop that carries a, b, c and gives them; `nexts` are the names of their next values."""
    body = graph(
        "body",
        [*nodes, *(node("Identity", x, f"n{k}") for k, x in enumerate([going, *nexts.split()]))],
        [info("i", (), INT64), info("go", (), BOOL), *map(info, "abc")],
        [info("n0", (), BOOL), *(info(f"n{k}") for k in (1, 2, 3))],
    )
    return graph(
        "g",
        [node("Loop", f"{'m' if limit else '-'} - x y z", "p q r", body=body)],
        [*([info("m", (), INT64)] if limit else []), *map(info, "xyzw")],
        list(map(info, "pqr")),
        **constants,
    )


X, Y, Z, W = (np.array([k, k + 0.5], np.float32) for k in (1, 2, 3, 4))
FEEDS = {"x": X, "y": Y, "z": Z, "w": W}


def turned(program: Program, turns: int) -> list[float]:
    found = program.run({"m": np.array(turns), **FEEDS})
    assert found.report.by_kind.get("stream_label_goto", 0) == turns
    return [float(found[name][0]) for name in "pqr"]


def test_no_turn_gives_the_initial_values() -> None:
    assert turned(sunk(loop("b c a")), 0) == [1, 2, 3]


@pytest.mark.parametrize(
    ("nexts", "wanted"),
    [
        ("b a c", [[2, 1, 3], [1, 2, 3]]),
        ("b c a", [[2, 3, 1], [3, 1, 2]]),
        ("c a b", [[3, 1, 2], [2, 3, 1]]),
        ("a a b", [[1, 1, 2], [1, 1, 1]]),
        ("b c c", [[2, 3, 3], [3, 3, 3]]),
        ("w a b", [[4, 1, 2], [4, 4, 1]]),
    ],
)
def test_values_change_places(nexts: str, wanted: list[list[float]]) -> None:
    program = sunk(loop(nexts))
    assert [turned(program, turns) for turns in (1, 2)] == wanted


@pytest.mark.parametrize(
    ("nexts", "copies"), [("b a c", 3), ("b c a", 4), ("b c c", 2), ("a a b", 2)]
)
def test_copies_of_a_turn(nexts: str, copies: int) -> None:
    """One for each value that moves, one more for each ring; none for one that stays, or grows in place."""
    program = sunk(loop(nexts))
    counts = [
        program.run({"m": np.array(turns), **FEEDS}).report.by_kind["memcpy_async"]
        for turns in (1, 2)
    ]
    assert counts[1] - counts[0] == copies


def test_condition_ends_the_loop() -> None:
    nodes = [
        node("Add", "a w", "s"),
        node("ReduceMax", "s", "top", keepdims=0),
        node("Less", "top bound", "less"),
    ]
    made = loop("s a c", nodes, limit=False, going="less", bound=np.array(12, np.float32))
    found = sunk(made).run(FEEDS)
    # s: 5.5, 10, 14.5
    assert found["p"][1] == 15.0
    assert found.report.by_kind["stream_label_goto"] == 3


def test_endless_loop_is_an_error() -> None:
    program = sunk(loop("b a c", limit=False), DeviceOptions(max_tasks=5000))
    with pytest.raises(RunawayError, match="more than 5000 tasks ran in one step"):
        program.run(FEEDS)


def test_number_of_the_turn() -> None:
    body = graph(
        "body",
        [node("Identity", "go", "n"), node("Mul", "i i", "s"), node("Identity", "i", "last")],
        [info("i", (), INT64), info("go", (), BOOL), info("before", (), INT64)],
        [info("n", (), BOOL), info("last", (), INT64), info("s", (), INT64)],
    )
    made = graph(
        "g",
        [node("Loop", "m - minus", "last squares", body=body)],
        [info("unused")],
        [info("last", (), INT64), info("squares", (5,), INT64)],
        m=np.array(5),
        minus=np.array(-1),
    )
    found = sunk(made).run({"unused": X})
    assert found["last"] == 4
    assert found["squares"].tolist() == [0, 1, 4, 9, 16]


def branch(
    then: str, other: str, kind: int = BOOL, nodes: Sequence[onnx.NodeProto] = ()
) -> onnx.GraphProto:
    graphs = [
        graph(name, [node("Identity", x, f"{name}0")], [], [info(f"{name}0")])
        for name, x in (("then", then), ("other", other))
    ]
    return graph(
        "g",
        [*nodes, node("If", "c", "r", then_branch=graphs[0], else_branch=graphs[1])],
        [info("c", (1,), kind), *map(info, "xy")],
        [info("r")],
        k=np.array([7, 8], np.float32),
    )


@pytest.mark.parametrize(("then", "other"), [("x", "y"), ("k", "x"), ("x", "k")])
def test_branches_that_give_what_is_around(then: str, other: str) -> None:
    values = {"x": X, "y": Y, "k": np.array([7, 8], np.float32)}
    program = sunk(branch(then, other))
    for flag, name in ((True, then), (False, other)):
        found = program.run({"c": np.array([flag]), "x": X, "y": Y})
        assert found["r"].tolist() == values[name].tolist()


def parse(text: str) -> ModuleOp:
    main = GeOptMain(args=[])
    from xdsl.parser import Parser

    return Parser(main.ctx, text).parse_module()


CASE = """
ge.graph @main {
  %i = ge.data index 0 {ge.name = "i"} : tensor<INDEX>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %r = ge.op "Case" (%i, %x) subgraphs [@neg, @twice, @same] {ge.name = "case"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @neg {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %r = ge.op "Neg" (%x) {ge.name = "r"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @twice {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %r = ge.op "Add" (%x, %x) {ge.name = "r"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @same {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}
"""


@pytest.mark.parametrize(("kind", "dtype"), [("i32", np.int32), ("i64", np.int64), ("i8", np.int8)])
def test_case_runs_the_last_graph_for_any_other_index(kind: str, dtype: type[np.integer]) -> None:
    program = compile(parse(CASE.replace("INDEX", kind)))
    limits = np.iinfo(dtype)
    for index, wanted in (
        (0, -1),
        (1, 2),
        (2, 1),
        (3, 1),
        (-1, 1),
        (limits.max, 1),
        (limits.min, 1),
    ):
        found = program.run({"i": np.array(index, dtype), "x": X})
        assert found["output0"][0] == wanted, index


TRUTH = """
ge.graph @main {
  %c = ge.data index 0 {ge.name = "c"} : tensor<KIND>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %r = ge.op "If" (%c, %x) subgraphs [@neg, @same] {ge.name = "if"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
""" + CASE[CASE.index("ge.graph @neg") :]


@pytest.mark.parametrize(
    ("kind", "true", "false"),
    [
        ("i1", [np.True_], [np.False_]),
        (
            "f32",
            [np.float32(0.5), np.float32("nan"), np.float32("-inf")],
            [np.float32(0), np.float32(-0.0)],
        ),
        ("i32", [np.int32(-1), np.int32(256)], [np.int32(0)]),
        ("f16", [np.float16(6e-8)], [np.float16(0)]),
        ("i64", [np.int64(1 << 40)], [np.int64(0)]),
    ],
)
def test_what_is_true(kind: str, true: list[np.generic], false: list[np.generic]) -> None:
    text = TRUTH.replace("KIND", kind).replace("@twice", "@unused")
    program = compile(parse(text))
    for values, wanted in ((true, -1), (false, 1)):
        for value in values:
            found = program.run({"c": np.array(value), "x": X})
            assert found["output0"][0] == wanted, value


COLLECTIVE = """
ge.graph @main {
  %n = ge.data index 0 {ge.name = "n"} : tensor<f32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<f32>
  %i, %r, %m = ge.op "While" (%zero, %x, %n) subgraphs [@cond, @body] {ge.name = "w"} : tensor<f32>, tensor<f32>, tensor<f32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @cond {
  %i = ge.data {ge.name = "i", ge.parent_node_index = 0 : i64} : tensor<f32>
  %n = ge.data {ge.name = "n", ge.parent_node_index = 2 : i64} : tensor<f32>
  %c = ge.op "Less" (%i, %n) {ge.name = "c"} : tensor<i1>
  ge.net_output (%c) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.parent_node_index = 0 : i64} : tensor<f32>
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<f32>
  %n = ge.data {ge.name = "n", ge.parent_node_index = 2 : i64} : tensor<f32>
  %one = ge.constant value dense<1.0> : tensor<f32> {ge.name = "one"} : tensor<f32>
  %j = ge.op "Add" (%i, %one) {ge.name = "j"} : tensor<f32>
  %s = ge.op "HcomAllReduce" (%x) attrs {reduction = "sum", group = "world"} {ge.name = "s"} : tensor<f32>
  ge.net_output (%j, %s, %n) {ge.name = "out"}
}
""".replace(
    "  %i, %r, %m =",
    '  %zero = ge.constant value dense<0.0> : tensor<f32> {ge.name = "zero"} : tensor<f32>\n  %i, %r, %m =',
)


@pytest.mark.parametrize("streams", ["single", "multi"])
def test_collective_in_a_loop(streams: str) -> None:
    options = DeviceOptions(ranks=2, order="random", seed=3, unknown_kernels="error")
    program = compile(
        parse(COLLECTIVE), pipeline=f"ge-pipeline{{streams={streams}}}", device_options=options
    )
    feeds: list[Mapping[str, np.ndarray]] = [
        {"n": np.array(3, np.float32), "x": np.array(value, np.float32)} for value in (1, 2)
    ]
    found: RunResult = program.executable.run_ranks(feeds)
    assert [float(x["output0"]) for x in found.ranks] == [12.0, 12.0]


def test_report_counts_labels(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    from pathlib import Path

    from ge_dialect.tools.ge_run import main

    path = Path(str(tmp_path)) / "if.onnx"
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(branch("x", "y"), opset_imports=opset, ir_version=8), path)
    assert main([str(path), "--json", "--check"]) in (0, None)
    report = json.loads(capsys.readouterr().out)["report"]
    assert report["launches"] == 1
    assert report["by_kind"]["stream_label_switch_by_index"] == 1
    assert report["by_kind"]["label_set"] == 2


def test_names_stay_unique() -> None:
    """Both branches have nodes of the same names as the root."""
    module = parse(CASE.replace("INDEX", "i32"))
    compile(module, pipeline="ge-canonicalize,ge-assign-engines,ge-lower-control-flow,ge-verify")
    names = [
        str(op.attributes["ge.name"])
        for op in next(iter(module.body.block.ops)).regions[0].block.ops
    ]
    assert len(names) == len(set(names))


def nested(depth: int) -> str:
    """An If whose first graph holds an If, `depth` of them."""
    inputs = """%c = ge.data {ge.name = "c", ge.parent_node_index = 0 : i64} : tensor<i1>
      %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>"""
    outer = """%c = ge.data index 0 {ge.name = "c"} : tensor<i1>
      %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>"""
    found: list[str] = []
    for level in range(depth + 1):
        made = '%r = ge.op "Exp" (%x) {ge.name = "r"} : tensor<2xf32>'
        if level < depth:
            made = f'%r = ge.op "If" (%c, %x) subgraphs [@g{level + 1}, @e{level}] {{ge.name = "if"}} : tensor<2xf32>'
            other = '%r = ge.op "Neg" (%x) {ge.name = "r"} : tensor<2xf32>'
            found.append(
                f'ge.graph @e{level} {{ {inputs} {other} ge.net_output (%r) {{ge.name = "out"}} }}'
            )
        given = inputs if level else outer
        found.insert(
            level, f'ge.graph @g{level} {{ {given} {made} ge.net_output (%r) {{ge.name = "out"}} }}'
        )
    return "\n".join(found)


@pytest.mark.parametrize(("depth", "count"), [(1, 1), (64, 1), (65, 131)])
def test_depth(depth: int, count: int) -> None:
    """Up to 64 levels become one graph; deeper ones stay as they are."""
    module = parse(nested(depth))
    compile(module, pipeline="ge-lower-control-flow,ge-verify")
    assert len(list(module.body.block.ops)) == count
    if count == 1:
        program = compile(
            module,
            pipeline="ge-assign-engines,ge-assign-streams,ge-plan-memory,convert-ge-to-ge-task",
        )
        for flag, wanted in ((True, np.exp(X)), (False, -X)):
            found = program.run({"c": np.array(flag), "x": X})
            np.testing.assert_allclose(found["output0"], wanted, rtol=1e-6)


def feature_map(other: str) -> int:
    """Bytes of a model whose first branch needs large temporaries, and whose second is as given."""
    big = (1000,)
    work = [
        node("Exp", "x", "a"),
        node("Sin", "a", "b"),
        node("Add", "a b", "c0"),
        node("Mul", "c0 b", "d"),
    ]
    graphs: list[onnx.GraphProto] = []
    for name in ("then", "other"):
        nodes = work if name == "then" or other == "same" else [node("Neg", "x", "d")]
        renamed = [
            helper.make_node(
                x.op_type,
                [y if y == "x" else f"{name}_{y}" for y in x.input],
                [f"{name}_{y}" for y in x.output],
            )
            for x in nodes
        ]
        graphs.append(graph(name, renamed, [], [info(f"{name}_d", big)]))
    made = graph(
        "g",
        [
            node("Tanh", "start", "x"),
            node("If", "c", "r", then_branch=graphs[0], else_branch=graphs[1]),
            node("Abs", "r", "out"),
        ],
        [info("c", (), BOOL), info("start", big)],
        [info("out", big)],
    )
    program = sunk(made)
    found = program.run({"c": np.array(True), "start": np.zeros(big, np.float32)})
    return found.report.feature_map_bytes


def test_branches_share_bytes() -> None:
    """The second branch needs no bytes of its own."""
    assert feature_map("same") == feature_map("small")
