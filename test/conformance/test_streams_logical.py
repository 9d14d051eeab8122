"""Logical streams against the facts of streams.json: allocation, single passes, options, attached streams, the
automatic modes (any file of that schema)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest
from stream_graphs import (
    Json,
    cluster_module,
    nodes_by_name,
    set_engine_table,
    stream_module,
    stream_of,
)
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.attached import attached_ids
from ge_dialect.analysis.streams.nodes import StreamModel
from ge_dialect.analysis.streams.path_cover import path_cover
from ge_dialect.assign_streams import GeAssignStreams
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, get_int, graphs
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.streams.auto_mode import effective_auto_mode, parse_auto_mode
from ge_dialect.transforms.streams.dag.allocate import allocate
from ge_dialect.transforms.streams.dag.problem import Dag, DagNode
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.ge_attached_sync import SyncCounters, assign_attached_sync
from ge_dialect.transforms.streams.ge_cluster_engines import GeClusterEngines
from ge_dialect.transforms.streams.ge_stream_all_reduce import GeStreamAllReduce
from ge_dialect.transforms.streams.ge_stream_attached import assign_attached_streams
from ge_dialect.transforms.streams.ge_stream_auto import GeStreamAuto
from ge_dialect.transforms.streams.ge_stream_dynamic import (
    GeStreamDynamic,
    ac_parallel,
    dynamic_multi_stream,
)
from ge_dialect.transforms.streams.ge_stream_ineffective import GeStreamIneffective
from ge_dialect.transforms.streams.ge_stream_refresh import GeStreamRefresh
from ge_dialect.transforms.streams.ge_transfer_stream_labels import GeTransferStreamLabels

AUTO = "ge.autoMultistreamParallelMode"


def options_of(case: Json) -> GeAssignStreams:
    """The case's options in the terms of the pass."""
    options: Json = case.get("options", {})
    single = options.get("ge.enableSingleStream") == "true"
    dynamic = case["level"].startswith("dynamic")
    return GeAssignStreams(
        mode="single" if single else "dynamic" if dynamic else "multi",
        auto=options.get(AUTO, ""),
        max_parallel=",".join(f"{name}:{n}" for name, n in case.get("max_parallel", {}).items()),
        memory_priority=options.get("ge.exec.memoryOptimizationPolicy") == "MemoryPriority",
        hcom_parallel=options.get("ge.hcomParallel") == "1",
        ac_parallel_enable=options.get("ac_parallel_enable", ""),
        topo_sorting_mode=options.get("ge.topoSortingMode", ""),
    )


def run(module: ModuleOp, passes: Iterable[ModulePass]) -> GeError | None:
    """Run the passes; the error that one of them ends with."""
    try:
        for module_pass in passes:
            module_pass.apply(Context(), module)
    except GeError as error:
        return error
    return None


def check_status(expect: Json, error: GeError | None) -> bool:
    """Whether the run went well, after comparing with what is expected of its status."""
    status = expect.get("status", "SUCCESS")
    if status == "SUCCESS":
        assert error is None, error
        return True
    assert error is not None
    own = error.status if isinstance(error, StreamError) else "FAILED"
    # Whatever a build fails with is FAILED where the session reports it.
    assert status in (own, "not SUCCESS", "FAILED")
    if "error_code" in expect:
        assert isinstance(error, StreamError)
        assert error.code == expect["error_code"]
    if "message_contains" in expect:
        assert expect["message_contains"] in error.message
    places = [error.message.index(name) for name in expect.get("error_names_in_order", ())]
    assert places == sorted(places)
    return False


def check_streams(expect: Json, found: dict[str, Any]) -> None:
    """Streams and their equality, node by node."""
    for name, stream in expect.get("node_streams", {}).items():
        assert stream_of(found[name]) == stream, name
    for one, other in expect.get("equal_nodes", ()):
        assert stream_of(found[one]) == stream_of(found[other])
    for one, other in expect.get("different_nodes", ()):
        assert stream_of(found[one]) != stream_of(found[other])


def attached_of(op: Operation) -> list[int]:
    """The ids of the attached streams, -1 where there is none."""
    return attached_ids(op)


def check_attached(expect: Json, found: dict[str, Any]) -> None:
    """Attached streams, node by node."""
    for name, ids in expect.get("attached", {}).items():
        assert attached_of(found[name]) == ids, name
    for one, other in expect.get("attached_equal", ()):
        assert attached_of(found[one]) == attached_of(found[other]) != []
    for one, other in expect.get("attached_different", ()):
        assert attached_of(found[one]) != attached_of(found[other])
    for name, count in expect.get("attached_count", {}).items():
        assert len(attached_of(found[name])) == count


