"""Memory assignment, its checks and layout conflicts: the cases of memory.json."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from case_graphs import Json, node_of, set_node_attr
from memory_graphs import memory_module, slot_of, values_from
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.memory.clusters import places_from
from ge_dialect.analysis.memory.continuity import needs_no_memory, stride
from ge_dialect.analysis.memory.layout_check import check_layout, check_overlap
from ge_dialect.analysis.memory.model import MemoryGraph, Output, memory_graph
from ge_dialect.analysis.memory.reuse import Reuse
from ge_dialect.analysis.memory.streams import normalise, stream_edges
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge import GraphOp
from ge_dialect.dialects.ge.access import (
    data_operands,
    ge_type,
    get_int,
    get_ints,
    graphs,
    set_ints,
    set_slot_attr,
)
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.layout.ge_insert_identity import GeInsertIdentity
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import make_plan
from ge_dialect.transforms.memory.reference.requests import Request

PHONY = {
    "_no_padding_continuous_input": True,
    "_output_reuse_input": True,
    "_reuse_input_on_dim_index": 0,
}


def assign(module: ModuleOp) -> GraphOp:
    """Run the assigner on the case's graph."""
    GePlanMemory(mode="reference").apply(Context(), module)
    graph = graphs(module)[0]
    assert "ge.arenas" in graph.attributes
    return graph


def offset_of(module: ModuleOp, output: str) -> int:
    name, index = slot_of(output)
    offsets = get_ints(node_of(module, name), "ge.offsets")
    assert offsets is not None
    return offsets[index]


def find(graph: MemoryGraph, output: str) -> Output:
    name, index = slot_of(output)
    return next(x for x in graph.outputs if x.node.name == name and x.index == index)


def expect_offsets(module: ModuleOp, expect: Json) -> None:
    if (relative := values_from(expect)) is not None:
        start = offset_of(module, relative[0])
        found = {key: offset_of(module, key) - start for key in relative[1]}
        assert found == relative[1]
    for group in expect.get("equal_offsets", ()):
        assert len({offset_of(module, key) for key in group}) == 1, group


@pytest.mark.cases(kinds=("no_memory_flag",))
def test_no_memory_flag(case: Json) -> None:
    graph = memory_graph(graphs(memory_module(case["graph"]))[0])
    found = {key: needs_no_memory(find(graph, key)) for key in case["expect"]}
    assert found == case["expect"]


@pytest.mark.cases(kinds=("block_flags",))
def test_block_flags(case: Json) -> None:
    plan = make_plan(graphs(memory_module(case["graph"]))[0], PlanOptions())
    assert set(case["expect"]) == {"continuous"}
    found = [
        str(x).replace('"', "")
        for request in plan.wanted.pool
        if request.continuous
        for x in owners_of_blocks(request)
    ]
    assert sorted(found) == sorted(case["expect"]["continuous"])


def owners_of_blocks(request: Request) -> list[Output]:
    """The outputs to which the reference gives the blocks of one of our requests: one for a run of outputs, else one
    for each producer of a run of inputs that needs memory (spec/memory.md sections 6.5 to 6.7)."""
    cluster = request.cluster
    assert cluster is not None
    if cluster.chained:
        return [x for x in cluster.producers if x.node is request.node][:1]
    return [
        x
        for x in cluster.producers
        if not needs_no_memory(x) and not (x.node.is_padded_output and x.index)
    ]


@pytest.mark.cases(kinds=("no_overlap",))
def test_no_overlap(case: Json) -> None:
    module = memory_module(case["graph"])
    assign(module)
    for first, first_size, second, second_size in case["expect"]["not_overlapping"]:
        a, b = offset_of(module, first), offset_of(module, second)
        assert a + first_size <= b or b + second_size <= a, (first, second)


@pytest.mark.cases(kinds=("stream_edges",))
def test_stream_edges(case: Json) -> None:
    graph = memory_graph(graphs(memory_module(case["graph"]))[0])
    normalise(graph)
    edges = stream_edges(graph)
    ids: dict[str, int] = case["graph"].get("ids", {})
    id_of = [ids.get(node.name, node.id) for node in graph.nodes]

    def named(pairs: list[tuple[int, int]]) -> list[list[int]]:
        return [[id_of[node], id_of[peer]] for node, peer in pairs]

    expect = dict(case["expect"])
    for side, found in (
        ("in", {f"{dst}<-{src}": named(x) for (dst, src), x in edges.incoming.items()}),
        ("out", {f"{src}->{dst}": named(x) for (src, dst), x in edges.outgoing.items()}),
    ):
        if (pairs := expect.pop(side, None)) is not None:
            assert found == {key: sorted(x) for key, x in pairs.items() if x}
        counts = expect.pop(f"{side}_count", {})
        assert {key: len(found.get(key, ())) for key in counts} == counts
    assert not expect


