"""The search: set, order, graphs, cost (spec/host_execution.md section 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.dialects.host_kernel_table import HOST_KERNELS, NAMED_BY_THE_SOURCES
from ge_dialect.kernels import OpSpec, find
from ge_dialect.kernels.errors import UnsupportedOpError
from ge_dialect.transforms.host import search as search_module
from ge_dialect.transforms.host.conditions import Rules
from ge_dialect.transforms.host.ge_host_exec import GeHostExec
from ge_dialect.transforms.host.search import Role, search

Read = Callable[[str], ModuleOp]


def roles(module: ModuleOp, rules: Rules | None = None) -> dict[str, str]:
    found = search(module, rules or Rules())
    return {node_name(op): role.name for op, role in found.members.items()}


HEAD = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %k = ge.constant value dense<1> : tensor<1xi64> {ge.name = "k"} : tensor<1xi64>
  %none = ge.absent
"""


def test_the_order_of_arrival_does_not_show(read: Read) -> None:
    """A node whose second input comes late is looked at again."""
    late = read(
        HEAD
        + """
  %s = ge.op "Shape" (%x) {ge.name = "s"} : tensor<1xi64>
  %a = ge.op "Mul" (%s, %k) {ge.name = "a"} : tensor<1xi64>
  %b = ge.op "Mul" (%a, %k) {ge.name = "b"} : tensor<1xi64>
  %j = ge.op "Add" (%s, %b) {ge.name = "j"} : tensor<1xi64>
}"""
    )
    assert roles(late) == {"s": "ANCHOR", "a": "MOVED", "b": "MOVED", "j": "MOVED"}


def test_gates_are_looked_through(read: Read) -> None:
    module = read(
        HEAD
        + """
  %s = ge.op "Shape" (%x) {ge.name = "s"} : tensor<1xi64>
  %d, %ctl = ge.op "Dev" (%x) {ge.name = "d"} : tensor<64xf32>, !ge.control
  %g = ge.gate %s (%ctl) : tensor<1xi64>
  %t = ge.token %s : tensor<1xi64>
  %a = ge.op "Mul" (%g, %k) {ge.name = "a"} : tensor<1xi64>
}"""
    )
    assert roles(module) == {"s": "ANCHOR", "a": "MOVED"}


def test_absent_inputs_keep_a_node_unless_allowed(read: Read) -> None:
    module = read(
        HEAD
        + """
  %s = ge.op "Shape" (%x) {ge.name = "s"} : tensor<2xi64>
  %c = ge.op "StridedSliceV2" (%s, %k, %k, %none, %none) {ge.name = "c"} : tensor<1xi64>
}"""
    )
    assert roles(module) == {"s": "ANCHOR"}
    assert roles(module, Rules(absent_inputs=True)) == {"s": "ANCHOR", "c": "MOVED"}


@pytest.mark.parametrize("desc", ["", "type = none"])
def test_a_wired_input_without_descriptor_keeps_a_node_of_any_size(read: Read, desc: str) -> None:
    """The white list is about sizes: every input slot of MapIndex must have a descriptor all the same."""
    module = read(
        HEAD
        + f"""
  %s = ge.op "Shape" (%x) {{ge.name = "s"}} : tensor<2xi64>
  %m = ge.op "MapIndex" (%s, %k) {{ge.name = "m", ge.kernel_lib = "AIcoreEngine", ge.arg_attrs = [{{{desc}}}, {{}}]}}
      : tensor<64xi64>
}}"""
    )
    assert roles(module) == {"s": "ANCHOR"} | ({} if desc else {"m": "MOVED"})


def test_a_second_run_changes_nothing(read: Read) -> None:
    module = read(
        HEAD
        + """
  %s = ge.op "Shape" (%x) {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %k) {ge.name = "a"} : tensor<2xi64>
  %y = ge.op "If" (%k, %a) subgraphs [@then, @then2] {ge.name = "if"} : tensor<2xi64>
}
ge.graph @then attributes {ge.unknown_shape} {
  %p = ge.data index 0 {ge.name = "p", ge.parent_node_index = 1 : i64} : tensor<2xi64>
  %b = ge.op "Mul" (%p, %p) {ge.name = "b"} : tensor<2xi64>
}
ge.graph @then2 attributes {ge.unknown_shape} {
  %q = ge.op "Shape" () {ge.name = "q"} : tensor<2xi64>
  %c = ge.op "Mul" (%q, %q) {ge.name = "c"} : tensor<2xi64>
}"""
    )
    GeHostExec().apply(Context(), module)
    once = str(module)
    GeHostExec().apply(Context(), module)
    assert str(module) == once
    # An anchor in a branch is not where a search starts.
    assert once.count("ge.small_shape_host_cpu") == 2


