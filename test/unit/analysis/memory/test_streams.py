"""Which stream nodes count for, and what streams know of each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from run_graphs import random_runs
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.memory.model import MemoryGraph, memory_graph
from ge_dialect.analysis.memory.streams import StreamEdges, normalise, stream_edges
from ge_dialect.analysis.reach import HappensBefore
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import GraphOp, OpOp


def graph(*rows: tuple[str, int | None, str]) -> MemoryGraph:
    """Nodes from (name, stream, names of what it reads)."""
    made: dict[str, Operation] = {}
    result = GraphOp("main")
    for name, stream, reads in rows:
        values: list[SSAValue] = [made[x].results[0] for x in reads.split()]
        marks = {"ge.name": string(name)}
        if stream is not None:
            marks["ge.stream"] = i64(stream)
        op = OpOp.make(values, [TensorType(f32, [4])], {"type": string("Foo")}, marks)
        made[name] = op
        result.block.add_op(op)
    return memory_graph(result)


def streams(found: MemoryGraph) -> list[int]:
    normalise(found)
    return [node.stream for node in found.nodes]


def test_a_run_that_comes_back_counts_for_its_stream() -> None:
    """a on 0, b on 1, c on 2, d on 0: nobody else is in between, so all of it is one queue."""
    serial = [("z", 3, ""), ("a", 0, ""), ("b", 1, "a"), ("c", 2, "b"), ("d", 0, "c")]
    assert streams(graph(*serial)) == [3, 0, 0, 0, 0]


def test_a_run_with_another_reader_or_a_gap_does_not() -> None:
    assert streams(graph(("a", 0, ""), ("b", 1, "a"), ("d", 0, "b"), ("e", 2, "b"))) == [0, 1, 0, 2]
    assert streams(graph(("a", 0, ""), ("x", 2, ""), ("b", 1, "a"), ("d", 0, "b"))) == [0, 2, 1, 0]


def test_a_control_edge_into_a_run_does_not_break_it() -> None:
    """Only data links count (section 5.1)."""
    found = graph(("z", 3, ""), ("a", 0, ""), ("b", 1, "a"), ("d", 0, "b"))
    found.nodes[2].before.append(found.nodes[0])
    assert streams(found) == [3, 0, 0, 0]


def test_one_stream_is_the_stream_of_all() -> None:
    assert streams(graph(("a", None, ""), ("b", 7, "a"), ("c", None, "b"))) == [7, 7, 7]


def test_nodes_without_stream_and_task_hand_orders_on() -> None:
    found = graph(("a", 0, ""), ("b", 1, ""), ("c", 1, "a"))
    assert stream_edges(found).incoming == {(1, 0): [(2, 0)]}
    view = graph(("a", 0, ""), ("b", 1, ""), ("v", None, "a"), ("c", 1, "v"))
    view.nodes[2].renames = True
    assert stream_edges(view).incoming == {(1, 0): [(3, 0)]}


def test_a_later_node_that_knows_less_is_no_edge() -> None:
    found = graph(("a", 0, ""), ("b", 0, "a"), ("c", 1, "b"), ("d", 1, "a"))
    assert stream_edges(found).incoming == {(1, 0): [(2, 1)]}


def test_look_ups() -> None:
    edges = StreamEdges({(1, 0): [(4, 1), (9, 6)]}, {(0, 1): [(1, 4), (6, 9)]})
    assert [edges.known(1, 0, time) for time in (3, 4, 8, 9)] == [-1, 1, 1, 6]
    assert [edges.returns(0, 1, time) for time in (1, 2, 6, 7)] == [4, 9, 9, None]
    assert edges.known(0, 1, 9) == -1


@given(st.integers(0, 10**6))
def test_edges_say_only_what_the_order_guarantees(seed: int) -> None:
    found = memory_graph(random_runs(seed, 25, streams=3))
    order = HappensBefore([node.op for node in found.nodes])
    edges = stream_edges(found)
    for (_, _), pairs in edges.incoming.items():
        assert pairs == sorted(pairs)
        for node, peer in pairs:
            assert order.before(found.nodes[peer].op, found.nodes[node].op)
