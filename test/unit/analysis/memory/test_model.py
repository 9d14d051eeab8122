"""A graph as the memory stage sees it."""

from __future__ import annotations

from run_graphs import parsed

from ge_dialect.analysis.memory.model import MemoryGraph, Output, memory_graph, nopadding_bytes
from ge_dialect.dialects.ge.access import graphs


def model(text: str) -> MemoryGraph:
    return memory_graph(graphs(parsed(f"ge.graph @main {{{text}}}"))[0])


def output(graph: MemoryGraph, name: str, index: int = 0) -> Output:
    return next(x for x in graph.outputs if x.node.name == name and x.index == index)


def test_sizes_exact_stored_and_given() -> None:
    graph = model("""
      %a = ge.data index 0 {ge.name = "a"} : tensor<60xf32>
      %b, %n = ge.op "Foo" (%a) {ge.name = "b", ge.res_attrs = [{size = 352 : i64}, {}]} : tensor<60xf32>, none
    """)
    assert [(x.exact, x.stored) for x in graph.outputs] == [(240, 288), (240, 352), (0, 0)]


def test_sizes_along_a_dimension() -> None:
    graph = model('%a = ge.data index 0 {ge.name = "a"} : tensor<2x3x5xf32>')
    assert [nopadding_bytes(graph.outputs[0], dim) for dim in range(4)] == [120, 60, 20, None]


def test_gates_and_tokens_are_looked_through() -> None:
    graph = model("""
      %a = ge.op "Foo" {ge.name = "a"} : tensor<2xf32>
      %t = ge.token %a : tensor<2xf32>
      %b = ge.op "Foo" {ge.name = "b"} : tensor<2xf32>
      %g = ge.gate %b (%t) : tensor<2xf32>
      %c = ge.op "Foo" (%g) {ge.name = "c"} : tensor<2xf32>
    """)
    a, b, c = graph.nodes
    assert [x.name for x in graph.nodes] == ["a", "b", "c"]
    assert c.inputs == [b.outputs[0]]
    assert c.before == [a]


def test_consumers_are_in_the_sources_order_where_it_is_given() -> None:
    text = """
      %a = ge.op "Foo" {{ge.name = "a"{}}} : tensor<2xf32>
      %b = ge.op "Foo" (%a) {{ge.name = "b"}} : tensor<2xf32>
      %c = ge.op "Foo" (%a, %a) {{ge.name = "c"}} : tensor<2xf32>
    """

    def order(marks: str) -> list[tuple[str, int]]:
        found = output(model(text.format(marks)), "a").consumers
        return [(node.name, slot) for node, slot in found]

    assert order("") == [("b", 0), ("c", 0), ("c", 1)]
    assert order(', ge.consumers = ["0:c:1", "0:b:0", "0:c:0"]') == [("c", 1), ("b", 0), ("c", 0)]


def test_references() -> None:
    """Views, names with `reference`, `reuse_input`, and runs without padding with the output on input 0."""
    graph = model("""
      %a = ge.data index 0 {ge.name = "a"} : tensor<4xf32>
      %v = ge.op "Reshape" (%a) {ge.name = "v"} : tensor<2x2xf32>
      %k = ge.op "Reshape" (%a) {ge.name = "k", ge.kernel_lib = "AIcoreEngine"} : tensor<2x2xf32>
      %r, %s = ge.op "Foo" (%a, %v) attrs {reference = true} {ge.name = "r",
          ge.arg_attrs = [{name = "p"}, {name = "q"}], ge.res_attrs = [{name = "q"}, {name = "z"}]}
          : tensor<4xf32>, tensor<4xf32>
      %n = ge.op "Foo" (%a, %v) {ge.name = "n", ge.arg_attrs = [{name = "p"}, {name = "q"}],
          ge.res_attrs = [{name = "q"}]} : tensor<4xf32>
      %u = ge.op "Foo" (%a, %v) {ge.name = "u", ge.res_attrs = [{reuse_input = 1 : i64}]} : tensor<4xf32>
      %c = ge.concat "PhonyConcat" (%u, %n) {ge.name = "c", ge.no_padding_continuous_input,
          ge.output_reuse_input} : tensor<8xf32>
      %d = ge.concat "PhonyConcat" (%u, %n) {ge.name = "d", ge.no_padding_continuous_input} : tensor<8xf32>
      %e, %f = ge.split "PhonySplit" (%n) {ge.name = "e", ge.no_padding_continuous_output,
          ge.output_reuse_input} : tensor<2xf32>, tensor<2xf32>
    """)
    sources = {
        str(x).replace('"', ""): None if x.source is None else x.source.node.name
        for x in graph.outputs
    }
    assert sources == {
        "a:0": None,
        "v:0": "a",
        "k:0": None,
        "r:0": "v",
        "r:1": None,
        "n:0": None,
        "u:0": "v",
        "c:0": "u",
        "d:0": None,
        "e:0": "n",
        "e:1": "n",
    }
    assert {x.name for x in graph.nodes if x.renames} == {"v", "c", "e"}


def test_continuous_flags_need_more_than_one_slot() -> None:
    graph = model("""
      %a = ge.data index 0 {ge.name = "a"} : tensor<4xf32>
      %one = ge.op "Foo" (%a) attrs {continuous_input = true, continuous_output = true,
          _no_padding_continuous_input = true, _no_padding_continuous_output = true,
          _output_reuse_input = true} {ge.name = "one"} : tensor<4xf32>
      %none = ge.absent
      %two, %x = ge.op "Foo" (%a, %none) attrs {continuous_input = true, continuous_output = true,
          _no_padding_continuous_input = true, _no_padding_continuous_output = true} {ge.name = "two"}
          : tensor<4xf32>, none
    """)
    _, one, two = graph.nodes
    for node, several in ((one, False), (two, True)):
        assert node.is_padded_input is several
        assert node.is_padded_output is several
        assert node.is_no_padding_input is several
        assert node.is_no_padding_output is several
        assert node.lays_inputs
