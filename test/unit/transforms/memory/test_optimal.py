"""`mode=optimal`: safe under every order, never above GE's assigner, tight where that can be told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_graphs import random_mixed
from run_graphs import op_named, parsed, random_runs
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.analysis.memory.layout_check import check_layout
from ge_dialect.analysis.memory_check import check_plan
from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.attrs import i64_array, string, text_of
from ge_dialect.dialects.ge import GraphOp
from ge_dialect.dialects.ge.access import ge_type, get_int, get_ints, graphs, slot_attrs
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.layout.ge_insert_identity import GeInsertIdentity
from ge_dialect.transforms.memory.ge_plan_memory import CHECK_VARIABLE, GePlanMemory


def planned(graph: GraphOp, **options: object) -> GraphOp:
    GePlanMemory(budget_ms=200, search_nodes=500, **options).apply(  # pyright: ignore
        Context(), ModuleOp([graph])
    )
    return graph


def number(graph: GraphOp, name: str) -> int:
    found = get_int(graph, name)
    assert found is not None
    return found


def expect_good(make_graph: object, **options: object) -> None:
    """A plan is safe, not below its bound, and not above GE's assigner."""
    assert callable(make_graph)
    graph = planned(make_graph(), **options)
    assert check_plan(graph) + check_layout(graph) == []
    peak, bound = number(graph, "ge.peak_bytes"), number(graph, "ge.lower_bound_bytes")
    assert bound <= number(graph, "ge.plain_bound_bytes")
    assert bound <= peak
    reference = planned(make_graph(), mode="reference")
    assert check_plan(reference) == []
    assert number(reference, "ge.lower_bound_bytes") <= number(reference, "ge.peak_bytes")
    assert peak <= number(reference, "ge.peak_bytes")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 40), st.integers(1, 4), st.booleans())
def test_mixed_graphs(seed: int, count: int, streams: int, in_place: bool) -> None:
    expect_good(lambda: random_mixed(seed, count, streams), in_place=in_place)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 30), st.integers(1, 3))
def test_graphs_with_runs(seed: int, count: int, streams: int) -> None:
    def make_graph() -> GraphOp:
        module = ModuleOp([random_runs(seed, count, streams)])
        for op in graphs(module)[0].block.ops:
            if ge_type(op) == "Foo" and op.operands[0].type == op.results[0].type:
                op.properties["type"] = string("Relu" if len(op.operands) == 1 else "AddN")
        GeInsertIdentity().apply(Context(), module)
        graph = graphs(module)[0]
        graph.detach()
        return graph

    expect_good(make_graph)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_same_graph_gives_the_same_plan(seed: int, streams: int) -> None:
    texts = [str(planned(random_mixed(seed, 30, streams))) for _ in range(2)]
    assert texts[0] == texts[1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_planning_again_changes_nothing(seed: int, streams: int) -> None:
    graph = planned(random_mixed(seed, 30, streams))
    once = [dict(op.attributes) for op in graph.block.ops]
    graph.detach()
    planned(graph)
    assert [dict(op.attributes) for op in graph.block.ops] == once


def test_without_reuse_everything_has_memory_of_its_own() -> None:
    graph = planned(random_mixed(3, 30), reuse=False)
    assert check_plan(graph) == []
    assert number(graph, "ge.peak_bytes") == number(graph, "ge.lower_bound_bytes")


STREAMS = """
ge.graph @main {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<64xf32>
  %a = ge.op "Foo" (%x) {{ge.name = "a", ge.stream = 0 : i64}} : tensor<64xf32>
  %r{token} = ge.op "Foo" (%a) {{ge.name = "r", ge.stream = 1 : i64}} : tensor<64xf32>{control}
  %b = ge.op "Relu" (%a{wait}) {{ge.name = "b", ge.stream = 0 : i64}} : tensor<64xf32>
  %y = ge.op "Foo" (%b, %r) {{ge.name = "y", ge.stream = 0 : i64}} : tensor<64xf32>
  ge.net_output (%y) {{ge.name = "out", ge.stream = 0 : i64}}
}}
"""


@pytest.mark.parametrize("ordered", [False, True])
def test_another_stream_must_be_done_before_memory_is_written_over(ordered: bool) -> None:
    """b may write over a only when it waits for r, which reads a on another stream."""
    module = parsed(
        STREAMS.format(token=", %c", control=", !ge.control", wait=", %c")
        if ordered
        else STREAMS.format(token="", control="", wait="")
    )
    GePlanMemory(check=True).apply(Context(), module)
    assert ("reuse_input" in slot_attrs(op_named(module, "b"), "res", 0).data) == ordered


def test_several_streams_get_the_heaviest_antichain() -> None:
    """a and c are large; nothing orders their streams, though in the order of nodes a is dead when c is written."""
    text = """
    ge.graph @main {
      %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
      %a = ge.op "Foo" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<1000xf32>
      %b = ge.op "Foo" (%a) {ge.name = "b", ge.stream = 0 : i64} : tensor<64xf32>
      %p = ge.op "Foo" (%b) {ge.name = "p", ge.stream = 0 : i64} : tensor<64xf32>
      %c = ge.op "Foo" (%x) {ge.name = "c", ge.stream = 1 : i64} : tensor<1000xf32>
      %d = ge.op "Foo" (%c) {ge.name = "d", ge.stream = 1 : i64} : tensor<64xf32>
      %q = ge.op "Foo" (%d) {ge.name = "q", ge.stream = 1 : i64} : tensor<64xf32>
      %y = ge.op "Foo" (%p, %q) {ge.name = "y", ge.stream = 0 : i64} : tensor<64xf32>
      ge.net_output (%y) {ge.name = "out", ge.stream = 0 : i64}
    }"""
    graph = graphs(parsed(text))[0]
    graph.detach()
    planned(graph)
    # A thousand floats take 4096 bytes, the readers of a and c 512 each.
    assert number(graph, "ge.lower_bound_bytes") == number(graph, "ge.peak_bytes") == 2 * 4608
    assert text_of(graph.attributes["ge.lower_bound_kind"]) == "antichain"


def test_the_remark_says_what_the_bound_is() -> None:
    with collect_remarks() as heard:
        planned(random_mixed(5, 30))
    args = heard.remarks[-1].args
    assert args["bound_kind"] == "max live"
    assert args["peak"] >= args["bound"]
    assert args["plain_bound"] >= args["bound"]


def test_a_remark_says_whose_bytes_the_peak_is() -> None:
    for seed in range(6):
        graph = random_mixed(seed, 30)
        with collect_remarks() as heard:
            planned(graph, in_place=False)
        why, peak = heard.remarks[-2:]
        assert why.message.startswith(f'most in use while "{why.args["busiest"]}" runs: ')
        # On one stream that is the bound.
        assert why.args["in_use"] == peak.args["bound"]
        sizes = [int(part.split()[-1]) for part in why.message.partition(" bytes, ")[2].split(", ")]
        assert sum(sizes) == why.args["in_use"]
        assert sizes[:4] == sorted(sizes[:4], reverse=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_ms": -1}, "budget-ms should not be negative, got -1"),
        ({"search_nodes": -5}, "search-nodes should not be negative, got -5"),
        ({"reusable_inputs": (99,)}, "reusable-inputs names 99, but the graph has "),
        ({"reusable_outputs": (-1,)}, "reusable-outputs names -1, but the graph has "),
    ],
)
def test_options_that_no_graph_has(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GeError, match=f"ge-plan-memory: {message}"):
        GePlanMemory(**options).apply(Context(), ModuleOp([random_mixed(1, 5)]))


