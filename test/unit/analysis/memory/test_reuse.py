"""Which output may take over which: every reader of the one reaches every writer of the other."""

from __future__ import annotations

from run_graphs import offsets, parsed
from xdsl.context import Context

from ge_dialect.analysis.memory.model import memory_graph
from ge_dialect.analysis.memory.reuse import Reuse
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory

TEXT = """
ge.graph @main {
  %a = ge.op "Foo" {ge.name = "a", ge.stream = 0 : i64} : tensor<8xf32>
  %b = ge.op "Foo" {ge.name = "b", ge.stream = 1 : i64} : tensor<8xf32>
  %c = ge.op "PhonyConcat" (%a, %b) attrs {_no_padding_continuous_input = true, _output_reuse_input = true,
      _reuse_input_on_dim_index = 0} {ge.name = "c", ge.stream = 2 : i64} : tensor<16xf32>
  %d = ge.op "Foo" (%a, %b) {ge.name = "d", ge.stream = 3 : i64} : tensor<8xf32>
  %e = ge.op "Foo" (%d) {ge.name = "e", ge.stream = 3 : i64} : tensor<8xf32>
  %f = ge.op "Foo" (%c) {ge.name = "f", ge.stream = 2 : i64} : tensor<8xf32>
}
"""


def reusable(text: str, later: str) -> list[str]:
    graph = memory_graph(graphs(parsed(text))[0])
    reuse = Reuse(graph)
    own = next(x for x in graph.outputs if x.node.name == later)
    return [x.node.name for x in graph.outputs if reuse.can_reuse(own, x)]


def test_a_node_that_only_renames_is_a_reader_too() -> None:
    """`c` reads a and b, though it moves nothing: what does not come after it may not overwrite them (11.6)."""
    unread = TEXT.replace('"Foo" (%c)', '"Foo" (%d)')
    assert reusable(unread, "e") == []
    assert reusable(unread.replace("ge.stream = 2", "ge.stream = 3"), "e") == ["a", "b", "c"]


def test_memory_lives_until_a_renaming_node_that_nobody_reads() -> None:
    text = """
    ge.graph @main {
      %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
      %b = ge.op "Foo" (%a) {ge.name = "b"} : tensor<8xf32>
      %c = ge.op "Foo" (%b) {ge.name = "c"} : tensor<8xf32>
      %v = ge.op "Reshape" (%a) {ge.name = "v"} : tensor<2x4xf32>
      %d = ge.op "Foo" (%c) {ge.name = "d"} : tensor<8xf32>
      ge.net_output (%d) {ge.name = "out"}
    }"""
    module = parsed(text)
    GePlanMemory(mode="reference", check=True).apply(Context(), module)
    assert offsets(module)["c:0"] != offsets(module)["a:0"]
