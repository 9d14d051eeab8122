"""Options, labels, attached streams and automatic modes against the facts of streams.json (any file of that schema)."""

from __future__ import annotations

from typing import cast

import pytest
from stream_case_graphs import Json, nodes_by_name, stream_module
from stream_expect import caught, check_attached, check_status, check_streams, run
from stream_options import AUTO

from ge_dialect.analysis.streams.nodes import StreamModel
from ge_dialect.analysis.streams.path_cover import path_cover
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, get_int, graphs
from ge_dialect.transforms.streams.auto_mode import AutoMode, effective_auto_mode, parse_auto_mode
from ge_dialect.transforms.streams.dag.allocate import allocate
from ge_dialect.transforms.streams.dag.problem import Dag, DagNode
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.ge_stream_attached import assign_attached_streams
from ge_dialect.transforms.streams.ge_stream_auto import GeStreamAuto
from ge_dialect.transforms.streams.ge_stream_dynamic import ac_parallel
from ge_dialect.transforms.streams.ge_transfer_stream_labels import GeTransferStreamLabels

# --- options and labels -------------------------------------------------------------------------------------------------


@pytest.mark.cases(levels=("option_check",))
def test_option(case: Json) -> None:
    def read() -> None:
        for name, value in case["options"].items():
            if name == AUTO:
                parse_auto_mode(value)
            else:
                assert name == "ac_parallel_enable"
                ac_parallel(value)

    check_status(case["expect"], caught(read))


@pytest.mark.cases(levels=("auto_mode_parse",))
def test_auto_mode(case: Json) -> None:
    expect = case["expect"]
    for key, from_graph in (("modes", False), ("from_option", False), ("from_graph_attr", True)):
        for text, wanted in expect.get(key, {}).items():
            error = caught(
                lambda text=text, from_graph=from_graph: parse_auto_mode(text, from_graph)
            )
            assert (error is not None) is (wanted == "invalid"), text
            if error is None:
                mode = parse_auto_mode(text, from_graph)
                assert [mode.kind, mode.streams] == list(wanted)
    for text in expect.get("invalid", ()):
        assert isinstance(caught(lambda text=text: parse_auto_mode(text)), StreamError)
    if "effective" not in expect and "status" not in expect:
        return
    module = stream_module({**case, "graph": {"nodes": []}})
    option = case.get("options", {}).get(AUTO, "")
    modes: list[AutoMode] = []
    if check_status(
        expect, caught(lambda: modes.append(effective_auto_mode(graphs(module)[0], option)))
    ):
        mode = modes[0]
        shown = {f"{mode.kind}:{mode.streams}", *([] if mode.is_dag else [mode.kind])}
        assert expect.get("effective", mode.kind) in shown
        assert expect.get("from_graph", mode.from_graph) is mode.from_graph


@pytest.mark.cases(levels=("label_transfer",))
def test_label_transfer(case: Json) -> None:
    given = case.get("node_attrs", {})
    nodes = [{"name": name, "type": "TransData", "attrs": attrs} for name, attrs in given.items()]
    module = stream_module({"graph": case.get("graph", {"nodes": nodes})})
    if not check_status(case["expect"], run(module, [GeTransferStreamLabels()])):
        return
    found = nodes_by_name(module)
    for name, attrs in case["expect"].get("attrs", {}).items():
        for key, value in attrs.items():
            assert ge_attr(found[name], key) == value


@pytest.mark.cases(levels=("attached_stream",))
def test_attached(case: Json) -> None:
    expect = case["expect"]
    module = stream_module(case)
    streams = [case.get("start", {}).get("next_stream", 0)]

    def assign() -> None:
        streams.append(assign_attached_streams(StreamModel(module).graphs, streams[0]))

    if not check_status(expect, caught(assign)):
        return
    found = nodes_by_name(module)
    check_attached(expect, found)
    for key in ("next_stream", "total_stream_num", "stream_num"):
        if key in expect:
            assert streams[-1] == expect[key]


# --- the automatic modes ------------------------------------------------------------------------------------------------


@pytest.mark.cases(levels=("dag_allocate",))
def test_dag(case: Json) -> None:
    expect, entries = case["expect"], case["dag"]["nodes"]
    number = {entry["name"]: index for index, entry in enumerate(entries)}
    successors: list[list[int]] = [[] for _ in entries]
    for source, target in case["dag"].get("edges", ()):
        successors[number[source]].append(number[target])
    labels = [entry.get("serial") or "" for entry in entries]
    dag = Dag(
        [DagNode(label if isinstance(label, str) else "serial") for label in labels], successors
    )
    strategy, most = case.get("strategy", "LoadBalance"), case.get("max_stream_id", -1)
    found = allocate(dag, strategy, most, case.get("base_stream_id", 0))
    if "required_streams" in expect:
        assert found.count == expect["required_streams"]
    if "required_streams_min" in expect:
        assert found.count >= expect["required_streams_min"]
    if "required_streams_max" in expect:
        assert found.count <= expect["required_streams_max"]
    for name, stream in expect.get("node_streams", {}).items():
        assert found.streams[number[name]] == stream
    for one, other in expect.get("equal", ()):
        assert found.streams[number[one]] == found.streams[number[other]]
    for one, other in expect.get("different", ()):
        assert found.streams[number[one]] != found.streams[number[other]]
    for name in expect.get("valid", ()):
        assert found.streams[number[name]] != -1


@pytest.mark.cases(levels=("dag_path_cover",))
def test_path_cover(case: Json) -> None:
    successors: list[list[int]] = [[] for _ in range(case["node_count"])]
    edges: list[list[int]] = case.get("edges", [])
    for source, target in edges:
        successors[source - 1].append(target - 1)
    chains = path_cover(successors)
    for key in ("cover", "chains"):
        if key in case["expect"]:
            assert len(chains) == case["expect"][key]
    assert sorted(node for chain in chains for node in chain) == list(range(case["node_count"]))


@pytest.mark.cases(levels=("dag_pass",))
def test_dag_pass(case: Json) -> None:
    nodes = [
        {"name": "a", "type": "Relu", "stream": 0},
        {"name": "b", "type": "Relu", "stream": 0},
    ]
    given = cast("Json", case.get("graph", {"nodes": nodes, "data_edges": [["a:0", "b:0"]]}))
    module = stream_module({**case, "graph": given})
    root = graphs(module)[0]
    root.attributes["ge.stream_num"] = i64(case.get("start", {}).get("max_stream_id", 0) + 1)
    error = run(module, [GeStreamAuto(case.get("options", {}).get(AUTO, ""))])
    if not check_status(case["expect"], error):
        return
    if "max_stream_id" in case["expect"]:
        assert get_int(root, "ge.stream_num") == case["expect"]["max_stream_id"] + 1
    check_streams(case["expect"], nodes_by_name(module))
