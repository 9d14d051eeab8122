"""Control flow of ONNX, lowered to a host program and run, against onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import ge_dialect
from ge_dialect.dialects.ge_task import HostOp

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is the oracle of these tests")

F, INT, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
PIPELINE = "ge-assign-engines,ge-topo-sort,convert-ge-to-ge-task"
"""No canonicalisation: it may unroll or fold what is to be tested here."""


def info(name: str, kind: int, shape: Sequence[Any] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, value: Any, dtype: Any) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value, dtype), name)


def model(
    nodes: list[onnx.NodeProto], inputs: list[Any], outputs: list[Any], opset: int = 16
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "main", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(made: onnx.ModelProto, feeds: dict[str, Any]) -> ge_dialect.Program:
    """Run both and compare element type, shape and values of every output."""
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = dict(zip([x.name for x in made.graph.output], session.run(None, feeds), strict=True))
    program = ge_dialect.compile(made, pipeline=PIPELINE)
    assert any(isinstance(op, HostOp) for op in program.module.body.block.ops)
    got = program.run(feeds).outputs
    assert list(got) == list(expected)
    for name, want in expected.items():
        same(got[name], want)
    return program


def same(got: Any, want: Any) -> None:
    if isinstance(want, list):
        assert isinstance(got, list)
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
        return
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(
        got, want, rtol=1e-5
    ) if want.dtype.kind == "f" else np.testing.assert_array_equal(got, want)


# --- If ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [False, True])
def test_if_uses_outer_values_and_gives_different_shapes(taken: bool) -> None:
    then = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["t"])], "then", [], [info("t", F, None)]
    )
    other = helper.make_graph(
        [helper.make_node("Concat", ["x", "y"], ["e"], axis=0)], "else", [], [info("e", F, None)]
    )
    made = model(
        [
            helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=other),
            helper.make_node("Shape", ["r"], ["s"]),
        ],
        [info("c", B, []), info("x", F, ["n"]), info("y", F, [2])],
        [info("r", F, None), info("s", INT, [1])],
    )
    x = np.array([1, 2, 3], np.float32)
    check(made, {"c": np.array(taken), "x": x, "y": np.array([7, 8], np.float32)})


def test_if_inside_if() -> None:
    def branch(name: str, node: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph([node], name, [], [info(node.output[0], F, ["n"])])

    inner = helper.make_node(
        "If",
        ["d"],
        ["i"],
        then_branch=branch("a", helper.make_node("Neg", ["x"], ["a"])),
        else_branch=branch("b", helper.make_node("Abs", ["x"], ["b"])),
    )
    outer = helper.make_node(
        "If",
        ["c"],
        ["r"],
        then_branch=branch("t", inner),
        else_branch=branch("e", helper.make_node("Identity", ["x"], ["e"])),
    )
    made = model(
        [outer], [info("c", B, []), info("d", B, [1]), info("x", F, ["n"])], [info("r", F, ["n"])]
    )
    x = np.array([-1, 2], np.float32)
    for c in (False, True):
        for d in (False, True):
            check(made, {"c": np.array(c), "d": np.array([d]), "x": x})


# --- Loop -------------------------------------------------------------------------------------------------------


def loop_body(stop_at: float, *, collect: bool = True) -> onnx.GraphProto:
    """v' = v + x (x from outside), go on while sum(v') < stop_at; collects v * iteration."""
    nodes = [
        helper.make_node("Add", ["v", "x"], ["v_next"]),
        helper.make_node("ReduceSum", ["v_next"], ["total"], keepdims=0),
        helper.make_node("Less", ["total", "limit"], ["go"]),
        helper.make_node("Cast", ["i"], ["turn"], to=F),
        helper.make_node("Mul", ["v", "turn"], ["row"]),
    ]
    outputs = [info("go", B, []), info("v_next", F, [2])] + (
        [info("row", F, [2])] if collect else []
    )
    return helper.make_graph(
        nodes,
        "body",
        [info("i", INT, []), info("cond", B, []), info("v", F, [2])],
        outputs,
        [constant("limit", stop_at, np.float32)],
    )


@pytest.mark.parametrize("trips", [None, 0, 1, 5])
@pytest.mark.parametrize("start", [None, False, True])
def test_loop_of_every_form(trips: int | None, start: bool | None) -> None:
    names = ["M" if trips is not None else "", "c" if start is not None else "", "v0"]
    made = model(
        [helper.make_node("Loop", names, ["v", "rows"], body=loop_body(14))],
        [info("M", INT, []), info("c", B, []), info("v0", F, [2]), info("x", F, [2])],
        [info("v", F, None), info("rows", F, [None, 2])],
    )
    feeds = {
        "M": np.array(0 if trips is None else trips, np.int64),
        "c": np.array(bool(start)),
        "v0": np.array([1, 2], np.float32),
        "x": np.array([2, 1], np.float32),
    }
    check(made, feeds)


def test_loop_with_a_value_that_grows() -> None:
    body = helper.make_graph(
        [
            helper.make_node("Concat", ["v", "v"], ["v_next"], axis=0),
            helper.make_node("Shape", ["v"], ["size"]),
            helper.make_node("Identity", ["cond"], ["go"]),
        ],
        "body",
        [info("i", INT, []), info("cond", B, []), info("v", F, [None])],
        [info("go", B, []), info("v_next", F, [None]), info("size", INT, [1])],
    )
    made = model(
        [helper.make_node("Loop", ["M", "", "v0"], ["v", "sizes"], body=body)],
        [info("M", INT, []), info("v0", F, ["n"])],
        [info("v", F, [None]), info("sizes", INT, [None, 1])],
    )
    for trips in (0, 3):
        check(made, {"M": np.array(trips, np.int64), "v0": np.array([1, 2], np.float32)})


def test_loop_inside_loop_and_if() -> None:
    inner = helper.make_graph(
        [
            helper.make_node("Cast", ["j"], ["turn"], to=F),
            helper.make_node("Add", ["w", "turn"], ["w_next"]),
            helper.make_node("Identity", ["c2"], ["go2"]),
        ],
        "inner",
        [info("j", INT, []), info("c2", B, []), info("w", F, [2])],
        [info("go2", B, []), info("w_next", F, [2])],
    )
    even = helper.make_graph(
        [helper.make_node("Neg", ["u"], ["n1"])], "even", [], [info("n1", F, [2])]
    )
    odd = helper.make_graph(
        [helper.make_node("Add", ["u", "x"], ["n2"])], "odd", [], [info("n2", F, [2])]
    )
    outer = helper.make_graph(
        [
            helper.make_node("Loop", ["i", "", "v"], ["u"], body=inner),
            helper.make_node("Mod", ["i", "two"], ["rest"]),
            helper.make_node("Cast", ["rest"], ["is_odd"], to=B),
            helper.make_node("If", ["is_odd"], ["v_next"], then_branch=odd, else_branch=even),
            helper.make_node("Identity", ["c"], ["go"]),
        ],
        "outer",
        [info("i", INT, []), info("c", B, []), info("v", F, [2])],
        [info("go", B, []), info("v_next", F, [2])],
        [constant("two", 2, np.int64)],
    )
    made = model(
        [helper.make_node("Loop", ["M", "", "v0"], ["v"], body=outer)],
        [info("M", INT, []), info("v0", F, [2]), info("x", F, [2])],
        [info("v", F, [2])],
    )
    feeds = {
        "M": np.array(5, np.int64),
        "v0": np.array([1, 2], np.float32),
        "x": np.array([10, 20], np.float32),
    }
    check(made, feeds)


def test_loop_that_carries_a_sequence() -> None:
    body = helper.make_graph(
        [
            helper.make_node("Cast", ["i"], ["f"], to=F),
            helper.make_node("Add", ["x", "f"], ["e"]),
            helper.make_node("SequenceInsert", ["s", "e"], ["s_next"]),
            helper.make_node("Identity", ["c"], ["go"]),
        ],
        "body",
        [
            info("i", INT, []),
            info("c", B, []),
            helper.make_tensor_sequence_value_info("s", F, None),
        ],
        [info("go", B, []), helper.make_tensor_sequence_value_info("s_next", F, None)],
    )
    made = model(
        [
            helper.make_node("SequenceEmpty", [], ["s0"]),
            helper.make_node("Loop", ["M", "", "s0"], ["s"], body=body),
            helper.make_node("SequenceLength", ["s"], ["n"]),
        ],
        [info("M", INT, []), info("x", F, [2])],
        [helper.make_tensor_sequence_value_info("s", F, None), info("n", INT, [])],
    )
    check(made, {"M": np.array(3, np.int64), "x": np.array([1, 2], np.float32)})


# --- Scan -------------------------------------------------------------------------------------------------------


def scan_body(collected: int = 2) -> onnx.GraphProto:
    """s' = s + a * k (k from outside); collects s' and a - b."""
    nodes = [
        helper.make_node("Mul", ["a", "k"], ["ak"]),
        helper.make_node("Add", ["s", "ak"], ["s_next"]),
        helper.make_node("Identity", ["s_next"], ["y0"]),
        helper.make_node("Sub", ["a", "b"], ["y1"]),
    ]
    outputs = [info("s_next", F, [2]), info("y0", F, [2]), info("y1", F, [2])][: 1 + collected]
    return helper.make_graph(
        nodes, "body", [info("s", F, [2]), info("a", F, [2]), info("b", F, [2])], outputs
    )


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize(
    "attrs",
    [
        {},
        {"scan_input_directions": [1, 0]},
        {"scan_input_axes": [1, -1], "scan_input_directions": [0, 1]},
        {"scan_output_axes": [1, -2]},
        {"scan_output_directions": [1, 0]},
        {
            "scan_output_axes": [-1, 0],
            "scan_output_directions": [1, 1],
            "scan_input_directions": [1, 1],
        },
    ],
    ids=str,
)
def test_scan(attrs: dict[str, list[int]], length: int) -> None:
    axes = attrs.get("scan_input_axes", [0, 0])
    shapes = [[2, "n"] if axis else ["n", 2] for axis in axes]
    made = model(
        [
            helper.make_node(
                "Scan",
                ["s0", "as", "bs"],
                ["s", "y0", "y1"],
                body=scan_body(),
                num_scan_inputs=2,
                **attrs,
            )
        ],
        [info("s0", F, [2]), info("as", F, shapes[0]), info("bs", F, shapes[1]), info("k", F, [2])],
        [info("s", F, [2]), info("y0", F, None), info("y1", F, None)],
    )
    random = np.random.default_rng(length)
    feeds = {
        name: random.random([length if d == "n" else d for d in shape], np.float32)
        for name, shape in zip(("as", "bs"), shapes, strict=True)
    }
    check(made, {**feeds, "s0": np.array([1, 2], np.float32), "k": np.array([3, 5], np.float32)})


@pytest.mark.parametrize("directions", [[0, 0], [1, 0]])
@pytest.mark.parametrize("lengths", [None, [3, 3], [3, 1]])
def test_scan_of_opset_8_runs_over_a_batch(
    lengths: list[int] | None, directions: list[int]
) -> None:
    body = scan_body()
    body.node[0].CopyFrom(helper.make_node("Mul", ["a", "a"], ["ak"]))
    names = ["" if lengths is None else "n", "s0", "as", "bs"]
    node = helper.make_node(
        "Scan", names, ["s", "y0", "y1"], body=body, num_scan_inputs=2, directions=directions
    )
    own = [info("s0", F, [2, 2]), info("as", F, [2, "t", 2]), info("bs", F, [2, "t", 2])]
    made = model(
        [node],
        own if lengths is None else [info("n", INT, [2]), *own],
        [info("s", F, [2, 2]), info("y0", F, [2, "t", 2]), info("y1", F, [2, "t", 2])],
        opset=8,
    )
    random = np.random.default_rng(3)
    feeds = {
        "s0": random.random((2, 2), np.float32),
        "as": random.random((2, 3, 2), np.float32),
        "bs": random.random((2, 3, 2), np.float32),
    }
    if lengths is not None:
        feeds["n"] = np.array(lengths, np.int64)
    check(made, feeds)


# --- SequenceMap ------------------------------------------------------------------------------------------------


def test_sequence_map_over_two_sequences_a_tensor_and_an_outer_value() -> None:
    body = helper.make_graph(
        [
            helper.make_node("Add", ["p", "q"], ["pq"]),
            helper.make_node("Mul", ["pq", "t"], ["pqt"]),
            helper.make_node("Sub", ["pqt", "outer"], ["r"]),
        ],
        "body",
        [info("p", F, [2]), info("q", F, [2]), info("t", F, [2])],
        [info("r", F, [2])],
    )
    made = model(
        [
            helper.make_node("SequenceConstruct", ["x", "y"], ["s1"]),
            helper.make_node("SequenceConstruct", ["y", "y"], ["s2"]),
            helper.make_node("SequenceMap", ["s1", "s2", "t"], ["s"], body=body),
        ],
        [info(name, F, [2]) for name in ("x", "y", "t", "outer")],
        [helper.make_tensor_sequence_value_info("s", F, None)],
        opset=17,
    )
    feeds = {
        name: np.array([k, k + 0.5], np.float32)
        for k, name in enumerate(("x", "y", "t", "outer"), 1)
    }
    check(made, feeds)
