"""The walk through references (spec/no_task.md section 3)."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.analysis.references import producer, referenced_input, trace
from ge_dialect.dialects.ge.access import data_operands, node_name
from ge_dialect.program import context

T = "tensor<2x64xf16>"


def _module(*lines: str) -> ModuleOp:
    return Parser(context(), "ge.graph @main {\n" + "\n".join(lines) + "\n}").parse_module()


def _node(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if node_name(op) == name)


def _traced(module: ModuleOp, name: str = "end") -> str | None:
    found = trace(data_operands(_node(module, name))[0], ModelGraphs.of(module))
    return None if found is None else f"{node_name(found.op)}:{found.index}"


@pytest.mark.parametrize(
    ("middle", "expected"),
    [
        ('ge.op "Reshape" (%a, %b) {ge.name = "m"}', "a:0"),
        ('ge.op "Merge" (%b, %a) {ge.name = "m"}', "b:0"),
        ('ge.op "Squeeze" (%a) {ge.name = "m"}', "m:0"),
        ('ge.op "While" (%a) {ge.name = "m"}', "a:0"),
        ('ge.op "Assign" (%a, %b) attrs {reference = true} {ge.name = "m", ge.arg_attrs = [{name = "v"}, {name = "w"}],'
         ' ge.res_attrs = [{name = "w"}]}', "b:0"),
        ('ge.op "Assign" (%a, %b) {ge.name = "m", ge.arg_attrs = [{name = "v"}, {name = "w"}],'
         ' ge.res_attrs = [{name = "w"}]}', "m:0"),
        ('ge.op "Assign" (%a, %b) attrs {reference = true} {ge.name = "m", ge.arg_attrs = [{name = "v"}, {}],'
         ' ge.res_attrs = [{name = "z"}]}', "m:0"),
        ('ge.op "Some" (%a, %b) {ge.name = "m", ge.res_attrs = [{reuse_input = 1}]}', "b:0"),
        ('ge.op "Some" (%a, %b) {ge.name = "m", ge.res_attrs = [{reuse_input = 2}]}', None),
        ('ge.concat (%a, %b) {ge.name = "m", ge.output_reuse_input, ge.no_padding_continuous_input}', "a:0"),
        ('ge.concat (%a, %b) attrs {_output_reuse_input = true, _no_padding_continuous_output = true} {ge.name = "m"}',
         "a:0"),
        ('ge.concat (%a, %b) {ge.name = "m", ge.output_reuse_input}', "m:0"),
        ('ge.op "Reshape" (%none) {ge.name = "m"}', None),
        ('ge.op "Reshape" {ge.name = "m"}', None),
    ],
)  # fmt: skip
def test_rules(middle: str, expected: str | None) -> None:
    module = _module(
        "%none = ge.absent",
        f'%a = ge.op "Relu" {{ge.name = "a"}} : {T}',
        f'%b = ge.op "Relu" {{ge.name = "b"}} : {T}',
        f"%m = {middle} : {T}",
        f'%end = ge.op "Relu" (%m) {{ge.name = "end"}} : {T}',
    )
    assert _traced(module) == expected


def test_second_output_of_a_split_without_task() -> None:
    module = _module(
        f'%a = ge.op "Relu" {{ge.name = "a"}} : {T}',
        f'%s, %t = ge.split (%a) {{ge.name = "m", ge.output_reuse_input, ge.no_padding_continuous_output}} : {T}, {T}',
        f'%end = ge.op "Relu" (%t) {{ge.name = "end"}} : {T}',
    )
    assert _traced(module) == "a:0"


@pytest.mark.parametrize(("count", "expected"), [(99, "a:0"), (100, None)])
def test_depth(count: int, expected: str | None) -> None:
    lines = [f'%a = ge.op "Relu" {{ge.name = "a"}} : {T}']
    names = ["a", *(f"r{i}" for i in range(count))]
    for i in range(count):
        lines.append(f'%{names[i + 1]} = ge.op "Reshape" (%{names[i]}) {{ge.name = "r{i}"}} : {T}')
    lines.append(f'%end = ge.op "Relu" (%{names[-1]}) {{ge.name = "end"}} : {T}')
    assert _traced(_module(*lines)) == expected


@pytest.mark.parametrize(
    ("owner", "root", "reference"),
    [
        ("", "", True),
        ("attrs {_is_unknown_shape = true}", "", False),
        ("", "attributes {ge.unknown_shape}", True),
    ],
)
def test_formal_inputs(owner: str, root: str, reference: bool) -> None:
    text = f"""
ge.graph @main {root} {{
  %x = ge.data index 0 {{ge.name = "x"}} : {T}
  %c = ge.op "PartitionedCall" (%x) {owner} subgraphs [@inner] {{ge.name = "call"}} : {T}
}}
ge.graph @inner {{
  %f = ge.data index 0 {{ge.name = "f", ge.parent_node_index = 0 : i64}} : {T}
}}"""
    module = Parser(context(), text).parse_module()
    result = _node(module, "f").results[0]
    assert referenced_input(result, ModelGraphs.of(module)) == (0 if reference else None)
    # The graph's input has no input of its own, so the way ends there.
    assert (trace(result, ModelGraphs.of(module)) is None) is reference


def test_gates_are_seen_through() -> None:
    module = _module(
        f'%a, %ctl = ge.op "Relu" {{ge.name = "a"}} : {T}, !ge.control',
        f"%g = ge.gate %a (%ctl) : {T}",
        f'%end = ge.op "Relu" (%g) {{ge.name = "end"}} : {T}',
    )
    found = producer(data_operands(_node(module, "end"))[0])
    assert found is not None
    assert node_name(found.op) == "a"
