"""Events, activation and splitting of streams (streams.json)."""

from __future__ import annotations

import pytest
from stream_case_graphs import nodes_by_name, stream_module, stream_of
from stream_expect import caught, check_status
from stream_sync import (
    BUILDER,
    Case,
    Cut,
    assigned_entries,
    check_entries,
    check_events,
    check_model,
    check_split,
    check_sync_nodes,
    cut,
    decide_huge,
    events_of_nodes,
    expected_at,
    finish,
    kind_of_events,
    labels_of,
    lists_by_name,
    model_of,
    optimize,
    presets,
    run_expecting,
    synchronize,
)

from ge_dialect.dialects.attrs import string
from ge_dialect.dialects.ge.access import ge_attr, ge_type, get_ints
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.split.active_streams import activate_subgraph_pieces
from ge_dialect.transforms.split.splitting import Split
from ge_dialect.transforms.sync.activation import (
    Labels,
    activate_labels,
    activate_subgraphs,
    active_streams,
    set_specific_streams,
    set_streams_of_label,
)
from ge_dialect.transforms.sync.attached_events import (
    cover_attached_streams,
    insert_attached_pair,
    insert_value_dependencies,
)
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.insertion import PairRule, insert_events
from ge_dialect.transforms.sync.optimization import optimize_by_recv, optimize_by_send
from ge_dialect.transforms.sync.switches import activate_switch

# --- events --------------------------------------------------------------------------------------------------------------


@pytest.mark.cases(levels=("insert_pair", "insert_attached_pair"))
def test_pair(case: Case) -> None:
    module = stream_module(case)
    model, found = model_of(module), nodes_by_name(module)
    events = Events(kind_of_events(case))
    first, second = (found[name] for name in case["pair"])
    if case["level"] == "insert_pair":
        rule = PairRule(model, labels_of(case, model), events)
        went_well = run_expecting(case, lambda: rule(first, second))
    else:
        went_well = run_expecting(case, lambda: insert_attached_pair(first, second, events))
    if not went_well:
        return
    check_events(case["expect"], events)
    for key in ("event_num", "notify_num"):
        if key in case["expect"]:
            assert events.count == case["expect"][key]


@pytest.mark.cases(levels=("insert_events", "attached_value_dependency"))
def test_insertion(case: Case) -> None:
    module = stream_module(case)
    model = model_of(module)
    events = Events(kind_of_events(case))
    labels = labels_of(case, model)
    if case["level"] == "insert_events":
        went_well = run_expecting(case, lambda: insert_events(model, labels, events))
    else:
        went_well = run_expecting(case, lambda: insert_value_dependencies(model, events))
    if went_well:
        check_events(case["expect"], events)
        if "event_num" in case["expect"]:
            assert events.count == case["expect"]["event_num"]


@pytest.mark.cases(levels=("optimise_send", "optimise_recv", "optimise_all"))
def test_optimisation(case: Case) -> None:
    if "graph" not in case:
        listed = [
            {"name": name, "type": "test", "stream": int(stream)}
            for stream, names in case["stream_nodes"].items()
            for name in names
        ]
        known = {entry["name"] for entry in listed}
        others = dict.fromkeys(name for name in (*case["send"], *case["recv"]) if name not in known)
        listed += [{"name": name, "type": "test", "stream": -1} for name in others]
        case = {**case, "graph": {"nodes": listed}}
    module = stream_module(case)
    model, found = model_of(module), nodes_by_name(module)
    events = Events(kind_of_events(case))
    events.send = {found[name]: list(ids) for name, ids in case["send"].items()}
    events.recv = {found[name]: list(ids) for name, ids in case["recv"].items()}
    streams = [nodes for _, nodes in model.by_stream()]

    def act() -> None:
        if case["level"] == "optimise_send":
            optimize_by_send(streams, events)
        elif case["level"] == "optimise_recv":
            optimize_by_recv(streams, events)
        else:
            labels = labels_of(case, model)
            activate_labels(model, labels)
            optimize(model, labels, events, streams)

    if not run_expecting(case, act):
        return
    for name, table in (("send", events.send), ("recv", events.recv)):
        if name in case["expect"]:
            wanted = case["expect"][name]
            assert lists_by_name(table) == {node: ids for node, ids in wanted.items() if ids}
    check_events({**case["expect"], "send": {}, "recv": {}}, events)


@pytest.mark.cases(levels=("sync_nodes", "sync_then_split"))
def test_synchronisation(case: Case) -> None:
    module = stream_module(case)
    initial = {name: stream_of(op) for name, op in nodes_by_name(module).items()}
    error = caught(lambda: synchronize(case, module))
    if error is not None or case["level"] == "sync_nodes":
        if not check_status(case["expect"], error):
            return
        check_model(case, module, initial)
        check_events(case["expect"], events_of_nodes(model_of(module)))
        module.verify()
        return
    expect = case["expect"]
    between = expected_at(expect, "after_sync")
    check_model({**case, "expect": between}, module, initial)
    check_events(between, events_of_nodes(model_of(module)))
    logic = {name: stream_of(op) for name, op in nodes_by_name(module).items()}
    result: list[Cut] = []
    if not run_expecting(case, lambda: result.append(cut(case, module, activate=True))):
        return
    made = result[0]
    check_split(case, module, made)
    check_events(expect, made.events)
    finish(module, made)
    check_model(case, module, initial, "_final")
    check_model({**case, "expect": expected_at(expect, "final")}, module, initial)
    assert all(get_ints(op, "ge.send_events") is None for op in model_of(module).nodes)
    module.verify()
    for name, stream in logic.items():
        now = stream_of(nodes_by_name(module)[name])
        assert now == max(stream, 0) or made.split.logic_of[now] == max(stream, 0)


