"""Plans of whole graphs under the checkers, and the options."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_graphs import offsets, op_named, parsed, random_runs
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.analysis.memory.layout_check import check_layout, check_overlap
from ge_dialect.analysis.memory_check import check_plan
from ge_dialect.dialects.attrs import i64_array
from ge_dialect.dialects.ge.access import get_int, get_ints, graphs, slot_attrs
from ge_dialect.formats.errors import GeError
from ge_dialect.program import compile
from ge_dialect.transforms.layout.ge_insert_identity import GeInsertIdentity
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.memory.reference.inplace import IN_PLACE_TYPES


def plan(module: ModuleOp, **options: object) -> dict[str, int]:
    GePlanMemory(mode="reference", check=True, **options).apply(Context(), module)  # pyright: ignore
    return offsets(module)


def size(module: ModuleOp, name: str) -> int:
    found = get_int(graphs(module)[0], name)
    assert found is not None
    return found


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(0, 35),
    st.sampled_from([1, 3]),
    st.booleans(),
    st.booleans(),
)
def test_marked_graphs_get_safe_plans(
    seed: int, count: int, streams: int, priority: bool, reuse: bool
) -> None:
    module = ModuleOp([random_runs(seed, count, streams)])
    GeInsertIdentity().apply(Context(), module)
    module.verify()
    plan(module, memory_priority=priority, reuse=reuse)
    graph = graphs(module)[0]
    assert check_plan(graph) + check_layout(graph) + check_overlap(graph) == []
    assert size(module, "ge.peak_bytes") >= size(module, "ge.lower_bound_bytes")


@given(st.integers(0, 10**6))
def test_the_same_graph_gives_the_same_plan(seed: int) -> None:
    texts: list[str] = []
    for _ in range(2):
        module = ModuleOp([random_runs(seed, 25, 2)])
        GeInsertIdentity().apply(Context(), module)
        plan(module)
        texts.append(str(module))
    assert texts[0] == texts[1]


CHAIN = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<64xf32>
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<64xf32>
  %c = ge.op "Relu" (%b) {ge.name = "c"} : tensor<64xf32>
  %d = ge.op "Relu" (%c) {ge.name = "d"} : tensor<64xf32>
  ge.net_output (%d) {ge.name = "out"}
}
"""


def test_reuse_switched_off_gives_everything_memory_of_its_own() -> None:
    assert plan(parsed(CHAIN)) == {"x:0": 1536, "a:0": 512, "b:0": 0, "c:0": 512, "d:0": 1024}
    apart = plan(parsed(CHAIN), reuse=False)
    assert len(set(apart.values())) == 5


def test_memory_of_model_inputs_and_outputs_may_be_given_on() -> None:
    """The input is dead when `b` is made; the output holds nothing before `d`."""
    given = plan(parsed(CHAIN), reusable_inputs=(0,), reusable_outputs=(0,))
    assert len(set(given.values())) < len(set(plan(parsed(CHAIN)).values()))


def test_an_output_that_is_read_twice_by_the_user_is_no_zero_copy() -> None:
    module = parsed(CHAIN.replace("ge.net_output (%d)", "ge.net_output (%d, %d)"))
    plan(module)
    assert size(module, "ge.zero_copy_size") == 512
    assert size(module, "ge.peak_bytes") == 1536


ATTRS = """
ge.graph @main {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<64xf32>
  %a = ge.op "Relu" (%x) attrs {{{attrs}}} {{ge.name = "a"}} : tensor<64xf32>
  %b = ge.op "Relu" (%a) {{ge.name = "b"}} : tensor<64xf32>
  %c = ge.op "Relu" (%b) {{ge.name = "c"}} : tensor<64xf32>
  %d = ge.op "Relu" (%c) {{ge.name = "d"}} : tensor<64xf32>
  ge.net_output (%d) {{ge.name = "out"}}
}}
"""


@pytest.mark.parametrize(
    ("attrs", "shares"),
    [
        ("keep = true", True),
        ("no_reuse_mem_flag = true", False),
        ('_batch_label = "one"', False),
        ("atomic_output_index = array<i64: 0>, is_atomic_node = true", False),
        ("atomic_output_index = array<i64: 0>", True),
        (
            "atomic_output_index = array<i64: 0>, is_atomic_node = true, need_gentask_atomic = true",
            True,
        ),
    ],
)
def test_attributes_that_keep_memory_apart(attrs: str, shares: bool) -> None:
    found = plan(parsed(ATTRS.format(attrs=attrs)))
    assert (found["a:0"] == found["c:0"]) is shares


