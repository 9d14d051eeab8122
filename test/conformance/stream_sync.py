"""The sync and split phases on the cases of streams.json, and their expectations: for the tests of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stream_case_graphs import nodes_by_name, stream_of
from stream_expect import caught, check_attached, check_status
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_ids
from ge_dialect.analysis.neighbours import control_in_nodes
from ge_dialect.analysis.task_count import assigned_sqe_num
from ge_dialect.dialects.attrs import string
from ge_dialect.dialects.ge.access import ge_attr, ge_type, get_int, get_ints, node_name
from ge_dialect.passes import PASSES
from ge_dialect.transforms.split.active_streams import (
    update_active_streams,
)
from ge_dialect.transforms.split.ge_default_streams import GeDefaultStreams
from ge_dialect.transforms.split.ge_split_streams import (
    choose_huge_streams,
    note_split,
    split_streams,
)
from ge_dialect.transforms.split.limits import StreamLimits
from ge_dialect.transforms.split.queue_entries import entry_table
from ge_dialect.transforms.split.splitting import Split
from ge_dialect.transforms.streams.ge_attached_sync import GeAttachedSync
from ge_dialect.transforms.sync.activation import (
    Labels,
    activate_labels,
    activate_subgraphs,
    active_streams,
    set_specific_streams,
    specific_streams,
)
from ge_dialect.transforms.sync.attached_events import (
    cover_attached_streams,
)
from ge_dialect.transforms.sync.events import Events, SyncKind
from ge_dialect.transforms.sync.ge_activate_streams import record_logic_streams
from ge_dialect.transforms.sync.ge_insert_sync_nodes import GeInsertSyncNodes
from ge_dialect.transforms.sync.insertion import insert_events
from ge_dialect.transforms.sync.loops import activate_loop
from ge_dialect.transforms.sync.model import STREAM_NUM, SyncModel
from ge_dialect.transforms.sync.optimization import (
    drop_events_of_switches,
    optimize_by_activation,
    optimize_by_recv,
    optimize_by_send,
)
from ge_dialect.transforms.sync.switches import activate_switches
from ge_dialect.universe import resolve

Case = dict[str, Any]


# --- the model of a case -------------------------------------------------------------------------------------------


def model_of(module: ModuleOp) -> SyncModel:
    model = SyncModel.of(module)
    assert model is not None
    return model


def limits_of(case: Case) -> StreamLimits:
    given = case.get("limits", {})
    if given.get("query_fails"):
        return StreamLimits(None, None)
    return StreamLimits(
        given.get("normal_tasks", 1024),
        given.get("huge_tasks", 8192),
        given.get("unlimited_depth", False),
    )


@dataclass
class CaseCounts:
    """Tasks as the case gives them."""

    tasks: Mapping[str, int]
    sizes: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def generated(self, op: Operation) -> dict[int, int]:
        count = self.tasks.get(ge_type(op), self.tasks.get("default", 0))
        if count == 0:
            return {}
        entries = max(1, self.tasks.get("sqe_num", 1))
        found = {stream_of(op): count * entries}
        if side := self.tasks.get("per_attached", 0):
            found |= {stream: side * entries for stream in attached_ids(op) if stream != -1}
        return found

    def assigned(self, op: Operation, *, attached: bool = False) -> int | None:
        return assigned_entries(op, attached)


HCCL_LIB, BUILDER = "ops_kernel_info_hccl", "ge.kernel_lib"


def assigned_entries(op: Operation, attached: bool) -> int | None:
    """The node's own word. A node that no engine has placed has no builder, so nothing but its word counts."""
    if BUILDER not in op.attributes and "ge.engine" not in op.attributes:
        op.attributes[BUILDER] = string("")
        try:
            return assigned_sqe_num(op, attached=attached)
        finally:
            del op.attributes[BUILDER]
    return assigned_sqe_num(op, attached=attached)


def place_builders(module: ModuleOp) -> None:
    """Keep of the engines only whose word about collectives counts: the tasks are the case's."""
    for op in nodes_by_name(module).values():
        engine = op.attributes.pop("ge.engine", None)
        if engine == string("DNN_HCCL"):
            op.attributes[BUILDER] = string(HCCL_LIB)


def decide_huge(case: Case, model: SyncModel, main_streams: int) -> list[int]:
    """Spec 8.2, for a device with limits."""
    limits = limits_of(case)
    if limits.is_unlimited():
        return []
    return choose_huge_streams(model, CaseCounts(case.get("tasks", {})), limits, main_streams)


