"""Outputs at fixed distances, and when they cannot be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_graphs import concat, data, graph_of, node, parsed, random_runs, split

from ge_dialect.analysis.memory.clusters import Cluster, clusters, places_from
from ge_dialect.analysis.memory.distances import Ranges, interleaved
from ge_dialect.analysis.memory.model import LayoutError, memory_graph
from ge_dialect.dialects.ge.access import graphs


def places(found: list[Cluster]) -> list[dict[str, int]]:
    return [
        {str(x).replace('"', ""): at for x, at in zip(c.outputs, c.places, strict=True)}
        for c in found
        if len(c.outputs) > 1
    ]


def test_nested_concats_are_one_piece() -> None:
    """Section 12: e, c and d stand behind a and b in the outer run, whatever the order of the nodes."""
    a, b, c, d, e = (node(name, [], 2) for name in "abcde")
    first = concat("pc1", [a.results[0], b.results[0]])
    second = concat("pc2", [c.results[0], d.results[0]])
    outer = concat("pc3", [first.results[0], e.results[0], second.results[0]])
    graph = memory_graph(graph_of(a, b, c, d, e, first, second, outer))
    assert places(clusters(graph)) == [
        {
            "a:0": 0,
            "b:0": 64,
            "e:0": 128,
            "c:0": 192,
            "d:0": 256,
            "pc1:0": 0,
            "pc2:0": 192,
            "pc3:0": 0,
        }
    ]


def test_the_piece_is_as_large_as_the_outer_result() -> None:
    a, b = node("a", [], 2), node("b", [], 2)
    joined = concat("c", [a.results[0], b.results[0]])
    (cluster,) = clusters(memory_graph(graph_of(a, b, joined)))
    assert cluster.size == 160  # 128 bytes, stored


def test_splits_of_a_concat() -> None:
    a, b = node("a", [], 2), node("b", [], 3)
    joined = concat("c", [a.results[0], b.results[0]])
    cut = split("s", joined.results[0], [1, 4])
    found = places(clusters(memory_graph(graph_of(a, b, joined, cut))))
    assert found == [{"a:0": 0, "b:0": 64, "c:0": 0, "s:0": 0, "s:1": 32}]


def test_a_shared_part_is_no_contradiction_but_another_order_is() -> None:
    a, b, c = (node(name, [], 2) for name in "abc")
    values = [x.results[0] for x in (a, b, c)]
    whole, part = concat("whole", values), concat("part", values[1:])
    other = concat("other", [values[0], values[2]])
    graph = graph_of(a, b, c, whole, part)
    assert len(places(clusters(memory_graph(graph)))) == 1
    graph.block.add_op(other)
    with pytest.raises(LayoutError, match=r'node "other".*wants "c":0 64 bytes behind "a":0'):
        clusters(memory_graph(graph))


def test_two_tensors_never_share_bytes() -> None:
    """What lies behind a piece of a split is the next piece: nothing else fits there."""
    a, b = node("a", [], 4), node("b", [], 1)
    cut = split("s", a.results[0], [2, 2])
    joined = concat("c", [cut.results[0], b.results[0]])
    with pytest.raises(LayoutError, match="the bytes there are another's"):
        clusters(memory_graph(graph_of(a, b, cut, joined)))


PADDED = """
ge.graph @main {{
  %a = ge.op "Foo" {{ge.name = "a"}} : tensor<60xf32>
  %b = ge.op "Foo" {{ge.name = "b"{b}}} : tensor<130xf32>
  %c, %d = ge.op "Hcom" (%a, %b) attrs {{continuous_input = true, continuous_output = true}}
      {{ge.name = "c"}} : tensor<60xf32>, tensor<60xf32>
  %e = ge.op "Foo" (%c, %d) attrs {{continuous_input = {chain}}} {{ge.name = "e"}} : tensor<60xf32>
}}
"""


@pytest.mark.parametrize("chain", [True, False])
def test_padded_runs_take_whole_blocks(chain: bool) -> None:
    module = parsed(PADDED.format(b="", chain=str(chain).lower()))
    found = [x for x in clusters(memory_graph(graphs(module)[0])) if x.padded]
    assert places(found) == [{"a:0": 0, "b:0": 512}, {"c:0": 0, "c:1": 512}]
    assert [x.size for x in found] == [1536, 1024]
    assert [x.chained for x in found] == [False, chain]


def test_woven_runs_are_no_overlap() -> None:
    """One piece a batch: the second starts one inner slice behind the first though both span all batches."""
    module = parsed("""
    ge.graph @main {
      %a = ge.op "Foo" {ge.name = "a"} : tensor<4x8xf32>
      %b = ge.op "Foo" {ge.name = "b"} : tensor<4x8xf32>
      %c = ge.concat "PhonyConcat" (%a, %b) {ge.name = "c", ge.no_task, ge.no_padding_continuous_input,
          ge.output_reuse_input, ge.reuse_input_on_dim_index = 1 : i64} : tensor<4x16xf32>
    }""")
    graph = memory_graph(graphs(module)[0])
    assert places(clusters(graph)) == [{"a:0": 0, "b:0": 32, "c:0": 0}]
    assert interleaved(graph) == {0: 0, 1: 0}


def test_a_run_needs_its_dimension_index() -> None:
    module = parsed("""
    ge.graph @main {
      %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
      %c = ge.op "Foo" (%a, %a) attrs {_no_padding_continuous_input = true} {ge.name = "c"} : tensor<8xf32>
    }""")
    with pytest.raises(LayoutError, match="no _reuse_input_on_dim_index"):
        clusters(memory_graph(graphs(module)[0]))


def test_a_single_input_without_padding_needs_its_dimension_index_too() -> None:
    module = parsed("""
    ge.graph @main {
      %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
      %c = ge.op "Foo" (%a) attrs {_no_padding_continuous_input = true, _output_reuse_input = true} {ge.name = "c"}
          : tensor<8xf32>
    }""")
    with pytest.raises(LayoutError, match="no _reuse_input_on_dim_index"):
        clusters(memory_graph(graphs(module)[0]))


def test_a_chain_of_padded_runs_takes_no_strides_of_producers() -> None:
    """Outputs end to end that are inputs end to end: every one takes its aligned size (spec/memory.md 6.5)."""
    text = """
    ge.graph @main {{
      %a, %b = ge.op "Foo" attrs {{continuous_output = true{}}} {{ge.name = "a"}} : tensor<8xf32>, tensor<8xf32>
      %c = ge.op "Foo" (%a, %b) attrs {{continuous_input = true}} {{ge.name = "c"}} : tensor<8xf32>
    }}"""
    assert clusters(memory_graph(graphs(parsed(text.format("")))[0]))[0].chained
    given = ", _output_offset_for_buffer_fusion = array<i64: 512, 512>"
    with pytest.raises(LayoutError, match=r'"a".* strides of its own'):
        clusters(memory_graph(graphs(parsed(text.format(given)))[0]))


def test_places_from_any_output() -> None:
    a, b = node("a", [], 2), node("b", [], 2)
    joined = concat("c", [a.results[0], b.results[0]])
    graph = memory_graph(graph_of(a, b, joined))
    assert places_from(graph, graph.outputs[1], 1000) == {0: 936, 1: 1000, 2: 936}


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 5)), max_size=20), st.integers(-9, 9)
)
def test_ranges_meet_as_sets_of_bytes(rows: list[tuple[int, int]], shift: int) -> None:
    taken: set[int] = set()
    ranges = Ranges()
    for start, size in rows:
        piece = [(start, start + size)]
        bytes_of = set(range(start + shift, start + size + shift))
        assert ranges.meets(piece, shift) == bool(taken & bytes_of)
        if not taken & bytes_of:
            ranges.add(piece, shift)
            taken |= bytes_of
    assert sum(end - start for start, end in ranges) == len(taken)


@given(st.integers(0, 10**6))
def test_clusters_or_an_error(seed: int) -> None:
    graph = memory_graph(random_runs(seed, 15))
    try:
        found = clusters(graph)
    except LayoutError:
        return
    assert sorted(x.uid for cluster in found for x in cluster.outputs) == list(
        range(len(graph.outputs))
    )
    for cluster in found:
        ranges = Ranges()
        for output, at in zip(cluster.outputs, cluster.places, strict=True):
            assert at >= 0
            assert at + output.exact <= cluster.size
            if output.source is None:
                assert not ranges.meets([(at, at + output.exact)])
                ranges.add([(at, at + output.exact)])


def test_data_may_lie_in_a_run_but_a_constant_may_not() -> None:
    x, a = data("x", 2), node("a", [], 2)
    clusters(memory_graph(graph_of(x, a, concat("c", [x.results[0], a.results[0]]))))
    module = parsed("""
    ge.graph @main {
      %k = ge.constant value dense<1.0> : tensor<8xf32> {ge.name = "k"} : tensor<8xf32>
      %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
      %c = ge.concat "PhonyConcat" (%k, %a) {ge.name = "c", ge.no_task, ge.no_padding_continuous_input,
          ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
    }""")
    with pytest.raises(LayoutError, match="constant or variable has its place already"):
        clusters(memory_graph(graphs(module)[0]))