BRANCH = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %s = ge.op "Shape" (%x) {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %s) {ge.name = "a"} : tensor<2xi64>
  %y = ge.op "If" (%s, %a, %x) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xi64>
}
ge.graph @then attributes {ge.dynamic_shape_partitioned} {
  %p = ge.data index 0 {ge.name = "p", ge.parent_node_index = 1 : i64} : tensor<2xi64>
  %q = ge.data index 1 {ge.name = "q", ge.parent_node_index = 2 : i64} : tensor<2xf32>
  %t = ge.op "Shape" (%q) {ge.name = "t"} : tensor<2xi64>
  %b = ge.op "Mul" (%p, %t) {ge.name = "b"} : tensor<2xi64>
  %c = ge.op "Mul" (%t, %t) {ge.name = "c"} : tensor<2xi64>
}
ge.graph @else {
}"""


def test_an_input_of_a_branch_may_come_late(read: Read) -> None:
    """The If is reached by `s` first and by `a` later. In the branch `t` is no start, but it is on the host."""
    found = roles(read(BRANCH))
    assert found == {"s": "ANCHOR", "a": "MOVED", "p": "ENTERED", "b": "MOVED"}


CALLS = """
ge.graph @main attributes {ge.unknown_shape} {
  %x = ge.data index 0 attrs {_host_tensor = true} {ge.name = "x"} : tensor<2xi64>
  %k = ge.constant value dense<1> : tensor<1xi64> {ge.name = "k"} : tensor<1xi64>
  %a = ge.op "PartitionedCall" (%k, %x) subgraphs [@through] {ge.name = "a"} : tensor<1xi64>
  %b = ge.op "PartitionedCall" (%a, %x) subgraphs [@outer] {ge.name = "b"} : tensor<2xi64>
}
ge.graph @through attributes {ge.unknown_shape} {
  %p = ge.data index 0 {ge.name = "p", ge.parent_node_index = 0 : i64} : tensor<1xi64>
  ge.net_output (%p) {ge.name = "out"}
}
ge.graph @outer attributes {ge.unknown_shape} {
  %q = ge.data index 0 {ge.name = "q", ge.parent_node_index = 0 : i64} : tensor<1xi64>
  %r = ge.data index 1 {ge.name = "r", ge.parent_node_index = 1 : i64} : tensor<2xi64>
  %c = ge.op "PartitionedCall" (%q, %r) subgraphs [@inner] {ge.name = "c"} : tensor<2xi64>
}
ge.graph @inner attributes {ge.unknown_shape} {
  %u = ge.data index 0 {ge.name = "u", ge.parent_node_index = 0 : i64} : tensor<1xi64>
  %v = ge.data index 1 {ge.name = "v", ge.parent_node_index = 1 : i64} : tensor<2xi64>
  %m = ge.op "Mul" (%u, %v) {ge.name = "m"} : tensor<2xi64>
}"""


def test_producers_are_found_through_calls_and_out_of_graphs(read: Read) -> None:
    """`u` is the constant, through @through and out of @outer; `v` ends at the root's input, so its own producer, `r`,
    counts, which is a host node already."""
    found = roles(read(CALLS))
    assert found["m"] == "MOVED"
    assert {found[name] for name in "pqruv"} == {Role.ENTERED.name}


def test_a_graph_of_known_shape_is_not_called(read: Read) -> None:
    text = CALLS.replace("@inner attributes {ge.unknown_shape}", "@inner")
    module = read(text)
    assert "m" not in roles(module)
    skipped = search(module, Rules()).skipped
    assert [(graph.sym_name.data, why) for graph, why in skipped] == [("inner", "static-graph")]


def test_a_single_operator_is_left_alone(read: Read) -> None:
    text = (
        HEAD
        + '%s = ge.op "Shape" (%x) attrs {_single_op_scene = true} {ge.name = "s"} : tensor<2xi64> }'
    )
    assert roles(read(text)) == {}
    silenced = text.replace("@main {", "@main attributes {ge.single_op_scene = false} {")
    assert roles(read(silenced)) == {"s": "ANCHOR"}


@pytest.mark.parametrize("count", [200, 800])
def test_work_is_linear(read: Read, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """`count` inputs of one node that become host values one by one, and a chain behind it that would be passed down
    `count` times: a fixed number of questions an edge."""
    asked = 0
    is_anchor = search_module.is_anchor
    readers = search_module.readers

    def counting(op: Any) -> bool:
        nonlocal asked
        asked += 1
        return is_anchor(op)

    def counting_readers(value: Any) -> Any:
        nonlocal asked
        asked += 1
        return readers(value)

    lines = [
        f'%a{k} = ge.op "Mul" (%s, %s) {{ge.name = "a{k}"}} : tensor<1xi64>' for k in range(count)
    ]
    names = ", ".join(f"%a{k}" for k in range(count))
    lines.append(f'%c0 = ge.op "AddN" ({names}) {{ge.name = "c0"}} : tensor<1xi64>')
    lines += [
        f'%c{k} = ge.op "Mul" (%c{k - 1}, %a{k}) {{ge.name = "c{k}"}} : tensor<1xi64>'
        for k in range(1, count)
    ]
    body = "\n".join(lines)
    text = f"""{HEAD}
  %s = ge.op "Shape" (%x) {{ge.name = "s"}} : tensor<1xi64>
  {body}
}}"""
    module = read(text)
    monkeypatch.setattr(search_module, "is_anchor", counting)
    monkeypatch.setattr(search_module, "readers", counting_readers)
    assert len(roles(module)) == 2 * count + 1
    assert asked < 16 * count


def test_every_host_kernel_can_be_computed() -> None:
    """The types that the table adds to those of the sources have kernels here, as GE's or as ONNX's operator."""
    for kind in HOST_KERNELS:
        if kind in NAMED_BY_THE_SOURCES:
            continue
        assert _has_kernel(kind), kind
    assert not _has_kernel("Frobnicate")


def _has_kernel(kind: str) -> bool:
    for source in (None, SourceOp("ai.onnx", kind, 13)):
        try:
            find(OpSpec(kind, {}, 1, source))
        except UnsupportedOpError:
            continue
        return True
    return False


def test_nothing_in_a_module_without_graphs() -> None:
    assert not search(ModuleOp([]), Rules()).members
