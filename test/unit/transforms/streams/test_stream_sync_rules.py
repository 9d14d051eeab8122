"""Dynamic streams, and events between streams, against the rules written out (`stream_sync_rules`)."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest
from stream_ir import apply
from stream_rule_models import module_of, random_model
from stream_rules import RuleGraph
from stream_sync_rules import Dynamic, Ids, static_events
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.assign_streams import GeAssignStreams
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, get_int, get_ints, graphs, node_name
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.sync.ge_insert_events import GeInsertEvents
from ge_dialect.transforms.sync.ge_optimize_events import GeOptimizeEvents


def _nodes(module: ModuleOp) -> dict[str, GeNode]:
    return {
        node_name(op): op
        for graph in graphs(module)
        for op in graph.block.ops
        if isinstance(op, GeNode) and node_name(op)
    }


def _by_name(ids: Ids, way: str) -> dict[str, list[int]]:
    table = ids.send if way == "send" else ids.recv
    return {node.name: list(events) for node, events in table.items() if events}


@pytest.mark.parametrize("first", range(0, 300, 20))
def test_dynamic_streams_and_events_are_those_of_the_rules(first: int) -> None:
    for seed in range(first, first + 20):
        compare_dynamic(seed)


def compare_dynamic(seed: int) -> None:
    model, pick = random_model(seed), random.Random(seed)
    model[0].unknown = True
    for graph in model:
        for node in graph.nodes:
            if node.type == "T" and node.engine == "DNN_VM_AICPU" and pick.random() < 0.3:
                node.type = "GetNext"
    parallel = pick.random() < 0.5
    module = module_of(deepcopy(model))
    count, ids = Dynamic(model, parallel).run()
    apply(module, *GeAssignStreams("dynamic", ac_parallel_enable="1" if parallel else "").passes())
    found = _nodes(module)
    for at, graph in enumerate(model):
        if at == 0 or graph.unknown:
            wanted = {node.name: node.stream for node in graph.nodes}
            assert {name: get_int(found[name], "ge.stream", -1) for name in wanted} == wanted, seed
    root = graphs(module)[0]
    assert get_int(root, "ge.stream_num") == count
    assert get_int(root, "ge.event_num") == ids.count
    for way in ("send", "recv"):
        listed = {name: ge_attr(op, f"_{way}_event_ids", []) for name, op in found.items()}
        assert {name: each for name, each in listed.items() if each} == _by_name(ids, way), seed


@pytest.mark.parametrize("first", range(0, 300, 20))
def test_events_are_those_of_the_rules(first: int) -> None:
    for seed in range(first, first + 20):
        compare_static(seed)


def _with_streams(seed: int) -> list[RuleGraph]:
    """A model whose nodes are on random streams, hardly any on none."""
    model, pick = random_model(seed), random.Random(seed)
    model[0].unknown = False
    for graph in model:
        for node in graph.nodes:
            node.stream = -1 if node.type in ("Data", "Variable") else pick.randrange(4)
            if pick.random() < 0.02:
                node.stream = -1
            if pick.random() < 0.2:
                node.attrs["_subgraph_end_node"] = pick.random() < 0.7
    return model


def compare_static(seed: int) -> None:
    model = _with_streams(seed)
    module = module_of(model)
    found = _nodes(module)
    for graph in model:
        for node in graph.nodes:
            if node.stream >= 0:
                found[node.name].attributes["ge.stream"] = i64(node.stream)
    try:
        ids = static_events(model)
    except LookupError:
        with pytest.raises(StreamError):
            apply(module, GeInsertEvents())
        return
    apply(module, GeInsertEvents(), GeOptimizeEvents())
    for way in ("send", "recv"):
        listed = {name: list(get_ints(op, f"ge.{way}_events") or ()) for name, op in found.items()}
        assert {name: each for name, each in listed.items() if each} == _by_name(ids, way), seed
    assert (get_int(graphs(module)[0], "ge.event_num") or 0) == ids.count