@pytest.mark.cases(levels=("static_logical", "static_logical_attached"))
def test_static(case: Json) -> None:
    expect = case["expect"]
    module = cluster_module(case)
    chain = [
        step
        for step in options_of(case).passes()
        # The case gives labels and engine sub-graphs ready.
        if not isinstance(step, GeTransferStreamLabels | GeClusterEngines)
        and (case.get("refresh_continuous", True) or not isinstance(step, GeStreamRefresh))
    ]
    if not check_status(expect, run(module, chain)):
        return
    found = nodes_by_name(module)
    first: dict[str, Any] = {}
    for cluster in case["engine_subgraphs"]:
        node = cluster["nodes"][0]
        first[cluster["name"]] = found[node if isinstance(node, str) else node["name"]]
    for name, stream in expect.get("subgraph_streams", {}).items():
        assert stream_of(first[name]) == stream, name
    for one, other in expect.get("equal", ()):
        assert stream_of(first[one]) == stream_of(first[other])
    for one, other in expect.get("different", ()):
        assert stream_of(first[one]) != stream_of(first[other])
    check_streams(expect, found)
    check_attached(expect, found)


ALL_REDUCE, INEFFECTIVE = "pass:AllReduceParallelPass", "pass:OptimizeIneffectiveMultiStreamPass"


@pytest.mark.cases(levels=(ALL_REDUCE, INEFFECTIVE))
def test_pass(case: Json) -> None:
    expect, context = case["expect"], case.get("context", {})
    module = stream_module(case)
    if "next_stream" in context:
        graphs(module)[0].attributes["ge.next_stream"] = i64(context["next_stream"])
    if case["level"] == ALL_REDUCE:
        step = GeStreamAllReduce(context.get("hcom_parallel", False))
    else:
        step = GeStreamIneffective()
    before = {name: stream_of(op) for name, op in nodes_by_name(module).items()}
    changed = step.assign(StreamModel(module))
    found = nodes_by_name(module)
    if expect.get("result") == "NOT_CHANGED":
        assert not changed
        assert before == {name: stream_of(op) for name, op in found.items()}
    check_streams(expect, found)


@pytest.mark.cases(levels=("dynamic_logical", "dynamic_pipeline"))
def test_dynamic(case: Json) -> None:
    expect = case["expect"]
    chain = options_of(case).passes()
    if case["level"] == "dynamic_logical":
        module = cluster_module(case)
        chain = tuple(step for step in chain if not isinstance(step, GeClusterEngines))
    else:
        module = stream_module(case)
    if not check_status(expect, run(module, chain)):
        return
    root, found = graphs(module)[0], nodes_by_name(module)
    for key, name in (("stream_num", "ge.stream_num"), ("event_num", "ge.event_num")):
        if key in expect:
            assert get_int(root, name) == expect[key]
    check_streams(expect, found)
    for key, attr in (
        ("send_event_count", "_send_event_ids"),
        ("recv_event_count", "_recv_event_ids"),
    ):
        for name, count in expect.get(key, {}).items():
            assert len(ge_attr(found[name], attr, ())) == count


@pytest.mark.cases(levels=("dynamic_attached",))
def test_dynamic_attached(case: Json) -> None:
    expect, start = case["expect"], case["start"]
    model = StreamModel(stream_module(case))
    counters = SyncCounters(start["event_num"], start["notify_num"])
    graph_views = list(model.dynamic_graphs)
    streams = assign_attached_streams(graph_views, start["stream_num"])
    assign_attached_sync(graph_views, counters, with_events=False)
    assert streams == expect["stream_num"]
    assert counters.notifies == expect["notify_num"]
    assert counters.events == expect["event_num"]


@pytest.mark.cases(levels=("dynamic_enable",))
def test_dynamic_enable(case: Json) -> None:
    switch = case["env"].get("ENABLE_DYNAMIC_SHAPE_MULTI_STREAM", "")
    assert dynamic_multi_stream(switch) is case["expect"]["enabled"]
    for auto in case["option_values_tried"]:
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
        assert {stream_of(op) for op in nodes_by_name(module).values()} == {0}


@pytest.mark.cases(levels=("option_check",))
def test_option(case: Json) -> None:
    error = None
    try:
        for name, value in case["options"].items():
            assert name == "ac_parallel_enable"
            ac_parallel(value)
    except StreamError as caught:
        error = caught
    check_status(case["expect"], error)