def test_what_another_frameworks_iterator_made_is_kept() -> None:
    """`FrameworkOp` of the original type IteratorV2 neither takes nor gives memory (section 3.1)."""
    text = ATTRS.format(attrs='original_type = "{}"').replace('"Relu" (%x)', '"FrameworkOp" (%x)')
    shared = [plan(parsed(text.replace("{}", x))) for x in ("IteratorV2", "Other")]
    assert [found["a:0"] == found["c:0"] for found in shared] == [False, True]


def test_zeroed_outputs_in_runs_are_placed_by_the_run() -> None:
    """Atomic outputs that feed a continuous input are no part of the area that is zeroed (section 6, step 4)."""
    run = "_no_padding_continuous_input = true, _output_reuse_input = true, _reuse_input_on_dim_index = 0"
    found = plan(
        parsed(f"""
    ge.graph @main {{
      %x = ge.op "Foo" {{ge.name = "x"}} : tensor<64xf32>
      %a = ge.op "Foo" attrs {{atomic_output_index = array<i64: 0>, is_atomic_node = true}} {{ge.name = "a"}}
          : tensor<64xf32>
      %b = ge.op "Foo" (%x) {{ge.name = "b"}} : tensor<64xf32>
      %c = ge.op "PhonyConcat" (%a, %b) attrs {{{run}}} {{ge.name = "c"}} : tensor<128xf32>
      %y = ge.op "Foo" (%c) {{ge.name = "y"}} : tensor<1024xf32>
      ge.net_output (%y) {{ge.name = "out"}}
    }}""")
    )
    assert found["a:0"] == 0
    assert found["b:0"] == 256


@pytest.mark.parametrize(
    ("reads", "attrs", "results", "problem"),
    [
        (
            "%a, %b",
            "_no_padding_continuous_input = true",
            2,
            "inputs without padding and 2 outputs",
        ),
        (
            "%a, %b",
            "_no_padding_continuous_output = true",
            2,
            "outputs without padding and 2 inputs",
        ),
        ("%a, %l", "_no_padding_continuous_input = true", 1, "some have an offset list and some"),
        ("%f, %l", "_no_padding_continuous_input = true", 1, "an offset list and a fusion stride"),
    ],
)
def test_contradictory_attributes_are_an_error_before_planning(
    reads: str, attrs: str, results: int, problem: str
) -> None:
    """Section 11.1 stands before everything else (section 2)."""
    names = ", ".join(f"%r{index}" for index in range(results))
    module = parsed(f"""
    ge.graph @main {{
      %a = ge.op "Foo" {{ge.name = "a"}} : tensor<8xf32>
      %b = ge.op "Foo" {{ge.name = "b"}} : tensor<8xf32>
      %l = ge.op "Foo" attrs {{_output_offset_list_for_continuous = array<i64: 0>}} {{ge.name = "l"}} : tensor<8xf32>
      %f = ge.op "Foo" attrs {{_output_offset_list_for_continuous = array<i64: 0>,
          _output_offset_for_buffer_fusion = array<i64: 32>}} {{ge.name = "f"}} : tensor<8xf32>
      {names} = ge.op "PhonyConcat" ({reads}) attrs {{{attrs}, _output_reuse_input = true,
          _reuse_input_on_dim_index = 0}} {{ge.name = "p"}} : {", ".join(["tensor<16xf32>"] * results)}
    }}""")
    with pytest.raises(GeError, match=f'node "p" .*{problem}'):
        plan(module)


def test_outputs_of_a_known_part_of_a_dynamic_graph() -> None:
    """They may hold something earlier, and are zero copy however often they are read (sections 3.1 and 8.3)."""
    text = CHAIN.replace("ge.net_output (%d)", "ge.net_output (%d, %d)")
    part = text.replace('{ge.name = "x"', '{ge.name = "x", ge.parent_node_index = 0 : i64')
    assert part != text
    module = parsed(part)
    found = plan(module)
    assert size(module, "ge.zero_copy_size") == 1024
    assert found["d:0"] == found["b:0"]  # d is written when b is dead


