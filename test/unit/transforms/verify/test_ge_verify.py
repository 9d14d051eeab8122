"""ge-verify: one module a rule that breaks it, and what is legal although it looks odd."""

from __future__ import annotations

import io
import time

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp, TensorType, f32
from xdsl.dialects.scf import Scf
from xdsl.dialects.test import Test
from xdsl.parser import Parser

from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge import ControlType, DataOp, Ge, GraphOp, OpOp
from ge_dialect.tools.frontends import LocatedMLIRFrontend
from ge_dialect.transforms.verify.finding import VerifyError
from ge_dialect.transforms.verify.ge_verify import GeVerify, verify_module


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Ge, Test, Scf, Arith):
        ctx.load_dialect(dialect)
    return ctx


def parse(text: str) -> ModuleOp:
    return Parser(context(), text, "t.mlir").parse_module()


def graph(body: str, name: str = "main") -> str:
    return f"ge.graph @{name} {{\n{body}\n}}\n"


X = '%x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>\n'
RELU = '%a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x3xf32>\n'

BROKEN: list[tuple[str, str]] = [
    (
        graph(
            '"ge.net_output"(%a) {ge.name = "out"} : (tensor<2x3xf32>) -> ()\n'
            '%a = "ge.data"() {ge.name = "a"} : () -> tensor<2x3xf32>'
        ),
        'node "out": operand 0 of NetOutput comes from "a", which stands behind it: the block is not in topological order',
    ),
    (
        graph(
            '%a = "ge.op"(%a) <{type = "Relu"}> {ge.name = "a"} : (tensor<2xf32>) -> tensor<2xf32>'
        ),
        'node "a": operand 0 of Relu is its own output',
    ),
    (
        graph(X + X.replace("%x", "%y").replace("index 0", "index 1")),
        'node "x": second node named "x" in graph @main',
    ),
    (
        graph(X + 'ge.net_output (%x) {ge.name = "o"}\nge.net_output (%x) {ge.name = "p"}'),
        'node "p": second NetOutput in graph @main',
    ),
    (
        graph(X + '%y = ge.data index 0 {ge.name = "y"} : tensor<2xf32>'),
        'node "y": second graph input with index 0 in graph @main',
    ),
    (
        graph('%y = ge.data index -1 {ge.name = "y"} : tensor<2xf32>'),
        'node "y": Data has the negative index -1',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.steam = 0 : i64')),
        'node "a": unknown attribute ge.steam; did you mean ge.stream?',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.workspace_bytes = array<i64: 8, -1>')),
        'node "a": attribute ge.workspace_bytes has a workspace of -1 bytes',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.res_attrs = [{reuse_input = 1 : i64}]')),
        'node "a": reuse_input of output 0 is 1, but Relu has 1 data operands',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.res_attrs = [{reuse_input = -1 : i64}]')),
        'node "a": reuse_input of output 0 is -1, but Relu has 1 data operands',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.res_attrs = [{reuse_input = "x"}]')),
        'node "a": reuse_input of output 0 is "x", expected an integer',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.zzzzzz')),
        'node "a": unknown attribute ge.zzzzzz',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.stream = "0"')),
        'node "a": attribute ge.stream is "0", expected integer (i64)',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.stream_num = 1 : i64')),
        'node "a": attribute ge.stream_num belongs on a graph, not on a node',
    ),
    (
        "ge.graph @main attributes {ge.stream = 1 : i64} {\n}",
        "attribute ge.stream belongs on a node, not on a graph",
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.arg_attrs = [{}, {}]')),
        'node "a": Relu has 1 data operands, but 2 entries in ge.arg_attrs',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.res_attrs = []')),
        'node "a": Relu has 1 data results, but 0 entries in ge.res_attrs',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.res_attrs = [1 : i64]')),
        'node "a": attribute ge.res_attrs is [1 : i64], expected list of dictionaries',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.offsets = array<i64: 0, 1>')),
        'node "a": Relu has 1 data results, but 2 entries in ge.offsets',
    ),
    (
        graph(X + RELU.replace('"a"', '"a", ge.consumers = ["b:0"]')),
        'node "a": ge.consumers lists "b:0", which does not read this node',
    ),
    (
        graph(X.replace('"x"', '"x", ge.consumers = ["a:0", "a:0"]') + RELU),
        'node "x": ge.consumers lists "a:0" twice',
    ),
    (
        graph(
            X + '%y = ge.op "If" (%x) subgraphs [@s] {ge.name = "i"} : tensor<f32>\n'
            '%z = ge.op "If" (%x) subgraphs [@s] {ge.name = "j"} : tensor<f32>'
        )
        + graph("", "s"),
        'node "j": graph @s belongs to "i" already; every sub-graph has one caller',
    ),
    (
        graph('%y = ge.op "U" subgraphs [@main] {ge.name = "i"} : tensor<f32>'),
        'node "i": U owns the root graph @main',
    ),
    (
        graph("")
        + graph('%y = ge.op "U" subgraphs [@b] {ge.name = "i"} : tensor<f32>', "a")
        + graph('%y = ge.op "U" subgraphs [@a] {ge.name = "j"} : tensor<f32>', "b"),
        'node "j": graph @a is a sub-graph of itself',
    ),
    (
        graph(X + '%y = ge.op "U" (%x) subgraphs [@s] {ge.name = "i"} : tensor<f32>')
        + graph(
            '%p = ge.data index 0 {ge.name = "p", ge.parent_node_index = 1 : i64} : tensor<2xf32>',
            "s",
        ),
        'node "p": ge.parent_node_index 1 is out of range: "i" has 1 inputs',
    ),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_structure(text: str, message: str) -> None:
    module = parse(text)
    with pytest.raises(VerifyError) as caught:
        verify_module(module, "structure")
    assert str(caught.value) == message


def test_value_of_another_graph() -> None:
    kind = TensorType(f32, [2])
    data = DataOp.make((), (kind,), {"index": i64(0)}, {"ge.name": string("x")})
    relu = OpOp.make(data.results, (kind,), {"type": string("Relu")}, {"ge.name": string("a")})
    first, second = GraphOp("main"), GraphOp("other")
    first.block.add_op(data)
    second.block.add_op(relu)
    with pytest.raises(
        VerifyError, match='comes from "x" in another graph, @main; sub-graphs take values through'
    ):
        verify_module(ModuleOp([first, second]), "structure")


def test_data_behind_control() -> None:
    kind = TensorType(f32, [2])
    data = DataOp.make((), (kind, ControlType()), {"index": i64(0)}, {"ge.name": string("x")})
    relu = OpOp.make(
        [data.results[1], data.results[0]],
        (kind,),
        {"type": string("Relu")},
        {"ge.name": string("a")},
    )
    top = GraphOp("main")
    top.block.add_ops([data, relu])
    with pytest.raises(VerifyError, match="operand #1 is data behind a control operand"):
        verify_module(ModuleOp([top]), "structure")


def test_second_graph_of_one_name() -> None:
    with pytest.raises(VerifyError, match="second graph named @main"):
        verify_module(ModuleOp([GraphOp("main"), GraphOp("main")]), "structure")


def test_values_of_a_region_end_with_it() -> None:
    region = (
        'scf.if %c {\n %v = "test.op"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n scf.yield\n}\n'
    )
    condition = '%c = "test.op"() : () -> i1\n'
    verify_module(parse(graph(X + condition + region)), "structure")
    module = parse(graph(X + condition + region + RELU))
    root = module.body.block.first_op
    assert isinstance(root, GraphOp)
    inner = next(op for op in root.walk() if op.name == "test.op" and op.operands)
    relu = next(op for op in root.walk() if isinstance(op, OpOp))
    relu.operands[0] = inner.results[0]
    with pytest.raises(VerifyError, match="which stands behind it"):
        verify_module(module, "structure")


LEGAL = [
    graph(""),
    graph(X + '%y = ge.op "If" (%x) subgraphs [@gone] {ge.name = "i"} : tensor<*xf32>'),
    graph('%p = ge.data index 0 {ge.name = "p", ge.parent_node_index = 7 : i64} : tensor<2xf32>'),
    graph("", "main") + graph(X, "called_by_nobody"),
    graph(
        X.replace('"x"', '"x", ge.consumers = ["b:0", "a:0"]')
        + RELU
        + RELU.replace("%a", "%b").replace('"a"', '"b"')
    ),
    graph("%x = ge.data index 0 : tensor<2xf32>\n%y = ge.data index 1 : tensor<2xf32>"),
    graph(X + "ge.net_output (%x)\n" + RELU),
]


@pytest.mark.parametrize("text", LEGAL)
def test_legal(text: str) -> None:
    verify_module(parse(text))


WRONG: list[tuple[str, str]] = [
    (
        graph(X + RELU.replace("2x3", "3x2")),
        'node "a": output 0 has type tensor<3x2xf32>, but Relu gives tensor<2x3xf32>',
    ),
    (
        graph(X + RELU.replace("xf32", "xf16")),
        'node "a": output 0 has type tensor<2x3xf16>, but Relu gives tensor<2x3xf32>',
    ),
    (
        graph(X + '%a = ge.op "BatchMatMulV2" (%x, %x) {ge.name = "a"} : tensor<2x2xf32>'),
        'node "a": BatchMatMulV2 inner dimensions 3 and 2 differ',
    ),
    (
        graph(
            X
            + '%s = ge.constant value dense<[3, 3]> : tensor<2xi64> {ge.name = "s"} : tensor<2xi64>\n'
            '%a = ge.op "Reshape" (%x, %s) {ge.name = "a"} : tensor<3x3xf32>'
        ),
        'node "a": Reshape cannot give a tensor of shape [2, 3] the shape [3, 3]: the numbers of elements differ',
    ),
    (
        graph(
            '%s = ge.constant value dense<[3, 3]> : tensor<2xi64> {ge.name = "s"} : tensor<2xf32>'
        ),
        'node "s": output 0 has type tensor<2xf32>, but Const gives tensor<2xi64>',
    ),
    (
        graph(X + '%i = ge.op "If" (%x) subgraphs [@s] {ge.name = "i"} : tensor<2xf32>')
        + graph('%p = ge.data index 0 {ge.name = "p"} : tensor<3xf32>\nge.net_output (%p)', "s"),
        'node "i": output 0 has type tensor<2xf32>, but output 0 of graph @s is tensor<3xf32>',
    ),
    (
        graph(X + '%i = ge.op "If" (%x) subgraphs [@s] {ge.name = "i"} : tensor<2xf32>')
        + graph("ge.net_output", "s"),
        'node "i": If has 1 outputs, graph @s has 0',
    ),
    (
        graph(
            X
            + '%a = ge.op "Softmax" (%x) source "ai.onnx::Softmax@11" {ge.name = "a"} : tensor<2x2xf32>'
        ),
        'node "a": output 0 has type tensor<2x2xf32>, but Softmax gives tensor<2x3xf32>',
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_semantics(text: str, message: str) -> None:
    module = parse(text)
    verify_module(module, "structure")
    with pytest.raises(VerifyError) as caught:
        verify_module(module)
    assert str(caught.value) == message
    with collect_remarks() as collector:
        verify_module(module, severity="remark")
    (remark,) = collector.remarks
    assert f"{remark.location}: {remark.message}" == message


def test_any_arity_has_a_structure() -> None:
    text = graph('ge.op "Relu" {ge.name = "a"}\nge.op "PhonyConcat" {ge.name = "b"}')
    verify_module(parse(text), "structure")
    with pytest.raises(VerifyError, match="Relu input 0 is missing"):
        verify_module(parse(text))


def test_input_descs_count_where_they_differ() -> None:
    verify_module(
        parse(
            graph(
                X
                + '%a = ge.op "Relu" (%x) {ge.name = "a", ge.arg_attrs = [{type = tensor<6xf32>}]} : tensor<6xf32>'
            )
        )
    )


def test_other_storage_formats_are_not_judged() -> None:
    kind = "tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>"
    verify_module(
        parse(
            graph(
                f'%x = ge.data index 0 {{ge.name = "x"}} : {kind}\n'
                '%c = ge.concat (%x, %x) concat_dim 4 {ge.name = "c"} : tensor<1x1x8x8x32xf16>'
            )
        )
    )


def test_unknown_dimensions_go_with_everything() -> None:
    verify_module(
        parse(graph(X + '%a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<?x3xf32>\n'
                    '%b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<7x3xf32>\n'
                    '%c = ge.op "Relu" (%b) {ge.name = "c"} : tensor<*xf32>'))
    )  # fmt: skip


def test_places_in_the_text() -> None:
    text = graph(X + RELU.replace("2x3", "3x2"))
    module = LocatedMLIRFrontend().parse(context(), io.BytesIO(text.encode()), "net.mlir")
    assert module is not None
    with pytest.raises(VerifyError) as caught:
        GeVerify().apply(context(), module)
    assert caught.value.render() == (
        'net.mlir:3:1: error: "a": output 0 has type tensor<3x2xf32>, but Relu gives tensor<2x3xf32>'
    )


def chain(count: int) -> ModuleOp:
    kind = TensorType(f32, [2])
    data = DataOp.make((), (kind,), {"index": i64(0)}, {"ge.name": string("x")})
    values = [data.results[0]]
    top = GraphOp("main")
    top.block.add_op(data)
    for number in range(count):
        attributes = {
            "ge.name": string(f"n{number}"),
            "ge.stream": i64(0),
            "ge.offsets": i64_array((0,)),
        }
        operands = [values[-1], values[max(0, len(values) - 9)]]
        op = OpOp.make(operands, (kind,), {"type": string("Add")}, attributes)
        values.append(op.results[0])
        top.block.add_op(op)
    return ModuleOp([top])


def test_time_grows_with_the_graph() -> None:
    def seconds(count: int) -> float:
        module = chain(count)
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            verify_module(module, "structure")
            best = min(best, time.process_time() - start)
        return best

    # 16 times the nodes; a quadratic check would take 256 times as long.
    assert seconds(16_000) < 128 * max(seconds(1_000), 2e-3)
