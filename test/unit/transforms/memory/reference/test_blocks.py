"""Level 1, level 2 and the variants, on requests without a graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_graphs import graph_of, node

from ge_dialect.analysis.memory.clusters import Cluster
from ge_dialect.analysis.memory.model import Node, memory_graph
from ge_dialect.analysis.memory.streams import StreamEdges
from ge_dialect.transforms.memory.reference.assign import assign
from ge_dialect.transforms.memory.reference.blocks import (
    Block,
    level_one,
    size_classes,
    variants,
)
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.packing import level_two
from ge_dialect.transforms.memory.reference.requests import MAX, Request, Requests

BINARY, LARGEST = variants(memory_priority=False, release_first=False)
NODE: Node = memory_graph(graph_of(node("n", [], 1))).nodes[0]
EDGES = StreamEdges()


def request(begin: int, end: int, size: int, stream: int = 0) -> Request:
    freed, slot = (end, 0) if end > begin else (begin, -1)
    return Request(NODE, size, size, begin, end, stream, begin, freed, slot, begin, end)


def blocks_of(*requests: Request) -> list[list[int]]:
    ordered = sorted(requests, key=lambda x: x.at)
    return [[x.begin for x in block.members] for block in level_one(ordered, BINARY)]


def test_a_free_block_of_the_same_size_is_taken() -> None:
    assert blocks_of(request(1, 2, 512), request(3, 4, 512)) == [[1, 3]]
    assert blocks_of(request(1, 2, 512), request(3, 4, 1024)) == [[1], [3]]


def test_the_reader_does_not_get_what_it_reads() -> None:
    assert blocks_of(request(1, 2, 512), request(2, 4, 512)) == [[1], [2]]


def test_an_output_nobody_reads_is_free_for_the_next_node() -> None:
    assert blocks_of(request(1, 1, 512), request(2, 3, 512)) == [[1, 2]]


def test_streams_have_their_own_free_lists() -> None:
    assert blocks_of(request(1, 2, 512), request(3, 4, 512, stream=1)) == [[1], [3]]


def test_the_block_released_last_is_taken_or_the_first() -> None:
    rows = [request(1, 3, 512), request(2, 4, 512), request(5, 6, 512)]
    first = replace(BINARY, release_first=True)
    assert [len(block.members) for block in level_one(rows, BINARY)] == [1, 2]
    assert [len(block.members) for block in level_one(rows, first)] == [2, 1]


def test_readers_of_some_types_give_nothing_back() -> None:
    """A reader skips these producers, so the free list never gets their blocks (section 4.2, step 4)."""
    kept = replace(NODE, type="FastrcnnPredictions")
    first = replace(request(1, 2, 512), cluster=Cluster([]))
    assert blocks_of(first, request(3, 4, 512)) == [[1, 3]]
    assert blocks_of(replace(first, node=kept), request(3, 4, 512)) == [[1], [3]]


def test_memory_priority_gives_back_in_the_order_of_producers() -> None:
    """Both are read last by node 5: by input slot, or by the ids of those who made them."""
    one = replace(request(1, 5, 512), slot=1)
    two = replace(request(2, 5, 512), slot=0)
    wanted = [one, two, request(6, 7, 512)]
    assert [[x.begin for x in y.members] for y in level_one(wanted, BINARY)] == [[1, 6], [2]]
    priority = variants(memory_priority=True, release_first=False)[3]
    assert not priority.release_first
    assert [[x.begin for x in y.members] for y in level_one(wanted, priority)] == [[1], [2, 6]]


def test_one_size_for_all() -> None:
    rows = [request(1, 2, 512), request(3, 4, 2048)]
    assert [block.size for block in level_one(rows, LARGEST)] == [2048]


def test_begin_before_the_own_node_is_kept() -> None:
    """A run begins with its first input: what died later than that is not for it."""
    run = replace(request(5, 6, 512), begin=2)
    assert blocks_of(request(1, 3, 512), run) == [[1], [2]]


@pytest.mark.parametrize(
    ("sizes", "classes"),
    [
        ([], []),
        ([512], [512]),
        ([512, 512, 1024, 4096], [1024, 4096]),
        ([512] * 8 + [65536] * 8, [512, 65536]),
    ],
)
def test_size_classes(sizes: list[int], classes: list[int]) -> None:
    found = size_classes(sizes)
    assert found == classes
    assert not sizes or found[-1] == max(sizes)


def packed(
    *requests: Request, edges: StreamEdges = EDGES, last_clean: int = -1
) -> dict[int, list[int]]:
    """Begin of each parent -> begins of its direct children's members."""
    blocks = [Block(x.size, [x]) for x in requests]
    ordered = level_two(blocks, edges, ascending=True, last_clean=last_clean)
    return {
        block.begin: [x.begin for child in block.children for x in child.members]
        for block in ordered
        if not block.is_child
    }


