"""The reference's checks: each finds its kind of damage in a plan that was right."""

from __future__ import annotations

import pytest
from run_graphs import op_named, parsed
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

from ge_dialect.analysis.memory.layout_check import check_layout, check_overlap
from ge_dialect.dialects.attrs import i64, i64_array
from ge_dialect.dialects.ge import GraphOp
from ge_dialect.dialects.ge.access import get_ints, graphs, set_slot_attr
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory

TEXT = """
ge.graph @main {
  %a = ge.op "Foo" {ge.name = "a"} : tensor<60xf32>
  %b = ge.op "Foo" {ge.name = "b"} : tensor<60xf32>
  %c = ge.concat "PhonyConcat" (%a, %b) {ge.name = "c", ge.no_task, ge.no_padding_continuous_input,
      ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<120xf32>
  %s, %t = ge.split "PhonySplit" (%c) {ge.name = "s", ge.no_task, ge.no_padding_continuous_output,
      ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<60xf32>, tensor<60xf32>
  %v = ge.op "Reshape" (%s) {ge.name = "v"} : tensor<6x10xf32>
  %h, %i = ge.op "Hcom" (%t, %v) attrs {continuous_output = true} {ge.name = "h"}
      : tensor<60xf32>, tensor<60xf32>
  %d = ge.op "Foo" (%h, %i) {ge.name = "d"} : tensor<60xf32>
  %e = ge.op "Foo" (%d) {ge.name = "e"} : tensor<60xf32>
  ge.net_output (%e) {ge.name = "out"}
}
"""


@pytest.fixture
def module() -> ModuleOp:
    found = parsed(TEXT)
    GePlanMemory(mode="reference", check=True).apply(Context(), found)
    assert check_layout(root(found)) == []
    assert check_overlap(root(found)) == []
    return found


def root(module: ModuleOp) -> GraphOp:
    return graphs(module)[0]


def move(module: ModuleOp, name: str, index: int, by: int) -> list[str]:
    op = op_named(module, name)
    offsets = get_ints(op, "ge.offsets")
    assert offsets is not None
    offsets[index] += by
    op.attributes["ge.offsets"] = i64_array(offsets)
    return check_layout(root(module))


@pytest.mark.parametrize(
    ("name", "index", "problem"),
    [
        ("b", 0, 'inputs of "c": "b":0 is at'),
        ("s", 1, 'outputs of "s": "s":1 is at'),
        ("v", 0, '"v":0 is not at the place of "s":0'),
        ("h", 1, 'outputs of "h": "h":1 is at'),
        ("c", 0, '"c":0 is not at the place of "a":0'),
    ],
)
def test_a_moved_output_is_found(module: ModuleOp, name: str, index: int, problem: str) -> None:
    assert any(x.startswith(problem) for x in move(module, name, index, 32))


def test_a_missing_place_is_found(module: ModuleOp) -> None:
    assert '"d":0 has no place' in move(module, "d", 0, -(10**9))


def test_types_without_memory_need_no_place() -> None:
    found = parsed("""
    ge.graph @main {
      %a = ge.op "HvdWait" {ge.name = "a"} : tensor<60xf32>
      %b = ge.op "Foo" (%a) {ge.name = "b"} : tensor<60xf32>
      ge.net_output (%b) {ge.name = "out"}
    }""")
    GePlanMemory(mode="reference").apply(Context(), found)
    assert get_ints(op_named(found, "a"), "ge.offsets") == [-1]
    assert check_layout(root(found)) == []


def test_an_output_too_small_for_its_inputs_is_found(module: ModuleOp) -> None:
    set_slot_attr(op_named(module, "c"), "res", 0, "size", i64(448))
    problems = check_layout(root(module))
    assert any('inputs of "c" end at' in x for x in problems)
    assert any('outputs of "s" end at' in x for x in problems)


def add(module: ModuleOp, name: str, key: str, value: list[int]) -> list[str]:
    op_named(module, name).properties["attrs"] = DictionaryAttr({key: from_python(value)})
    return check_layout(root(module))


def test_offset_lists_on_some_inputs_only(module: ModuleOp) -> None:
    problems = add(module, "a", "_output_offset_list_for_continuous", [0])
    assert problems[0] == '"c" has inputs of which some have an offset list and some have none'


def test_a_fusion_stride_that_is_not_kept(module: ModuleOp) -> None:
    assert (
        'inputs of "c": "b":0 is at'
        in add(module, "a", "_output_offset_for_buffer_fusion", [256])[0]
    )


def test_overlap_of_living_outputs_is_found(module: ModuleOp) -> None:
    d, h = op_named(module, "d"), op_named(module, "h")
    offsets = get_ints(h, "ge.offsets")
    assert offsets is not None
    d.attributes["ge.offsets"] = i64_array([offsets[1]])
    (problem,) = check_overlap(root(module))
    assert '"d":0 in hbm' in problem
    assert 'overlaps "h":1' in problem


def test_marks_that_contradict_the_slots() -> None:
    found = parsed("""
    ge.graph @main {
      %a = ge.op "Foo" {ge.name = "a"} : tensor<60xf32>
      %b, %c = ge.op "Foo" (%a, %a) attrs {_no_padding_continuous_input = true,
          _no_padding_continuous_output = true} {ge.name = "b"} : tensor<60xf32>, tensor<60xf32>
    }""")
    problems = check_layout(root(found))
    assert '"b" has inputs without padding and 2 outputs, not one' in problems
    assert '"b" has outputs without padding and 2 inputs, not one' in problems
