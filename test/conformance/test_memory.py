"""Memory assignment, its checks and layout conflicts: the cases of memory.json."""

from __future__ import annotations

from typing import Any

import pytest
from case_graphs import Json, node_of
from memory_graphs import memory_module, ordered_names, slot_of, values_from
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
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
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.layout.ge_insert_identity import GeInsertIdentity
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import make_plan

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
        if request.continuous and request.cluster is not None
        for x in request.cluster.producers
    ]
    assert sorted(found) == sorted(case["expect"]["continuous"])


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
    id_of = [ids.get(name, at) for at, name in enumerate(ordered_names(case["graph"]))]

    def named(pairs: list[tuple[int, int]]) -> list[list[int]]:
        return [[id_of[node], id_of[peer]] for node, peer in pairs]

    incoming = {f"{dst}<-{src}": named(x) for (dst, src), x in edges.incoming.items()}
    outgoing = {f"{src}->{dst}": named(x) for (src, dst), x in edges.outgoing.items()}
    expect = dict(case["expect"])
    assert expect.pop("in", incoming) == incoming
    assert expect.pop("out", outgoing) == outgoing
    assert expect.pop("in_count", {}).items() <= {k: len(x) for k, x in incoming.items()}.items()
    assert expect.pop("out_count", {}).items() <= {k: len(x) for k, x in outgoing.items()}.items()
    assert not expect


@pytest.mark.cases(kinds=("can_reuse",))
def test_can_reuse(case: Json) -> None:
    graph = memory_graph(graphs(memory_module(case["graph"]))[0])
    reuse = Reuse(graph)

    def reusable(name: str) -> list[str]:
        own = find(graph, f"{name}:0")
        return sorted(str(x).replace('"', "") for x in graph.outputs if reuse.can_reuse(own, x))

    expect = case["expect"]
    assert {name: reusable(name) for name in expect["can_reuse"]} == {
        name: sorted(outputs) for name, outputs in expect["can_reuse"].items()
    }
    for name in expect.get("cannot_reuse_any", ()):
        assert reusable(name) == []


def modify(module: ModuleOp, change: Json) -> None:
    ((what, arguments),) = change.items()
    if what == "node_attr":
        name, key, value = arguments
        op = node_of(module, name)
        attrs = op.properties.get("attrs")
        old = dict(attrs.data) if isinstance(attrs, DictionaryAttr) else {}
        op.properties["attrs"] = DictionaryAttr({**old, key: from_python(value)})
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
    attrs = {**PHONY, "_reuse_input_on_dim_index": given["dim_index"]}
    run = _run_of([own, own], [given["desc"]] * 2, attrs)
    graph = memory_graph(graphs(memory_module(run))[0])
    node = next(x for x in graph.nodes if x.name == "run")
    assert stride(find(graph, "p0:0"), node, padded=False) == case["expect"]["stride"]
    places = places_from(graph, find(graph, "p0:0"), 0)
    assert places[find(graph, "p1:0").uid] == case["expect"]["stride"]


@pytest.mark.cases(kinds=("fixup",))
def test_fixup(case: Json) -> None:
    given = case["input"]
    assert given["continuous_type"] == 2, (
        "only runs without padding on the input side are known here"
    )
    count = len(given["producer_output_offset"])
    listed = given.get("producer_offset_list")
    own = {"_output_offset_list_for_continuous": listed} if listed is not None else {}
    desc = given.get("desc", {"shape": [1], "dtype": "float32"})
    run = _run_of([own] * count, [desc] * count, PHONY)
    graph = memory_graph(graphs(memory_module(run))[0])
    places = places_from(graph, find(graph, "run:0"), given["node_output_offset"][0])
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
    GeInsertIdentity(
        refreshable=options.get("feature_map_refreshable", False),
        build_mode=options.get("build_mode", ""),
    ).apply(Context(), module)
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
    # What is left has to have a plan, and the plan has to hold.
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