def test_smaller_blocks_move_into_a_larger_one_side_by_side() -> None:
    rows = (request(1, 2, 2048), request(3, 4, 1024), request(3, 5, 1024), request(6, 7, 512))
    assert packed(*rows) == {1: [3, 3]}  # the last one goes into a child
    assert packed(*rows[:3], request(2, 7, 512)) == {1: [3, 3], 2: []}


def test_what_was_made_before_the_last_cleaning_lies_in_no_continuous_block() -> None:
    run = replace(request(5, 6, 1024), cluster=Cluster([], padded=True))
    rows = (run, request(1, 2, 512))
    assert packed(*rows) == {5: [1]}
    assert packed(*rows, last_clean=1) == {5: [1]}
    assert packed(*rows, last_clean=2) == {5: [], 1: []}


def test_a_block_may_stick_out_by_half_a_step_but_none_of_one_step() -> None:
    assert packed(request(1, 2, 1024), request(3, 4, 1024), request(3, 5, 512)) == {1: [3], 3: []}
    rows = (request(1, 2, 2048), request(3, 4, 1536), request(3, 5, 1024))
    assert packed(*rows) == {1: [3, 3]}  # 2560 bytes in 2048 + 512


def test_members_move_into_the_gaps_between_others() -> None:
    parent = Block(1024, [request(1, 2, 1024), request(8, 9, 1024)])
    child = Block(512, [request(3, 4, 512), request(6, 8, 512)])
    ordered = level_two([parent, child], EDGES, ascending=True)
    assert [x.begin for x in parent.children[0].members] == [3]
    assert [x.begin for x in child.members] == [6]
    assert not child.is_child
    assert ordered == [parent, child]


def test_across_streams_only_behind_an_edge_later_than_the_last_reader() -> None:
    first, second = request(1, 3, 1024), request(9, 10, 512, stream=1)
    assert packed(first, second) == {1: [], 9: []}
    for peer, found in ((3, {1: [], 9: []}), (4, {1: [9]})):
        edges = StreamEdges({(1, 0): [(8, peer)]}, {(0, 1): [(peer, 8)]})
        assert packed(first, second, edges=edges) == found


def test_memory_priority_compares_ends_where_they_are_known() -> None:
    """All readers are on stream 1, the last is node 5: there, 6 is later; on stream 0 nobody knows."""
    first = replace(request(1, 9, 1024), end=MAX, ends={1: 5})
    edges = StreamEdges({(1, 0): [(5, 2)], (2, 1): [(8, 5)], (2, 0): [(8, 2)]}, {})
    for stream, begin in ((1, 6), (2, 9)):
        second = request(begin, begin + 1, 512, stream=stream)
        for priority in (False, True):
            blocks = [Block(x.size, [x]) for x in (first, second)]
            level_two(blocks, edges, ascending=True, priority=priority)
            assert blocks[1].is_child is priority


def test_zero_copy_blocks_never_lie_in_each_other() -> None:
    rows = [replace(request(at, at + 1, 512), zero_copy=True) for at in (1, 3)]
    assert packed(*rows) == {1: [], 3: []}


def total(requests: list[Request], *, reuse: bool = True) -> int:
    pool = [x if reuse else replace(x, reusable=False) for x in requests]
    made = assign(Requests(pool, [], []), EDGES, PlanOptions())
    return made.sizes.get("hbm", 0)


@given(
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 8), st.integers(1, 8)), max_size=40),
    st.booleans(),
)
def test_assignments_never_overlap(rows: list[tuple[int, int, int]], priority: bool) -> None:
    pool = sorted(
        (request(begin + 1, begin + 1 + length, 512 * size) for begin, length, size in rows),
        key=lambda x: x.at,
    )
    made = assign(Requests(pool, [], []), EDGES, PlanOptions(memory_priority=priority))
    for index, first in enumerate(pool):
        low = made.offsets[id(first)]
        assert low + first.size <= made.sizes["hbm"]
        for second in pool[:index]:
            other = made.offsets[id(second)]
            if first.begin <= second.end and second.begin <= first.end:
                assert low + first.size <= other or other + second.size <= low


def test_the_best_variant_wins_and_the_first_of_equals() -> None:
    # Level 1 cannot give 1024 to 512 or back; one size for all needs a single block.
    rows = [request(1, 2, 1024), request(3, 4, 512), request(5, 6, 1024)]
    made = assign(Requests(rows, [], []), EDGES, PlanOptions())
    assert (made.variant.name, made.sizes) == ("binary-block", {"hbm": 1024})
    assert total(rows, reuse=False) == 2560


def test_atomic_memory_lies_behind_the_rest_batches_on_top_of_each_other() -> None:
    rows = [replace(request(1, 2, 512), batch=batch) for batch in ("a", "a", "b")]
    made = assign(Requests([request(3, 4, 1024)], rows, []), EDGES, PlanOptions())
    assert [made.offsets[id(x)] for x in rows] == [1024, 1536, 1024]
    assert made.sizes == {"hbm": 2048}
