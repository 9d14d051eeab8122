"""Random dynamic models against onnxruntime: unknown sizes, shape arithmetic, branches and loops; several shapes from one
program, with and without host execution and parts of known shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np
import onnx
import pytest
from host_order import HostOrder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from ge_dialect import program
from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge.access import (
    data_results,
    ge_type,
    get_flag,
    get_text,
    graphs,
    node_name,
    nodes,
)
from ge_dialect.dialects.ge_task import HostOp
from ge_dialect.dialects.location import location_text

ort = pytest.importorskip("onnxruntime", reason="the oracle: pip install onnxruntime")

Dim: TypeAlias = "int | str"
"""A size: known, or a symbol; equal symbols are equal sizes in every run."""

SHAPES = ({"N": 2, "M": 3}, {"N": 5, "M": 1}, {"N": 1, "M": 4}, {"N": 0, "M": 2})
"""What each program runs, an empty batch included."""

CONTROL_FLOW = frozenset({"If", "Loop"})

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@dataclass
class Writer:
    """A graph in the making: matrices that are there, with their symbolic shapes, and vectors of numbers on shapes."""

    draw: st.DrawFn
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    matrices: dict[str, tuple[Dim, Dim]] = field(default_factory=dict[str, "tuple[Dim, Dim]"])
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict[str, onnx.TensorProto])
    fresh: count[int] = field(default_factory=lambda: count())

    def name(self, stem: str = "v") -> str:
        return f"{stem}{next(self.fresh)}"

    def symbol(self) -> str:
        return self.name("D")

    def add(self, kind: str, *ins: str, **attrs: object) -> str:
        out = self.name()
        self.nodes.append(helper.make_node(kind, ins, [out], **attrs))  # pyright: ignore
        return out

    def ints(self, *values: int) -> str:
        """A vector constant."""
        name = "c_" + "_".join(map(str, values)).replace("-", "m")
        self.constants[name] = helper.make_tensor(name, INT64, [len(values)], values)
        return name

    def threshold(self) -> str:
        """A number that no sum comes out near to: what is decided by it does not depend on how sums are rounded."""
        self.constants["threshold"] = helper.make_tensor("threshold", FLOAT, [], [0.1237])
        return "threshold"

    def pick(self) -> str:
        """Some matrix; the latest ones are as likely as all others, so that chains grow long."""
        names = list(self.matrices)
        return self.draw(st.sampled_from(names[-3:] if self.draw(st.booleans()) else names))

    def size(self, x: str, axis: int) -> str:
        """One dimension of a matrix, as a vector of one element."""
        shape = self.add("Shape", x)
        if self.draw(st.booleans()):
            return self.add("Gather", shape, self.ints(axis))
        return self.add("Slice", shape, self.ints(axis), self.ints(axis + 1))

    def chain(self, x: str, length: int) -> str:
        for _ in range(length):
            x = self.add(self.draw(st.sampled_from(("Neg", "Tanh", "Abs", "Sin"))), x)
        return x


def unary(w: Writer) -> None:
    x = w.pick()
    w.matrices[w.chain(x, w.draw(st.integers(1, 5)))] = w.matrices[x]


def binary(w: Writer) -> None:
    x = w.pick()
    others = [y for y, dims in w.matrices.items() if dims == w.matrices[x]]
    y = w.draw(st.sampled_from(others))
    w.matrices[w.add(w.draw(st.sampled_from(("Add", "Mul", "Sub", "Max"))), x, y)] = w.matrices[x]


def transpose(w: Writer) -> None:
    x = w.pick()
    a, b = w.matrices[x]
    w.matrices[w.add("Transpose", x, perm=[1, 0])] = (b, a)


def concat(w: Writer) -> None:
    x, y = w.pick(), w.pick()
    if w.matrices[x][1] == w.matrices[y][1]:
        w.matrices[w.add("Concat", x, y, axis=0)] = (w.symbol(), w.matrices[x][1])


def reduce(w: Writer) -> None:
    x = w.pick()
    axis = w.draw(st.integers(0, 1))
    dims = list(w.matrices[x])
    dims[axis] = 1
    made = w.add("ReduceSum", x, w.ints(axis), keepdims=1)
    w.matrices[w.add("Tanh", made)] = (dims[0], dims[1])


def flatten(w: Writer) -> None:
    """Reshape by arithmetic on the shape: to a row, to a column, or back to what it was."""
    x = w.pick()
    a, b = w.size(x, 0), w.size(x, 1)
    whole = w.add("Mul", a, b)
    target = w.draw(st.sampled_from(("row", "column", "same")))
    if target == "same":
        w.matrices[w.add("Reshape", x, w.add("Concat", a, b, axis=0), allowzero=1)] = w.matrices[x]
        return
    parts = (w.ints(1), whole) if target == "row" else (whole, w.ints(1))
    made = w.add("Reshape", x, w.add("Concat", *parts, axis=0), allowzero=1)
    w.matrices[made] = (1, w.symbol()) if target == "row" else (w.symbol(), 1)


def expand(w: Writer) -> None:
    x, y = w.pick(), w.pick()
    if w.matrices[x][0] == 1:
        shape = w.add("Concat", w.size(y, 0), w.ints(1), axis=0)
        w.matrices[w.add("Expand", x, shape)] = (w.matrices[y][0], w.matrices[x][1])


def cut(w: Writer) -> None:
    """The first half of the rows."""
    x = w.pick()
    end = w.add("Div", w.size(x, 0), w.ints(2))
    made = w.add("Slice", x, w.ints(0), end, w.ints(0))
    w.matrices[made] = (w.symbol(), w.matrices[x][1])


def non_zero(w: Writer) -> None:
    x = w.pick()
    found = w.add("NonZero", w.add("Greater", x, w.threshold()))
    w.matrices[w.add("Cast", found, to=FLOAT)] = (2, w.symbol())


def filled(w: Writer) -> None:
    x = w.pick()
    w.matrices[w.add("ConstantOfShape", w.add("Shape", x), value=_HALF)] = w.matrices[x]


_HALF = helper.make_tensor("half", FLOAT, [1], [0.5])


def counted(w: Writer) -> None:
    """0, 1, 2, ... as a column as long as a matrix."""
    x = w.pick()
    end = w.add("Squeeze", w.size(x, 0), w.ints(0))
    zero = w.add("Squeeze", w.ints(0), w.ints(0))
    one = w.add("Squeeze", w.ints(1), w.ints(0))
    made = w.add("Cast", w.add("Range", zero, end, one), to=FLOAT)
    w.matrices[w.add("Unsqueeze", made, w.ints(1))] = (w.matrices[x][0], 1)


def product(w: Writer) -> None:
    x, y = w.pick(), w.pick()
    if w.matrices[x][1] == w.matrices[y][0]:
        made = w.add("Tanh", w.add("MatMul", x, y))
        w.matrices[made] = (w.matrices[x][0], w.matrices[y][1])


def branch(w: Writer) -> None:
    """An If on a sum; the branches agree in shape or do not."""
    x = w.pick()
    total = w.add("ReduceSum", x, keepdims=0)
    condition = w.add("Less", total, w.threshold())
    agree = w.draw(st.booleans())
    then, other = (_inside(w) for _ in range(2))
    one = then.chain(x, w.draw(st.integers(1, 5)))
    two = other.chain(x, w.draw(st.integers(1, 5)))
    if not agree:
        two = other.add("Concat", two, x, axis=0)
    graphs = {
        "then_branch": _graph(then, "then", [], [(one, FLOAT)]),
        "else_branch": _graph(other, "other", [], [(two, FLOAT)]),
    }
    made = w.add("If", condition, **graphs)
    w.matrices[made] = w.matrices[x] if agree else (w.symbol(), w.matrices[x][1])


def loop(w: Writer) -> None:
    """As many turns as a matrix has rows, with an outer and a carried value. A loop that collects has one turn at least:
    of no rows of unknown size nobody knows the rank."""
    x = w.pick()
    outer = w.draw(st.sampled_from([y for y, d in w.matrices.items() if d == w.matrices[x]]))
    collects = w.draw(st.booleans())
    size = w.size(w.pick(), 0)
    turns = w.add("Squeeze", w.add("Max", size, w.ints(1)) if collects else size, w.ints(0))
    body = _inside(w)
    i, go, carried = body.name("i"), body.name("go"), body.name("carried")
    next_ = body.add("Tanh", body.add("Add", body.chain(carried, w.draw(st.integers(0, 4))), outer))
    outs = [(body.add("Identity", go), BOOL), (next_, FLOAT)]
    if collects:
        outs.append((body.add("Neg", next_), FLOAT))
    ins = [(i, INT64, ()), (go, BOOL, ()), (carried, FLOAT, None)]
    made = [w.name() for _ in outs[1:]]
    node = helper.make_node("Loop", [turns, "", x], made, body=_graph(body, "body", ins, outs))
    w.nodes.append(node)
    w.matrices[made[0]] = w.matrices[x]
    if collects:
        w.matrices[w.add("ReduceSum", made[1], w.ints(0), keepdims=0)] = w.matrices[x]


def _inside(w: Writer) -> Writer:
    return Writer(w.draw, constants=w.constants, fresh=w.fresh)


def _graph(
    w: Writer,
    name: str,
    ins: Sequence[tuple[str, int, tuple[int, ...] | None]],
    outs: Sequence[tuple[str, int]],
) -> onnx.GraphProto:
    return helper.make_graph(
        w.nodes,
        name,
        [helper.make_tensor_value_info(x, dtype, shape) for x, dtype, shape in ins],
        [helper.make_tensor_value_info(x, dtype, None) for x, dtype in outs],
    )


STEPS: tuple[Callable[[Writer], None], ...] = (
    unary, binary, transpose, concat, reduce, flatten, expand, cut, non_zero, filled, counted, product, branch, loop,
)  # fmt: skip


@st.composite
def models(draw: st.DrawFn) -> onnx.ModelProto:
    """A model on matrices [N, M], [N, 3] and [4, 3]."""
    w = Writer(draw)
    inputs: dict[str, tuple[Dim, Dim]] = {"x": ("N", "M"), "y": ("N", 3), "z": (4, 3)}
    w.matrices.update(inputs)
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=3, max_size=14)):
        step(w)
    made = [name for name in w.matrices if name not in inputs][-4:] or [w.add("Neg", "x")]
    graph = helper.make_graph(
        w.nodes,
        "main",
        [helper.make_tensor_value_info(x, FLOAT, dims) for x, dims in inputs.items()],
        [helper.make_tensor_value_info(x, FLOAT, None) for x in dict.fromkeys(made)],
        list(w.constants.values()),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def feeds_of(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(sizes["N"] * 10 + sizes["M"])
    return {
        x.name: rng.uniform(
            -1, 1, [d.dim_value or sizes[d.dim_param] for d in x.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for x in model.graph.input
    }


PIPELINES = (
    "ge-pipeline",
    "ge-pipeline{host-exec=false}",
    "ge-pipeline{partition=false}",
    "ge-pipeline{host-exec=false partition=false}",
    "ge-pipeline{streams=multi no-task=aggressive}",
    'ge-pipeline{streams="LoadBalance:3" dynamic-streams=true}',
    "ge-pipeline{streams=dynamic host-exec=false partition=false}",
)


@given(models(), st.sampled_from(PIPELINES))
@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_one_program_runs_every_shape(model: onnx.ModelProto, pipeline: str) -> None:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    compiled = program.compile(model, pipeline=pipeline)
    for op in compiled.module.body.block.ops:
        if isinstance(op, HostOp):
            order = HostOrder()
            order.walk(op.body.block)
            assert not order.unordered
    for sizes in SHAPES:
        feeds = feeds_of(model, sizes)
        expected = session.run(None, feeds)
        result = compiled.run(feeds)
        for ours, theirs in zip(result.outputs.values(), expected, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_the_models_are_dynamic() -> None:
    """What is generated really takes the way of host programs, with regions in them."""
    kinds: set[str] = set()

    @given(models())
    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def collect(model: onnx.ModelProto) -> None:
        for op in program.compile(model).module.body.block.ops:
            if isinstance(op, HostOp):
                kinds.update(x.name for x in op.walk())

    collect()
    wanted = "infer_shape tiling alloc launch host_call free view h2d d2h sync if while read_shape"
    assert {f"ge_task.{x}" for x in wanted.split()} <= kinds


@given(models())
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_host_execution_is_done_in_one_run_and_says_why(model: onnx.ModelProto) -> None:
    """A second run changes nothing; a reader of a moved node moves, is local, or has a remark that says what failed."""
    module = program.load(model)
    before, host_exec = (
        program.make_passes(text) for text in ("ge-canonicalize,ge-assign-engines", "ge-host-exec")
    )
    for each in before:
        each.apply(program.context(), module)
    with collect_remarks() as collected:
        host_exec[0].apply(program.context(), module)
    once = str(module)
    said = {x.location: x for x in collected.remarks if "condition" in x.args}
    moved = [op for op in nodes(graphs(module)[0]) if get_flag(op, "ge.small_shape_host_cpu")]
    for op in moved:
        for use in data_results(op)[0].uses:
            reader = use.operation
            if get_flag(reader, "ge.small_shape_host_cpu") or ge_type(reader) in CONTROL_FLOW:
                continue
            if get_text(reader, "ge.engine") == "AIcoreEngine":
                assert location_text(reader) in said, node_name(reader)
    host_exec[0].apply(program.context(), module)
    assert str(module) == once
