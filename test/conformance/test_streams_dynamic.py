"""Streams of models of unknown shape against the facts of streams.json (any file of that schema)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from stream_case_graphs import Json, cluster_module, nodes_by_name, stream_module, stream_of
from stream_expect import caught, check_attached, check_logical, check_status, run
from stream_links import on_links
from stream_options import AUTO, chain_of
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.streams.nodes import StreamModel
from ge_dialect.dialects.attrs import UNIT
from ge_dialect.dialects.ge.access import ge_attr, get_int, graphs
from ge_dialect.transforms.streams.ge_attached_sync import SyncCounters, assign_attached_sync
from ge_dialect.transforms.streams.ge_cluster_engines import GeClusterEngines
from ge_dialect.transforms.streams.ge_stream_attached import assign_attached_streams
from ge_dialect.transforms.streams.ge_stream_dynamic import (
    GeStreamDynamic,
    dynamic_multi_stream,
)
from ge_dialect.transforms.streams.ge_stream_dynamic_compact import GeStreamDynamicCompact


@pytest.mark.cases(levels=("dynamic_logical", "dynamic_pipeline"))
def test_dynamic(case: Json) -> None:
    expect = case["expect"]
    chain = chain_of(case)
    if case["level"] == "dynamic_logical":
        module = cluster_module(case)
        chain = tuple(step for step in chain if not isinstance(step, GeClusterEngines))
    else:
        module = stream_module(case)
    # What comes to this allocator is of unknown shape, whether or not the case marks it.
    graphs(module)[0].attributes["ge.unknown_shape"] = UNIT
    if "env" in case:
        switch = case["env"].get("ENABLE_DYNAMIC_SHAPE_MULTI_STREAM", "")
        chain = tuple(
            replace(step, enable=switch) if isinstance(step, GeStreamDynamic) else step
            for step in chain
        )
    if not check_status(expect, run(module, on_links(case, chain))):
        return
    found = nodes_by_name(module)
    check_logical(expect, module, found)
    check_dynamic(expect, module, found)


def check_dynamic(expect: Json, module: ModuleOp, found: Mapping[str, Operation]) -> None:
    root = graphs(module)[0]
    for key in ("stream_num", "event_num", "notify_num"):
        if key in expect:
            assert (get_int(root, f"ge.{key}") or 0) == expect[key]
    for way in ("send", "recv"):
        listed = {name: ge_attr(op, f"_{way}_event_ids", []) for name, op in found.items()}
        for name, count in expect.get(f"{way}_event_count", {}).items():
            assert len(listed[name]) == count, (way, name)
        for name, ids in expect.get(f"{way}_events", {}).items():
            assert listed[name] == ids, (way, name)
    check_nodes_of_streams(expect, module)


def check_nodes_of_streams(expect: Json, module: ModuleOp) -> None:
    model = StreamModel(module)
    streams = [stream for view in model.dynamic_graphs for stream in view.streams()]
    for stream, length in expect.get("stream_nodes_count", {}).items():
        assert streams.count(int(stream)) == length


@pytest.mark.cases(levels=("dynamic_refresh_by_node_ids",))
def test_second_refresh(case: Json) -> None:
    """Spec 4.4: after an automatic mode has put nodes on new streams."""
    expect = case["expect"]
    module = stream_module(case)
    error = run(
        module, [GeStreamDynamicCompact(case.get("options", {}).get(AUTO, "LoadBalance:8"))]
    )
    if check_status(expect, error):
        found = nodes_by_name(module)
        check_logical(expect, module, found)
        check_dynamic(expect, module, found)


@pytest.mark.cases(levels=("dynamic_attached",))
def test_dynamic_attached(case: Json) -> None:
    expect, start = case["expect"], case.get("start", {})
    module = stream_module(case)
    model = StreamModel(module)
    counters = SyncCounters(start.get("event_num", 0), start.get("notify_num", 0))
    views = list(model.dynamic_graphs)
    streams = [start.get("stream_num", 0)]

    def assign() -> None:
        streams.append(assign_attached_streams(views, streams[0]))
        assign_attached_sync(views, counters, with_events=False)

    if not check_status(expect, caught(assign)):
        return
    check_attached(expect, nodes_by_name(module))
    for key, number in (
        ("stream_num", streams[-1]),
        ("notify_num", counters.notifies),
        ("event_num", counters.events),
        ("notify_types", counters.types),
    ):
        if key in expect:
            assert number == expect[key], key


@pytest.mark.cases(levels=("dynamic_enable",))
def test_dynamic_enable(case: Json) -> None:
    switch = case.get("env", {}).get("ENABLE_DYNAMIC_SHAPE_MULTI_STREAM", "")
    single_op = bool(case.get("graph_attrs", {}).get("_single_op_scene"))
    enabled = dynamic_multi_stream(switch, single_op=single_op)
    assert enabled is case["expect"]["enabled"]
    for auto in case.get("option_values_tried", ()):
        graph = {
            "nodes": [
                {"name": "x", "type": "Data", "engine": "DNN_VM_GE_LOCAL"},
                {"name": "h", "type": "HcomAllReduce", "engine": "DNN_HCCL"},
                {"name": "y", "type": "Relu", "engine": "AIcoreEngine"},
            ],
            "data_edges": [["x:0", "h:0"], ["h:0", "y:0"]],
        }
        module = stream_module({"graph": graph, "graph_attrs": {AUTO: auto}})
        GeClusterEngines().apply(Context(), module)
        GeStreamDynamic(switch).apply(Context(), module)
        streams = {stream_of(op) for op in nodes_by_name(module).values()}
        assert (streams == {0}) is not enabled