@pytest.mark.cases(kinds=("can_reuse",))
def test_can_reuse(case: Json) -> None:
    graph = memory_graph(graphs(memory_module(case["graph"]))[0])
    reuse = Reuse(graph)

    def reusable(name: str) -> list[str]:
        own = [x for x in graph.outputs if x.node.name == name][:1]
        return sorted(
            str(x).replace('"', "") for y in own for x in graph.outputs if reuse.can_reuse(y, x)
        )

    expect = case["expect"]
    assert {name: reusable(name) for name in expect["can_reuse"]} == {
        name: sorted(outputs) for name, outputs in expect["can_reuse"].items()
    }
    for name in expect.get("cannot_reuse_any", ()):
        assert reusable(name) == []


def modify(module: ModuleOp, change: Json) -> None:
    ((what, arguments),) = change.items()
    if what == "node_attr":
        set_node_attr(node_of(module, arguments[0]), *arguments[1:])
        return
    name, index = slot_of(arguments[0])
    op = node_of(module, name)
    if what == "stored_size_add":
        graph = memory_graph(graphs(module)[0])
        size = find(graph, arguments[0]).stored + arguments[1]
        set_slot_attr(op, "res", index, "size", i64(size))
        return
    offsets = get_ints(op, "ge.offsets")
    assert offsets is not None
    if what == "output_offset_add":
        offsets[index] += arguments[1]
    elif what == "output_offset_set_to":
        target = arguments[1]
        offsets[index] = target if isinstance(target, int) else offset_of(module, target)
    else:
        raise AssertionError(f"unknown modification {what}")
    set_ints(op, "ge.offsets", offsets)


@pytest.mark.cases(kinds=("assign_and_check", "assign_then_modify_and_check"))
def test_assign_and_check(case: Json) -> None:
    module = memory_module(case["graph"])
    expect = case["expect"]
    if expect.get("assign") is False:
        with pytest.raises(GeError):
            assign(module)
        return
    graph = assign(module)
    if case.get("modify"):
        assert check_layout(graph) == []
    for change in case.get("modify", ()):
        modify(module, change)
    if "check" in expect:
        assert (check_layout(graph) == []) == expect["check"], check_layout(graph)
    if "overlap_check" in expect:
        assert (check_overlap(graph) == []) == expect["overlap_check"], check_overlap(graph)
    expect_offsets(module, expect)


def _run_of(producers: list[Json], descs: list[Json], attrs: Json) -> Json:
    """A graph in which output 0 of each producer is an input of one node `run` that has the attributes."""
    names = [f"p{index}" for index in range(len(producers))]
    nodes = [
        {"name": name, "type": "Relu", "n_inputs": 0, "n_outputs": 1, "attrs": own}
        for name, own in zip(names, producers, strict=True)
    ]
    nodes.append(
        {
            "name": "run",
            "type": "PhonyConcat",
            "n_inputs": len(names),
            "n_outputs": 1,
            "attrs": attrs,
        }
    )
    return {
        "nodes": nodes,
        "edges": [[name, 0, "run", index] for index, name in enumerate(names)],
        "descs": {f"{name}:0": desc for name, desc in zip(names, descs, strict=True)},
    }


@pytest.mark.cases(kinds=("stride",))
def test_stride(case: Json) -> None:
    given = case["input"]
    fusion = given.get("producer_fusion")
    own = {"_output_offset_for_buffer_fusion": fusion} if fusion else {}
    attrs = {**PHONY, "_reuse_input_on_dim_index": given.get("dim_index", 0)}
    run = _run_of([own, own], [given["desc"]] * 2, attrs)
    graph = memory_graph(graphs(memory_module(run))[0])
    node = next(x for x in graph.nodes if x.name == "run")
    assert stride(find(graph, "p0:0"), node, padded=False) == case["expect"]["stride"]
    places = places_from(graph, find(graph, "p0:0"), 0)
    assert places[find(graph, "p1:0").uid] == case["expect"]["stride"]