@pytest.mark.parametrize("mode", ["optimal", "reference"])
def test_a_workspace_of_no_bytes_has_a_place_too(mode: str) -> None:
    graph = parsed(
        """
        ge.graph @g {
          %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
          %a = ge.op "Foo" (%x) {ge.name = "a", ge.workspace_bytes = array<i64: 0, 600, 0>} : tensor<64xf32>
          ge.net_output (%a) {ge.name = "out"}
        }
        """
    )
    GePlanMemory(mode=mode, check=True).apply(Context(), graph)  # pyright: ignore
    offsets = get_ints(op_named(graph, "a"), "ge.workspace_offsets")
    assert offsets is not None
    assert len(offsets) == 3


def test_debug_mode_checks_every_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ge_dialect.transforms.memory.ge_plan_memory.check_plan", lambda _: ["it is wrong"]
    )
    monkeypatch.delenv(CHECK_VARIABLE, raising=False)
    planned(random_mixed(1, 5))
    for options, variable in (({"check": True}, "0"), ({}, "1")):
        monkeypatch.setenv(CHECK_VARIABLE, variable)
        with pytest.raises(GeError, match="the memory plan is not safe: it is wrong"):
            planned(random_mixed(1, 5), **options)


@pytest.mark.parametrize("seed", range(4))
def test_every_member_of_a_run_is_held_in_its_place(seed: int) -> None:
    """Shifting any output that is part of a run, or a reference, is found."""
    module = ModuleOp([random_runs(seed, 30)])
    GeInsertIdentity().apply(Context(), module)
    GePlanMemory().apply(Context(), module)
    graph = graphs(module)[0]
    bound_ops = [op for op in graph.block.ops if "ge.output_reuse_input" in op.attributes]
    bound = {value for op in bound_ops for value in (*op.operands, *op.results)}
    shifted = 0
    for op in graph.block.ops:
        offsets = get_ints(op, "ge.offsets") or []
        for index, at in enumerate(offsets):
            if at < 0 or op.results[index] not in bound:
                continue
            for step in (-512, -32, 32, 512):
                changed = list(offsets)
                changed[index] = at + step
                op.attributes["ge.offsets"] = i64_array(changed)
                assert check_plan(graph) + check_layout(graph), (op, index, step)
                shifted += 1
        if offsets:
            op.attributes["ge.offsets"] = i64_array(offsets)
    assert shifted
    assert check_plan(graph) + check_layout(graph) == []


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(0, 35),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["optimal", "reference"]),
    st.booleans(),
    st.booleans(),
)
def test_no_plan_is_below_its_bound(
    seed: int, count: int, streams: int, mode: str, in_place: bool, reuse: bool
) -> None:
    """On random graphs with views, concats and splits without task; nor below the other, without writing in place."""
    module = ModuleOp([random_runs(seed, count, streams)])
    GeInsertIdentity().apply(Context(), module)
    GePlanMemory(mode=mode, in_place=in_place, reuse=reuse, budget_ms=50).apply(Context(), module)  # pyright: ignore
    graph = graphs(module)[0]
    peak = number(graph, "ge.peak_bytes")
    assert number(graph, "ge.lower_bound_bytes") <= peak
    assert in_place or number(graph, "ge.plain_bound_bytes") <= peak
