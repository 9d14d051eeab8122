"""Which models are of known shape, and the first reason why others are not."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from ge_dialect.analysis.known_shape import is_known, unknown_reason
from ge_dialect.dialects.ge import Ge
from ge_dialect.dialects.ge.access import node_name


def parse(body: str) -> ModuleOp:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Ge)
    return Parser(ctx, body, "t.mlir").parse_module()


X = '%x = ge.data index 0 {ge.name = "x"} : tensor<2x3xf32>\n'


def test_known() -> None:
    module = parse(
        "ge.graph @main {\n" + X + "%no = ge.absent\n"
        '%a, %c = ge.op "Clip" (%x, %no, %no) source "ai.onnx::Clip@13" {ge.name = "a"} : none, !ge.control\n'
        'ge.net_output (%x) {ge.name = "o"}\n}'
    )
    assert is_known(module)
    assert unknown_reason(module) is None


REASONS = [
    (
        '%a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<?x3xf32>',
        "output 0 of Relu has an unknown dimension",
    ),
    (
        '%a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<*xf32>',
        "output 0 of Relu has an unknown rank",
    ),
    (
        '%a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x!ge.string>',
        "output 0 of Relu has elements of type !ge.string",
    ),
    (
        '%a = ge.op "S" (%x) {ge.name = "a"} : !ge.sequence<tensor<2xf32>>',
        "output 0 of S is !ge.sequence<tensor<2xf32>>, which the host keeps",
    ),
    (
        '%a = ge.op "If" (%x) subgraphs [@gone] {ge.name = "a"} : tensor<2xf32>',
        "If owns sub-graphs",
    ),
    (
        '%a = ge.op "NonZero" (%x) source "ai.onnx::NonZero@13" {ge.name = "a"} : tensor<2x3xi64>',
        "the output shape of NonZero depends on data",
    ),
]


@pytest.mark.parametrize(("node", "reason"), REASONS)
def test_not_known(node: str, reason: str) -> None:
    module = parse("ge.graph @main {\n" + X + node + "\n}")
    assert not is_known(module)
    found = unknown_reason(module)
    assert found is not None
    assert node_name(found[0]) == "a"
    assert found[1] == reason


def test_a_marked_graph() -> None:
    found = unknown_reason(parse("ge.graph @main attributes {ge.unknown_shape} {\n}"))
    assert found is not None
    assert found[1] == "the graph is marked ge.unknown_shape"


def test_other_graphs_count() -> None:
    assert not is_known(
        parse('ge.graph @main {\n}\nge.graph @s {\n%a = ge.op "A" : tensor<?xf32>\n}')
    )