@pytest.mark.cases(kinds=("fixup",))
def test_fixup(case: Json) -> None:
    given = case["input"]
    attrs = {1: {"continuous_input": True}, 2: PHONY}[given["continuous_type"]]
    count = len(given["producer_output_offset"])
    listed = given.get("producer_offset_list")
    own = {"_output_offset_list_for_continuous": listed} if listed is not None else {}
    desc = given.get("desc", {"shape": [1], "dtype": "float32"})
    run = _run_of([own] * count, [desc] * count, attrs)
    graph = memory_graph(graphs(memory_module(run))[0])
    # Without a list the first producer stays where it is and the others follow.
    anchor, at = (
        ("p0:0", given["producer_output_offset"][0])
        if listed is None
        else ("run:0", given["node_output_offset"][0])
    )
    places = places_from(graph, find(graph, anchor), at)
    found = [places[find(graph, f"p{index}:0").uid] for index in range(count)]
    assert found == case["expect"]["producer_output_offset"]


def _producer(module: ModuleOp, name: str, slot: int) -> Operation:
    owner = data_operands(node_of(module, name))[slot].owner
    assert isinstance(owner, Operation)
    return owner


def has_identity(module: ModuleOp, place: list[Any]) -> bool:
    return ge_type(_producer(module, place[0], place[1])) == "Identity"


@pytest.mark.cases(kinds=("layout_conflict",))
def test_layout_conflict(case: Json) -> None:
    module = memory_module(case["graph"])
    options, expect = case.get("options", {}), case["expect"]
    before = sum(ge_type(op) == "Identity" for op in graphs(module)[0].block.ops)
    by_pairs = GeInsertIdentity(
        refreshable=options.get("feature_map_refreshable", False),
        build_mode=options.get("build_mode", ""),
        settle=False,
    )
    by_pairs.apply(Context(), module)
    module.verify()
    made = sum(ge_type(op) == "Identity" for op in graphs(module)[0].block.ops) - before
    assert made == expect.get("identity_count", made)
    for place in expect.get("identity_before", ()):
        assert has_identity(module, place), place
    for place in expect.get("no_identity_before", ()):
        assert not has_identity(module, place), place
    if "identity_before_one_of" in expect:
        held = [
            all(has_identity(module, place) for place in alternative)
            for alternative in expect["identity_before_one_of"]
        ]
        assert sum(held) == 1
    # What is left has to have a plan, with the copies beyond the reference's rules, and the plan has to hold.
    replace(by_pairs, settle=True).apply(Context(), module)
    graph = assign(module)
    assert check_layout(graph) == []
    assert get_int(graph, "ge.peak_bytes") is not None
    expect_offsets(module, expect)


def test_a_modified_offset_is_what_the_checker_reads() -> None:
    module = memory_module(_run_of([{}, {}], [{"shape": [8], "dtype": "float32"}] * 2, PHONY))
    graph = assign(module)
    assert check_layout(graph) == []
    modify(module, {"output_offset_add": ["p1:0", 4]})
    assert check_layout(graph) != []


def _chain(**more: Any) -> Json:
    """a -> b -> c -> d, each with one output of one size."""
    names = "abcd"
    nodes = [
        {"name": x, "type": "Relu", "n_inputs": int(x != "a"), "n_outputs": 1, "attrs": {}}
        for x in names
    ]
    edges = [[x, 0, y, 0] for x, y in pairwise(names)]
    return {"nodes": nodes, "edges": edges, **more}


def test_ranges_that_share_bytes_are_found() -> None:
    """No public case is of the kind `no_overlap`: c takes the block of a, b has its own."""
    case: Json = {"graph": _chain(), "expect": {"not_overlapping": [["a:0", 4, "b:0", 4]]}}
    test_no_overlap(case)
    case["expect"]["not_overlapping"] = [["a:0", 4, "c:0", 4]]
    with pytest.raises(AssertionError):
        test_no_overlap(case)


def test_ids_with_gaps_are_no_run() -> None:
    """Nodes of which a case only shows that they have ids stand between: the chain is not one queue."""
    graph = _chain()
    graph["nodes"][1]["stream"] = 1
    near, far = {"a": 1, "b": 2, "c": 3, "d": 4}, {"a": 1, "b": 5, "c": 9, "d": 10}
    test_stream_edges({"graph": {**graph, "ids": near}, "expect": {"in": {}, "out": {}}})
    pairs = {"1<-0": [[5, 1]], "0<-1": [[9, 5]]}
    test_stream_edges({"graph": {**graph, "ids": far}, "expect": {"in": pairs}})