def test_the_tail_follows_the_list_of_blocks() -> None:
    """Packing sorts the blocks by size (section 4.3); the outputs come in that order (section 8.3)."""
    found = plan(
        parsed("""
    ge.graph @main {
      %x = ge.data index 0 {ge.name = "x"} : tensor<8xf32>
      %a = ge.op "Foo" (%x) {ge.name = "a"} : tensor<8xf32>
      %b = ge.op "Foo" (%x) {ge.name = "b"} : tensor<1024xf32>
      %c = ge.op "Foo" (%x) {ge.name = "c"} : tensor<512xf32>
      ge.net_output (%a, %b, %c) {ge.name = "out"}
    }""")
    )
    assert sorted(found, key=found.__getitem__) == ["b:0", "c:0", "a:0", "x:0"]


@pytest.mark.parametrize(("attrs", "last"), [("", True), (", need_gentask_atomic = true", False)])
def test_padded_inputs_lie_behind_everything_else(attrs: str, last: bool) -> None:
    """Blocks of several producers are put at the end; one block for all of them is not (section 6.7)."""
    found = plan(
        parsed(f"""
    ge.graph @main {{
      %a = ge.op "Foo" {{ge.name = "a"}} : tensor<1024xf32>
      %b = ge.op "Foo" {{ge.name = "b"}} : tensor<1024xf32>
      %s = ge.op "Foo" {{ge.name = "s"}} : tensor<512xf32>
      %h = ge.op "Hcom" (%a, %b) attrs {{continuous_input = true, atomic_input_index = array<i64: -1>{attrs}}}
          {{ge.name = "h"}} : tensor<8xf32>
      %y = ge.op "Foo" (%h, %s) {{ge.name = "y"}} : tensor<8xf32>
    }}""")
    )
    assert (found["a:0"] > found["s:0"]) is last


@pytest.mark.parametrize("kind", ["Merge", "StreamMerge"])
@pytest.mark.parametrize(("stream", "shares"), [(1, True), (0, False)])
def test_what_a_merging_node_reads_from_several_streams_has_one_place(
    kind: str, stream: int, shares: bool
) -> None:
    """The node goes on with whichever input was made; nothing else takes that memory (section 5.5)."""
    module = parsed(f"""
    ge.graph @main {{
      %z = ge.op "Foo" {{ge.name = "z", ge.stream = 0 : i64}} : tensor<64xf32>
      %a = ge.op "Foo" (%z) {{ge.name = "a", ge.stream = 0 : i64}} : tensor<64xf32>
      %b = ge.op "Foo" (%z) {{ge.name = "b", ge.stream = {stream} : i64}} : tensor<64xf32>
      %m = ge.op "{kind}" (%a, %b) {{ge.name = "m", ge.stream = 0 : i64}} : tensor<64xf32>
      %c = ge.op "Foo" (%m) {{ge.name = "c", ge.stream = 0 : i64}} : tensor<64xf32>
      %d = ge.op "Foo" (%c) {{ge.name = "d", ge.stream = 0 : i64}} : tensor<64xf32>
    }}""")
    GePlanMemory(mode="reference").apply(Context(), module)
    found = offsets(module)
    assert (found["a:0"] == found["b:0"]) is shares
    if shares:
        assert found["a:0"] not in (found["c:0"], found["d:0"], found["z:0"])
        assert check_overlap(graphs(module)[0]) == []
        assert check_plan(graphs(module)[0]) == []


def test_memory_types_have_pools_of_their_own() -> None:
    module = parsed(ATTRS.format(attrs='_output_memory_type = ["P2P_DDR"]'))
    plan(module)
    arenas = str(graphs(module)[0].attributes["ge.arenas"])
    assert "p2p_ddr = 512" in arenas
    assert 'ge.spaces = ["p2p_ddr"]' in str(op_named(module, "a"))


def test_memory_outside_the_pools_keeps_its_place() -> None:
    module = parsed(
        ATTRS.format(attrs='_output_memory_type = ["L1"]').replace(
            '{ge.name = "a"}', '{ge.name = "a", ge.offsets = array<i64: 4096>}'
        )
    )
    assert plan(module)["a:0"] == 4096