def presets(case: Case) -> dict[str, Iterable[int]]:
    return case.get("preset_labelled_streams", {})


def labels_of(case: Case, model: SyncModel, logic_of: Mapping[int, int] | None = None) -> Labels:
    """The tables of spec 9.1, with what the case sets beforehand."""
    labels = Labels.of(model, presets(case), logic_of)
    found = nodes_by_name(model.module)
    for label, names in case.get("preset_label_activators", {}).items():
        known = labels.activators.setdefault(label, [])
        known += [found[name] for name in names if found[name] not in known]
    return labels


# --- the phases as the allocator runs them --------------------------------------------------------------------------


def synchronize(case: Case, module: ModuleOp) -> None:
    """All of spec section 6 on the model."""
    notify = kind_of_events(case) == "notify"
    if not presets(case):
        names = [
            "ge-activate-streams",
            "ge-insert-events",
            "ge-optimize-events",
            "ge-reuse-events",
            "ge-insert-attached-events",
            "ge-activate-switches",
            "ge-activate-loops",
            "ge-cover-attached-streams",
            "ge-insert-sync-nodes",
            "ge-attached-sync",
        ]
        for name in names:
            options = {"kind": "notify"} if notify and name == "ge-insert-events" else {}
            resolve(PASSES[name])(**options).apply(Context(), module)
        return
    # Tables that are set before the call are no state of the IR: the same steps with these tables in hand.
    model = model_of(module)
    record_logic_streams(model)
    labels = labels_of(case, model)
    specific = activate_labels(model, labels) | activate_subgraphs(model)
    streams = max(model.streams, case.get("stream_num", 0))
    events = Events("notify" if notify else "event")
    insert_events(model, labels, events)
    optimize(model, labels, events, [nodes for _, nodes in model.by_stream()])
    events.renumber(model)
    events.write(model)
    made = activate_switches(model, labels, streams)
    specific.update(stream_of(op) for op in made)
    model = model_of(module)
    model.set_count(STREAM_NUM, streams + len(made))
    set_specific_streams(model, specific)
    events = Events.read(model)
    activate_loop(model, specific, model.streams, events)
    cover_attached_streams(model, events)
    events.write(model)
    GeInsertSyncNodes().apply(Context(), module)
    GeAttachedSync().apply(Context(), module)


def optimize(
    model: SyncModel, labels: Labels, events: Events, streams: list[list[Operation]]
) -> None:
    optimize_by_send(streams, events)
    optimize_by_recv(streams, events)
    optimize_by_activation(model, labels, events)
    drop_events_of_switches(events)


@dataclass
class Cut:
    """A model after splitting, its Send and Recv nodes not made yet."""

    split: Split
    events: Events
    streams: int


def cut(
    case: Case,
    module: ModuleOp,
    huge: bool = False,
    activate: bool = False,
    events: Events | None = None,
) -> Cut:
    """Spec 8.3 to 8.6, and 9.5 if asked for."""
    model = model_of(module)
    if events is None:
        events = Events.read(model)
    if limits_of(case).is_unlimited():
        return Cut(Split(model.streams), events, model.streams)
    counts = CaseCounts(case.get("tasks", {}))
    split = split_streams(model, counts, limits_of(case), events, huge)
    streams = split.total
    if activate:
        labels = labels_of(case, model, split.logic_of)
        specific = specific_streams(model)
        streams, _ = update_active_streams(model, split, labels, specific, events)
        set_specific_streams(model, specific)
    return Cut(split, events, streams)


def finish(module: ModuleOp, made: Cut) -> None:
    """The nodes of the events that splitting needed, and streams for all nodes."""
    model = model_of(module)
    note_split(model, made.split)
    model.set_count(STREAM_NUM, made.streams)
    made.events.write(model)
    GeInsertSyncNodes().apply(Context(), module)
    GeDefaultStreams().apply(Context(), module)


# --- expectations ------------------------------------------------------------------------------------------------------


def run_expecting(case: Case, action: Callable[[], object]) -> bool:
    """Run it; whether it went well, which has to be what the case expects."""
    return check_status(case["expect"], caught(action))


def names_of(ops: Iterable[Operation]) -> set[str]:
    return {node_name(op) for op in ops}


def counts_by_name(table: Mapping[Operation, Any]) -> dict[str, int]:
    return {
        node_name(op): sum(map(len, ids.values())) if isinstance(ids, dict) else len(ids)
        for op, ids in table.items()
    }