@pytest.mark.cases(levels=("auto_mode_parse",))
def test_auto_mode(case: Json) -> None:
    expect = case["expect"]
    for text, (kind, streams) in expect.get("modes", {}).items():
        mode = parse_auto_mode(text)
        assert (mode.kind, mode.streams) == (kind, streams)
    for text in expect.get("invalid", ()):
        with pytest.raises(StreamError):
            parse_auto_mode(text)
    for key, from_graph in (("from_option", False), ("from_graph_attr", True)):
        for text, wanted in expect.get(key, {}).items():
            if wanted == "invalid":
                with pytest.raises(StreamError):
                    parse_auto_mode(text, from_graph)
            else:
                mode = parse_auto_mode(text, from_graph)
                assert [mode.kind, mode.streams] == wanted
    if "effective" in expect:
        module = stream_module({**case, "graph": {"nodes": []}})
        mode = effective_auto_mode(graphs(module)[0], case["options"].get(AUTO, ""))
        assert f"{mode.kind}:{mode.streams}" == expect["effective"]
        assert mode.from_graph is expect["from_graph"]


@pytest.mark.cases(levels=("label_transfer",))
def test_label_transfer(case: Json) -> None:
    nodes = [
        {"name": name, "type": "TransData", "attrs": attrs}
        for name, attrs in case["node_attrs"].items()
    ]
    module = stream_module({"graph": {"nodes": nodes}})
    GeTransferStreamLabels().apply(Context(), module)
    found = nodes_by_name(module)
    for name, attrs in case["expect"]["attrs"].items():
        for key, value in attrs.items():
            assert ge_attr(found[name], key) == value


@pytest.mark.cases(levels=("attached_stream",))
def test_attached(case: Json) -> None:
    expect = case["expect"]
    module = stream_module(case)
    following, error = 0, None
    try:
        following = assign_attached_streams(
            StreamModel(module).graphs, case["start"]["next_stream"]
        )
    except GeError as caught:
        error = caught
    if not check_status(expect, error):
        return
    check_attached(expect, nodes_by_name(module))
    if "next_stream" in expect:
        assert following == expect["next_stream"]


@pytest.mark.cases(levels=("dag_allocate",))
def test_dag(case: Json) -> None:
    expect, entries = case["expect"], case["dag"]["nodes"]
    number = {entry["name"]: index for index, entry in enumerate(entries)}
    successors: list[list[int]] = [[] for _ in entries]
    for source, target in case["dag"]["edges"]:
        successors[number[source]].append(number[target])
    dag = Dag([DagNode(entry.get("serial", "")) for entry in entries], successors)
    found = allocate(dag, case["strategy"], case["max_stream_id"], case["base_stream_id"])
    if "required_streams" in expect:
        assert found.count == expect["required_streams"]
    if "required_streams_min" in expect:
        assert expect["required_streams_min"] <= found.count <= expect["required_streams_max"]
    for name, stream in expect.get("node_streams", {}).items():
        assert found.streams[number[name]] == stream
    for one, other in expect.get("equal", ()):
        assert found.streams[number[one]] == found.streams[number[other]]
    for name in expect.get("valid", ()):
        assert found.streams[number[name]] != -1


@pytest.mark.cases(levels=("dag_path_cover",))
def test_path_cover(case: Json) -> None:
    successors: list[list[int]] = [[] for _ in range(case["node_count"])]
    edges: list[list[int]] = case["edges"]
    for source, target in edges:
        successors[source - 1].append(target - 1)
    chains = path_cover(successors)
    assert len(chains) == case["expect"]["cover"] == case["expect"]["chains"]
    assert sorted(node for chain in chains for node in chain) == list(range(case["node_count"]))


@pytest.mark.cases(levels=("dag_pass",))
def test_dag_pass(case: Json) -> None:
    nodes = [
        {"name": "a", "type": "Relu", "stream": 0},
        {"name": "b", "type": "Relu", "stream": 0},
    ]
    given = cast("Json", case.get("graph", {"nodes": nodes, "data_edges": [["a:0", "b:0"]]}))
    module = stream_module({**case, "graph": given})
    set_engine_table(module, case.get("engines", {}))
    root = graphs(module)[0]
    root.attributes["ge.stream_num"] = i64(case["start"]["max_stream_id"] + 1)
    error = run(module, [GeStreamAuto(case["options"].get(AUTO, ""))])
    if check_status(case["expect"], error) and "max_stream_id" in case["expect"]:
        assert get_int(root, "ge.stream_num") == case["expect"]["max_stream_id"] + 1
