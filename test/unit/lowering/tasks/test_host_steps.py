"""What nodes become in a host program: which steps are there, which are not, and where values end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import onnx.parser
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect import program
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.dialects.ge_task import (
    AllocOp,
    FreeOp,
    HostOp,
    InferShapeOp,
    LaunchOp,
    TilingOp,
)
from ge_dialect.kernels.shapes.unknown_types import (
    SHAPE_RANGE_ONNX,
    UnknownShapeType,
    bound_of,
    unknown_shape_type,
)
from ge_dialect.kernels.spec import OpSpec
from ge_dialect.program import Program, compile, context, make_passes
from ge_dialect.runtime import RunReport, TaskError


def onnx_model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')


def lowered(text: str) -> ModuleOp:
    module = Parser(context(), text).parse_module()
    for each in make_passes("ge-assign-engines,ge-host-exec,convert-ge-to-ge-task"):
        each.apply(context(), module)
    module.verify()
    return module


def steps(module: ModuleOp) -> list[Operation]:
    (host,) = [op for op in module.body.block.ops if isinstance(op, HostOp)]
    return list(host.body.block.ops)


def names(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("ge_task.") for op in steps(module)]


NODE = """
ge.graph @main attributes {{ge.unknown_shape}} {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<{shape}xf32>
  %y = ge.op "Neg" (%x) {{{attributes}ge.name = "y"}} : tensor<{shape}xf32>
  ge.net_output (%y) {{ge.name = "out"}}
}}"""


def test_a_node_of_unknown_shape() -> None:
    module = lowered(NODE.format(shape="?x4", attributes=""))
    assert names(module) == (
        "input ensure_device infer_shape tiling alloc launch free output".split()
    )
    assert all(
        op.may_be_empty is not None for op in steps(module) if isinstance(op, LaunchOp | TilingOp)
    )


def test_a_node_of_known_shape_is_neither_inferred_nor_tiled() -> None:
    module = lowered(NODE.format(shape="2x4", attributes=""))
    assert names(module) == "input ensure_device alloc launch free output".split()


def test_workspaces_end_behind_the_launch() -> None:
    attributes = "ge.workspace_bytes = array<i64: 100, 64>, "
    module = lowered(NODE.format(shape="?", attributes=attributes))
    found = steps(module)
    (launch,) = [op for op in found if isinstance(op, LaunchOp)]
    assert len(launch.workspaces) == 2
    behind = [op for op in found[found.index(launch) + 1 :] if isinstance(op, FreeOp)]
    assert {*launch.workspaces} <= {op.tensor for op in behind}
    report = Program(module).run([np.ones(5, np.float32)]).report
    assert (report.launches, report.steps["alloc"], report.steps["free"]) == (1, 3, 3)


@pytest.mark.parametrize(
    ("size", "skipped"),
    [(0, 1), (3, 0)],
)
def test_nothing_is_issued_for_empty_results(size: int, skipped: int) -> None:
    executable = Program(lowered(NODE.format(shape="?", attributes="")))
    report = executable.run([np.ones(size, np.float32)]).report
    assert report.launches == 1 - skipped
    assert report.steps.get("tiling", 0) == 1 - skipped
    assert report.steps.get("skipped_launch", 0) == skipped
    assert (report.steps["infer_shape"], report.steps["alloc"]) == (1, 1)


def test_a_single_operator_is_issued_even_when_it_is_empty() -> None:
    text = NODE.format(shape="?", attributes="").replace(
        "{ge.unknown_shape}", "{ge.unknown_shape, ge.single_op_scene}"
    )
    report = Program(lowered(text)).run([np.ones(0, np.float32)]).report
    assert report.launches == 1


# --- the four types --------------------------------------------------------------------------------------------


def spec(kind: str, version: int = 0, **attrs: object) -> OpSpec:
    source = SourceOp("ai.onnx", kind, version) if version else None
    return OpSpec(kind, attrs, 1, source)


@pytest.mark.parametrize(
    ("described", "n_inputs", "wanted"),
    [
        (spec("Add"), 2, UnknownShapeType.IN_SHAPE),
        (spec("Expand"), 2, UnknownShapeType.CONST_VALUE),
        (spec("ConstantOfShape", 9), 1, UnknownShapeType.CONST_VALUE),
        (spec("NonZero"), 1, UnknownShapeType.SHAPE_RANGE),
        (spec("Unique", 11), 1, UnknownShapeType.SHAPE_RANGE),
        (spec("HcomAllToAllV"), 3, UnknownShapeType.COMPUTE),
        (spec("NobodyKnows"), 1, UnknownShapeType.COMPUTE),
    ],
    ids=lambda x: x.type if isinstance(x, OpSpec) else None,
)
def test_types(described: OpSpec, n_inputs: int, wanted: UnknownShapeType) -> None:
    assert unknown_shape_type(described, n_inputs) is wanted


@pytest.mark.parametrize(
    ("described", "inputs", "bounds"),
    [
        (spec("NonZero", 13), [(2, 3)], [(2, 6)]),
        (spec("NonZero", 13), [()], [(1, 1)]),
        (spec("Compress", 11, axis=1), [(2, 5), (3,)], [(2, 3)]),
        (spec("Compress", 11), [(2, 5), (3,)], [(3,)]),
        (spec("Unique", 11, axis=-1), [(2, 5)], [(2, 5)]),
        (spec("NonMaxSuppression", 11), [(1, 6, 4), (1, 2, 6), (), (), ()], [(12, 3)]),
        (spec("Where"), [(2, 3)], [(6, 2)]),
    ],
)
def test_bounds(
    described: OpSpec, inputs: Sequence[tuple[int, ...]], bounds: Sequence[tuple[int, ...]]
) -> None:
    bound = bound_of(described)
    assert bound is not None
    assert list(bound(described, inputs)) == list(bounds)


BOUNDED = {
    "NonZero": ("(float[n, m] a) => (int64[2, k] r)", "r = NonZero(a)"),
    "Unique": (
        "(float[n, m] a) => (float[k] r, int64[k] i, int64[q] v, int64[k] c)",
        "r, i, v, c = Unique<sorted = 1>(a)",
    ),
    "Compress": (
        "(float[n, m] a) => (float[k] r)",
        "zero = Constant<value = float {0}>() flat = Constant<value = int64[1] {-1}>() "
        "list = Reshape(a, flat) taken = Greater(list, zero) r = Compress(a, taken)",
    ),
    "NonMaxSuppression": (
        "(float[1, n, 4] a, float[1, 2, n] s) => (int64[k, 3] r)",
        "most = Constant<value = int64[1] {2}>() overlap = Constant<value = float[1] {0.5}>() "
        "least = Constant<value = float[1] {0.0}>() "
        "r = NonMaxSuppression(a, s, most, overlap, least)",
    ),
}


@pytest.mark.parametrize("kind", BOUNDED)
def test_the_kernel_finds_its_shapes(kind: str) -> None:
    """Type 3: room for the largest results, one wait and one small copy, views of what is there."""
    ort = pytest.importorskip("onnxruntime")
    head, nodes = BOUNDED[kind]
    model = onnx_model(f"net {head} {{ {nodes} }}")
    compiled = compile(model, pipeline="ge-pipeline{host-exec=false partition=false}")
    kinds = names(compiled.module)
    assert kinds.count("read_shape") == 1
    assert kinds[kinds.index("read_shape") - 1] == "sync"
    (largest,) = [op for op in steps(compiled.module) if isinstance(op, InferShapeOp) and op.bound]
    assert len(largest.results) == kinds.count("view") - (kind == "Compress")
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    boxes = kind == "NonMaxSuppression"
    for size in (1, 4) if boxes else (0, 1, 4):
        shapes = {"a": (1, size, 4), "s": (1, 2, size)} if boxes else {"a": (size, 3)}
        feeds = {
            name: rng.uniform(-1, 1, shape).astype(np.float32).round(1)
            for name, shape in shapes.items()
        }
        result = compiled.run(feeds)
        for ours, theirs in zip(result.outputs.values(), session.run(None, feeds), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert set(SHAPE_RANGE_ONNX) == set(BOUNDED)


def test_nothing_bounds_what_an_unheard_operator_makes() -> None:
    """Type 4: one step that sizes its results itself."""
    text = NODE.format(shape="?", attributes="").replace("Neg", "Unheard")
    assert names(lowered(text)) == "input ensure_device launch free output".split()


# --- ends of values --------------------------------------------------------------------------------------------


def report_of(text: str, **feeds: np.ndarray) -> RunReport:
    return compile(onnx_model(text), pipeline="ge-pipeline{partition=false}").run(feeds).report


def test_a_chain_never_holds_more_than_two_blocks() -> None:
    text = """net (float[n] x) => (float[n] y) {
      a = Neg(x) b = Exp(a) c = Tanh(b) d = Sqrt(b) e = Neg(d) y = Relu(e) }"""
    report = report_of(text, x=np.ones(1000, np.float32))
    assert report.peak_bytes == 2 * 4000
    assert report.steps["free"] >= 5


def test_every_storage_ends_once() -> None:
    text = """net (bool c, float[n] x, int64 m) => (float[k] y, float[a, b] z) {
      p = Neg(x)
      y = If (c) <
        then_branch = t () => (float[k] t0) { t1 = Exp(p) t0 = Tanh(t1) },
        else_branch = e () => (float[k] e0) { e0 = Concat<axis=0>(p, x) }
      >
      l, z = Loop (m, , p) <
        body = b (int64 i, bool go, float[n] v) => (bool go2, float[n] w, float[n] q) {
          go2 = Identity(go) u = Add(v, x) w = Tanh(u) q = Neg(w)
        }
      >
    }"""
    compiled = compile(onnx_model(text), pipeline="ge-pipeline{partition=false}")
    (host,) = [op for op in compiled.module.body.block.ops if isinstance(op, HostOp)]
    ends = Counter(op.tensor for op in host.walk() if isinstance(op, FreeOp))
    assert set(ends.values()) == {1}
    for op in host.walk():
        if isinstance(op, AllocOp):
            readers = {use.operation.name for use in op.result.uses}
            ended = bool(readers & {"ge_task.free", "ge_task.yield", "ge_task.output"})
            assert ended, str(op)
    executable = compiled.executable
    for turns in (0, 1, 3):
        feeds = {"c": np.array(turns > 1), "x": np.ones(100, np.float32), "m": np.array(turns)}
        executable.run(feeds)
    few, many = (
        executable.run(
            {"c": np.array(True), "x": np.ones(100, np.float32), "m": np.array(n)}
        ).report
        for n in (10, 20)
    )
    assert many.peak_bytes - few.peak_bytes == 2 * 400 * 10  # rows, and the stack of them


def test_shapes_that_do_not_go_together() -> None:
    text = "net (float[n, m] x, int64[2] s) => (float[a, b] y) { y = Expand(x, s) }"
    executable = compile(onnx_model(text))
    x = np.ones((2, 1), np.float32)
    for target, told in (
        ([2, -3], r"no output shape follows from the inputs \[2, 1\], \[2\] = \[2, -3\]"),
        ([5, 3], r"does not broadcast with \[5, 3\]"),
        ([2, 1 << 62], "takes 36893488147419103232 bytes"),
    ):
        with pytest.raises(TaskError, match=told) as caught:
            executable.run({"x": x, "s": np.array(target)})
        assert "Expand_0" in str(caught.value)
    assert executable.run({"x": x, "s": np.array([2, 3])})["y"].shape == (2, 3)


def test_a_program_is_loaded_from_its_text() -> None:
    """Every step that lowering makes is text and comes back from it."""
    text = """net (bool c, float[n, 4] x) => (float[a, b] y, int64[2, k] z) {
      s = Shape(x) two = Constant<value = int64[1] {1}>() rest = Constant<value = int64[1] {-1}>()
      d = Gather(s, two) t = Concat<axis=0>(rest, d)
      y = If (c) < then_branch = u () => (float[a, b] u0) { u0 = Reshape(x, t) },
                   else_branch = v () => (float[a, b] v0) { v0 = Neg(x) } >
      z = NonZero(x)
    }"""
    module = compile(onnx_model(text)).module
    again = Parser(program.context(), str(module)).parse_module()
    again.verify()
    feeds = {"c": np.array(True), "x": np.arange(12, dtype=np.float32).reshape(3, 4)}
    for name, value in Program(module).run(feeds).outputs.items():
        np.testing.assert_array_equal(value, Program(again).run(feeds)[name])