def lists_by_name(table: Mapping[Operation, list[int]]) -> dict[str, list[int]]:
    return {node_name(op): ids for op, ids in table.items()}


def check_events(expect: Case, events: Events) -> None:
    tables = {
        "main_send": events.send,
        "main_recv": events.recv,
        "attached_send": events.side_send,
        "attached_recv": events.side_recv,
    }
    for name, table in tables.items():
        if name in expect:
            assert sum(counts_by_name(table).values()) == expect[name], name
        if f"{name}_count" in expect:
            counts = counts_by_name(table)
            for node, count in expect[f"{name}_count"].items():
                assert counts.get(node, 0) == count, (name, node)
        if f"{name}_nodes" in expect:
            wanted = expect[f"{name}_nodes"]
            if isinstance(wanted, int):
                assert len(table) == wanted, name
            else:
                assert names_of(table) == set(wanted), name
    check_lists(expect, events)


def check_lists(expect: Case, events: Events) -> None:
    for name, table in (("send", events.send), ("recv", events.recv)):
        found, counts = lists_by_name(table), counts_by_name(table)
        for key in (name, f"{name}_events"):
            for node, ids in expect.get(key, {}).items():
                assert found.get(node, []) == ids, (key, node)
        for node, count in expect.get(f"{name}_count", {}).items():
            assert counts.get(node, 0) == count, (name, node)


def check_model(case: Case, module: ModuleOp, initial: Mapping[str, int], suffix: str = "") -> None:
    expect = case["expect"]
    model = model_of(module)
    found = nodes_by_name(module)
    for key in ("stream_num", "event_num", "notify_num"):
        for name in {key, f"{key}{suffix}"} if suffix else {key}:
            if name in expect:
                assert (get_int(model.root, f"ge.{key}", 0) or 0) == expect[name], name
    for name, stream in expect.get("node_streams", {}).items():
        assert stream_of(found[name]) == stream, name
    for name, node in expect.get("new_nodes", {}).items():
        assert ge_type(found[name]) == node["type"]
        assert stream_of(found[name]) == node["stream"]
    for name, streams in expect.get("active_stream_list", {}).items():
        assert active_streams(found[name]) == streams, name
    check_attached(expect, found)
    if "attr_equals_initial_stream" in expect:
        assert expect["attr_equals_initial_stream"]["attr"] == "_logic_stream_id"
        for name in expect["attr_equals_initial_stream"]["nodes"]:
            assert get_int(found[name], "ge.logic_stream") == initial[name]
    if "notify_types" in expect:
        assert list(get_ints(model.root, "ge.notify_types") or ()) == expect["notify_types"]
    check_sync_nodes(expect, model, found)
    check_specific(expect, model, suffix)


def expected_at(expect: Case, when: str) -> Case:
    """What is expected at one moment (`after_sync`, `final`, ...), under the plain names."""
    return {
        key.removesuffix(f"_{when}"): value
        for key, value in expect.items()
        if key.endswith(f"_{when}")
    }


def events_of_nodes(model: SyncModel) -> Events:
    """The events that Send and Recv nodes stand for, by the nodes that they belong to."""
    found = Events()
    for op in model.nodes:
        for source in control_in_nodes(op):
            if ge_type(op) in SENDS:
                _note(found.send, found.side_send, source, op, SENDS[ge_type(op)])
            elif ge_type(source) in RECVS:
                _note(found.recv, found.side_recv, op, source, RECVS[ge_type(source)])
    return found


SENDS = {"Send": "event_id", "SendNotify": "notify_id"}
RECVS = {"Recv": "event_id", "RecvNotify": "notify_id"}


def _note(
    main: dict[Operation, list[int]],
    side: dict[Operation, dict[int, list[int]]],
    op: Operation,
    flag: Operation,
    attr: str,
) -> None:
    number, stream = ge_attr(flag, attr), stream_of(flag)
    if stream == stream_of(op):
        main.setdefault(op, []).append(number)
    else:
        side.setdefault(op, {}).setdefault(stream, []).append(number)


def kind_of_events(case: Case) -> SyncKind:
    """Events or notifies, as the case or its options say."""
    notify = case.get("options", {}).get("ge.event") == "notify"
    return "notify" if notify or case.get("kind") == "notify" else "event"