def test_an_unsafe_plan_is_an_error_with_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from ge_dialect.transforms.memory import ge_plan_memory

    def damaged(plan: object) -> None:
        write(plan)  # pyright: ignore
        op_named(module, "b").attributes["ge.offsets"] = i64_array([512])

    write = ge_plan_memory.write_plan
    monkeypatch.setattr(ge_plan_memory, "write_plan", damaged)
    module = parsed(CHAIN)
    with pytest.raises(GeError, match='not safe: "b":0 is written over its own input "a":0'):
        plan(module)


# --- in place --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(IN_PLACE_TYPES))
def test_every_type_of_the_table_computes_the_same_in_place(kind: str) -> None:
    two = kind in ("Add", "Maximum", "Minimum", "Mul", "Sub")
    element = "i1" if kind == "LogicalNot" else "f32"
    text = f"""
    ge.graph @main {{
      %x = ge.data index 0 {{ge.name = "x"}} : tensor<7x5x{element}>
      %y = ge.op "LogicalNot" (%x) {{ge.name = "y"}} : tensor<7x5x{element}>
      %z = ge.op "{kind}" (%y{", %y" if two else ""}) {{ge.name = "z"}} : tensor<7x5x{element}>
      %r = ge.op "Reshape" (%z) {{ge.name = "r"}} : tensor<35x{element}>
      %w = ge.op "LogicalNot" (%r) {{ge.name = "w"}} : tensor<35x{element}>
      ge.net_output (%w) {{ge.name = "out"}}
    }}"""
    if kind != "LogicalNot":
        text = text.replace('"LogicalNot"', '"Abs"')
    pipeline = "ge-assign-engines,ge-assign-streams,ge-plan-memory{{mode=reference check=true in-place={}}},convert-ge-to-ge-task"
    rng = np.random.default_rng(0)
    x = rng.random((7, 5)) < 0.5 if kind == "LogicalNot" else rng.random((7, 5), np.float32) + 0.1
    outputs = [
        compile(parsed(text), pipeline=pipeline.format(flag)).run({"x": x}).outputs
        for flag in ("false", "true")
    ]
    for plain, written in zip(outputs[0].values(), outputs[1].values(), strict=True):
        np.testing.assert_array_equal(plain, written)


def in_place(text: str) -> dict[str, bool]:
    module = parsed(text)
    plan(module, in_place=True)
    return {
        name: "reuse_input" in slot_attrs(op_named(module, name), "res", 0).data
        for name in ("a", "b", "c", "d")
    }


def test_an_input_that_dies_is_written_over_a_model_input_is_not() -> None:
    assert in_place(CHAIN) == {"a": False, "b": True, "c": True, "d": True}


@pytest.mark.parametrize(
    "change",
    [
        ('"Relu" (%c)', '"Add" (%c, %b)'),  # b is read later
        ("ge.net_output (%d)", "ge.net_output (%d, %b)"),  # b is a model output
        ('(%b) {ge.name = "c"} : tensor<64xf32>', '(%b) {ge.name = "c"} : tensor<64xf16>'),
        ('"Relu" (%b)', '"Softmax" (%b)'),  # not in the table
    ],
)
def test_what_is_still_needed_is_not_written_over(change: tuple[str, str]) -> None:
    assert change[0] in CHAIN
    assert not in_place(CHAIN.replace(*change))["c"]


def test_the_checker_knows_that_memory_written_in_place_has_changed() -> None:
    module = parsed(CHAIN)
    plan(module, in_place=True)
    op_named(module, "d").operands = [op_named(module, "b").results[0]]
    assert check_plan(graphs(module)[0])[0].startswith('"d" reads "b":0')


def test_workspaces_are_scratch_of_their_node() -> None:
    module = parsed(
        CHAIN.replace('{ge.name = "b"}', '{ge.name = "b", ge.workspace_bytes = array<i64: 100>}')
    )
    plan(module)
    (place,) = get_ints(op_named(module, "b"), "ge.workspace_offsets") or []
    taken = offsets(module)
    assert place not in (taken["a:0"], taken["b:0"])