# --- splitting -----------------------------------------------------------------------------------------------------------


@pytest.mark.cases(levels=("split", "cover_then_split", "split_and_activate", "limits"))
def test_split(case: Case) -> None:
    if not {"graph", "nodes", "generate_chain"} & case.keys():
        case = {**case, "nodes": [{"name": "A", "type": "Relu", "stream": 0}]}
    module = stream_module(case)
    events = Events()
    if case["level"] == "cover_then_split":
        cover_attached_streams(model_of(module), events)
        if "event_num_after_cover" in case["expect"]:
            assert events.count == case["expect"]["event_num_after_cover"]
    if case["level"] == "split_and_activate":
        model = model_of(module)
        labels = labels_of(case, model)
        specific = activate_labels(model, labels) | activate_subgraphs(model)
        set_specific_streams(model, specific)
    if case["expect"].get("status", "SUCCESS") == "SUCCESS":
        check_entries(case, module)
    result: list[Cut] = []

    def act() -> None:
        activate = case["level"] == "split_and_activate"
        result.append(cut(case, module, activate=activate, events=events))

    if not run_expecting(case, act):
        return
    check_split(case, module, result[0])
    check_events(case["expect"], result[0].events)
    finish(module, result[0])
    check_sync_nodes(case["expect"], model_of(module), nodes_by_name(module))
    module.verify()


@pytest.mark.cases(levels=("single_then_split",))
def test_split_of_a_single_stream(case: Case) -> None:
    module = stream_module(case)
    model = model_of(module)
    huge: list[int] = []

    def decide() -> None:
        if case.get("options", {}).get("ge.enableSingleStream") == "true":
            streams = case.get("main_stream_num", case.get("stream_num", 0))
            huge.extend(decide_huge(case, model, streams))

    def act() -> None:
        decide()
        result.append(cut(case, module, bool(huge)))

    result: list[Cut] = []
    if not run_expecting(case, act):
        return
    if "huge_streams" in case["expect"]:
        assert huge == case["expect"]["huge_streams"]
    check_split(case, module, result[0])
    check_events(case["expect"], result[0].events)
    finish(module, result[0])
    check_sync_nodes(case["expect"], model_of(module), nodes_by_name(module))
    module.verify()


@pytest.mark.cases(levels=("task_count",))
def test_task_count(case: Case) -> None:
    module = stream_module({"nodes": [{"name": "node", **case["node"]}]})
    op = next(iter(nodes_by_name(module).values()))
    for key in ("lib", "kernel_lib", "op_kernel_lib", "op_kernel_lib_name"):
        if key in case["node"]:
            op.attributes[BUILDER] = string(case["node"][key])
    expect = case["expect"]
    for key, attached in (("main", False), ("attached", True)):
        if key in expect:
            found = assigned_entries(op, attached)
            assert (case.get("generated", 0) if found is None else found) == expect[key]


# --- activation ----------------------------------------------------------------------------------------------------------


@pytest.mark.cases(levels=("switch_activation", "set_active_stream_list"))
def test_activation_of_labels(case: Case) -> None:
    kind = "StreamSwitch" if case["level"] == "switch_activation" else "StreamActive"
    given = {**case, "graph": case.get("graph", {"nodes": [{"name": "node", "type": kind}]})}
    module = stream_module(given)
    op = next(each for each in model_of(module).nodes if ge_type(each) == kind)
    labels = Labels({label: set(streams) for label, streams in presets(case).items()})
    streams = case.get("stream_num", 1)

    def act() -> None:
        if kind == "StreamSwitch":
            activate_switch(op, case["labels"], labels, streams)
        else:
            set_streams_of_label(op, case["labels"][0], labels)

    if not run_expecting(case, act):
        return
    found = nodes_by_name(module)
    for name, node in case["expect"].get("new_nodes", {}).items():
        assert ge_type(found[name]) == node["type"]
        assert stream_of(found[name]) == node["stream"]
    expected = case["expect"].get("active_stream_list")
    if isinstance(expected, list):
        assert active_streams(op) == expected
    elif expected is not None:
        for name, listed in expected.items():
            assert active_streams(found[name]) == listed


@pytest.mark.cases(levels=("activate_subgraphs_after_split",))
def test_activation_of_pieces(case: Case) -> None:
    module = stream_module(case)
    model, found = model_of(module), nodes_by_name(module)
    preset = case["preset"]
    logic = {int(piece): stream for piece, stream in preset["split_to_logic"].items()}
    pieces = {piece: stream for piece, stream in logic.items() if piece != stream}
    split = Split(min(pieces, default=model.streams), pieces)
    split.starts = {found[name]: [piece] for name, piece in preset["piece_first_nodes"].items()}
    by_graph: dict[str, GraphOp] = {x.sym_name.data: x for x in model.graphs.graphs}
    heads = {by_graph[name]: found[op] for name, op in preset["first_active"].items()}
    specific: set[int] = set(preset.get("specific_streams", ()))
    if not run_expecting(case, lambda: activate_subgraph_pieces(model, split, specific, heads)):
        return
    for key, streams in case["expect"].items():
        if key.startswith("specific_streams"):
            assert specific == set(streams)
    for name, streams in case["expect"].get("active_stream_list", {}).items():
        assert active_streams(found[name]) == streams
        assert ge_attr(found[name], "active_stream_list") == streams