def check_sync_nodes(expect: Case, model: SyncModel, found: Mapping[str, Operation]) -> None:
    types = [ge_type(op) for op in model.nodes]
    for key, kind in (("send_nodes", "Send"), ("recv_nodes", "Recv")):
        if isinstance(expect.get(key), int):
            assert types.count(kind) == expect[key]
    for name in expect.get("send_after_on_attached_stream", ()):
        op = found[name]
        behind = [each for each in model.out_nodes(op) if op in control_in_nodes(each)]
        assert [ge_type(each) for each in behind] == ["Send"]
        assert stream_of(behind[0]) in attached_ids(op)
    for name, count in expect.get("recv_before_count", {}).items():
        before = list(control_in_nodes(found[name]))
        assert [ge_type(each) for each in before] == ["Recv"] * count, name
    for name in expect.get("recv_stream_equals_node", ()):
        for each in control_in_nodes(found[name]):
            assert stream_of(each) == stream_of(found[name])


def check_split(case: Case, module: ModuleOp, made: Cut) -> None:
    expect = case["expect"]
    found = nodes_by_name(module)
    for key in ("stream_num", "stream_num_final"):
        if key in expect:
            assert made.streams == expect[key]
    for key in ("event_num", "event_num_final"):
        if key in expect:
            assert made.events.count == expect[key]
    check_ranges(case, found)
    check_pieces(expect, found, made)
    for name, streams in expect.get("active_stream_list", {}).items():
        assert active_streams(found[name]) == streams, name
    check_specific(expect, model_of(module), "_after_split")
    for name, node in expect.get("new_nodes", {}).items():
        assert ge_type(found[name]) == node["type"]
        assert stream_of(found[name]) == node["stream"]


def check_specific(expect: Case, model: SyncModel, when: str) -> None:
    """The streams that some node starts, as far as the case speaks of this moment or of none."""
    early, late = when == "_after_sync", ("_after_sync", "_after_cover")
    for key, streams in expect.items():
        if key.startswith("specific_streams") and key.endswith(late) is early:
            assert specific_streams(model) == set(streams), key


def check_pieces(expect: Case, found: Mapping[str, Operation], made: Cut) -> None:
    for name, stream in expect.get("node_streams_after_split", {}).items():
        assert stream_of(found[name]) == stream, name
    logic = {stream: stream for stream in range(made.split.streams)} | made.split.logic_of
    for piece, stream in expect.get("split_to_logic", {}).items():
        assert logic[int(piece)] == stream
    for first, second in expect.get("after_split_different_main", ()):
        assert stream_of(found[first]) != stream_of(found[second])
    for first, second in expect.get("after_split_different_attached", ()):
        assert attached_ids(found[first]) != attached_ids(found[second])
    for first, second in _pairs(expect):
        assert events_between(made.events, found[first], found[second])


def check_ranges(case: Case, found: Mapping[str, Operation]) -> None:
    expect = case["expect"]
    graph = case.get("graph", {})
    chains = (case.get("generate_chain"), graph.get("generate_chain"), graph.get("then_chain"))
    prefix = next((chain["prefix"] for chain in chains if chain), "")
    for entry in expect.get("node_stream_ranges", ()):
        for index in range(entry["from"], entry["to"] + 1):
            op = found[f"{entry.get('prefix', prefix)}{index}"]
            assert stream_of(op) == entry.get("stream", stream_of(op)), index
            if "attached" in entry:
                assert attached_ids(op) == entry["attached"], index


def check_entries(case: Case, module: ModuleOp) -> None:
    """Queue entries and lengths of the node lists, before splitting (spec 8.3)."""
    expect = case["expect"]
    if not {"task_count", "stream_nodes_count"} & expect.keys():
        return
    found = nodes_by_name(module)
    counts = CaseCounts(case.get("tasks", {}))
    table = entry_table(model_of(module), counts, limits_of(case).normal())
    for name, entries in expect.get("task_count", {}).items():
        assert {str(stream): count for stream, count in table[found[name]].items()} == entries
    for stream, length in expect.get("stream_nodes_count", {}).items():
        assert sum(int(stream) in entries for entries in table.values()) == length


def _pairs(expect: Case) -> list[list[str]]:
    pairs = expect.get("split_event_between", [])
    return [pairs] if pairs and isinstance(pairs[0], str) else pairs


def events_between(events: Events, sender: Operation, receiver: Operation) -> set[int]:
    sent = {*events.send.get(sender, ())}
    received = {*events.recv.get(receiver, ())}
    for ids in events.side_send.get(sender, {}).values():
        sent.update(ids)
    for ids in events.side_recv.get(receiver, {}).values():
        received.update(ids)
    return sent & received
