"""Pass `ge-attached-sync`: events and notifies that nodes ask for beside those between streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel, has_ge_attr
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import (
    ge_attr,
    get_int,
    get_ints,
    node_name,
    set_ge_attr,
    set_ints,
)
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.streams.attached_resources import (
    DEFAULT_GROUP,
    NAME,
    REQUIRED,
    REUSE_KEY,
    SYNC_LIST,
    Element,
    Requests,
    elements,
    give,
    is_served,
    named_group,
    required_text,
    resource_error,
    uses_v2,
)
from ge_dialect.transforms.streams.stream_pass import StreamPass

EVENT_NUM, NOTIFY_NUM, NOTIFY_TYPES = "ge.event_num", "ge.notify_num", "ge.notify_types"
OLD_EVENTS, OLD_TYPE, OLD_KEY = (
    "_attached_sync_res_info",
    "_attached_sync_res_type",
    "_attached_sync_res_key",
)
OLD_NOTIFY, NOTIFY_POLICY, NOTIFY_KEY = (
    "_attached_notify_info",
    "_attached_notify_policy",
    "_attached_notify_key",
)
NOTIFY_TYPE, NOTIFY_COUNT = "_attached_notify_type", "_attached_notify_num"
V2_TYPE = "_attached_resource_type"
V2_KINDS = {0: "event", 1: "notify"}
DEFAULT_NOTIFY_TYPE = 0

Kind = Literal["event", "notify"]


@dataclass(frozen=True)
class GeAttachedSync(StreamPass):
    """Give nodes the events and notifies that they ask for; ids go on where those between streams end.

    Expects that the events and notifies between streams have their ids. Forms (spec/streams.md section 5.4):

    * `_attached_sync_res_info`, a list: an event an element of type `event`, shared by equal `_attached_sync_res_key`;
      ids in `event_id`;
    * `_attached_notify_info`, a dictionary: `_attached_notify_num` notifies, shared by equal attribute `group` and
      `_attached_notify_key`; ids in `notify_id`;
    * `_attached_sync_res_info_list`, the second version: an event (`_attached_resource_type` 0) or a notify (1) a
      required element, shared by equal name and reuse key; one without reuse key is shared with nobody. The key that
      counts is written back; ids in `_attached_resource_id`.

    The first two attributes go away. Graphs never share. Notifies first, then events; events are not given in graphs of
    unknown shape below the root, and none at all when the root is of unknown shape. Guarantees afterwards:
    `ge.event_num`, `ge.notify_num` and `ge.notify_types` of the root graph go on counting.

    Raises StreamError, naming the node, for an unknown policy, a missing group, key or name, and for notifies of one
    key that differ in type.

    Before and after, four events between streams:

        %a = ge.op "Mc2" () attrs {_attached_sync_res_info = [{_attached_sync_res_type = "event"}]} {ge.name = "a"}
        %a = ge.op "Mc2" () attrs {event_id = array<i64: 4>} {ge.name = "a"}
    """

    name = "ge-attached-sync"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        graphs = list(model.dynamic_graphs) if root.is_unknown else model.graphs
        counters = SyncCounters(
            get_int(root.graph, EVENT_NUM, 0) or 0,
            get_int(root.graph, NOTIFY_NUM, 0) or 0,
            list(get_ints(root.graph, NOTIFY_TYPES) or ()),
        )
        before = (counters.events, counters.notifies)
        assign_attached_sync(graphs, counters, with_events=not root.is_unknown)
        changed = (counters.events, counters.notifies) != before
        if changed:
            root.graph.attributes[EVENT_NUM] = i64(counters.events)
            root.graph.attributes[NOTIFY_NUM] = i64(counters.notifies)
            set_ints(root.graph, NOTIFY_TYPES, counters.types)
        return changed


@dataclass
class SyncCounters:
    """Ids given so far, and the types of all notifies."""

    events: int = 0
    notifies: int = 0
    types: list[int] = field(default_factory=list[int])
    nameless: int = 0


def assign_attached_sync(
    graphs: Iterable[GraphNodes], counters: SyncCounters, with_events: bool = True
) -> None:
    """Serve the graphs one by one, all notifies first. Raises StreamError."""
    graphs = list(graphs)
    # Notifies between streams have the default type; so many entries come first, no more and no less.
    counters.types += [DEFAULT_NOTIFY_TYPE] * (counters.notifies - len(counters.types))
    del counters.types[counters.notifies :]
    for view in graphs:
        _write_v2_keys(view, counters)
    for view in graphs:
        _notifies(view, counters)
    for view in graphs:
        if with_events and not (view.parent is not None and view.is_unknown):
            _events(view, counters)


def _nodes(view: GraphNodes) -> Iterator[GeNode]:
    for op in view.nodes:
        if isinstance(op, GeNode) and is_served(op):
            yield op


def _write_v2_keys(view: GraphNodes, counters: SyncCounters) -> None:
    """Make the reuse key of every element of the second version the key that counts."""
    for op in _nodes(view):
        if not has_ge_attr(op, SYNC_LIST):
            continue
        written: list[Element] = []
        for element in elements(op, SYNC_LIST):
            if element.get(V2_TYPE) not in V2_KINDS:
                written.append(element)
                continue
            name, key = required_text(op, element, NAME), element.get(REUSE_KEY, "")
            if not key:
                key = f"{node_name(op)}_attr_{counters.nameless}"
                counters.nameless += 1
            written.append({**element, REUSE_KEY: f"{name}{key}"})
        set_ge_attr(op, SYNC_LIST, written)


def _collect_v2(op: GeNode, kind: Kind, requests: Requests) -> None:
    for element in elements(op, SYNC_LIST):
        if V2_KINDS.get(element.get(V2_TYPE, -1)) == kind and element.get(REQUIRED, False) is True:
            requests.add(op, DEFAULT_GROUP, element[REUSE_KEY])


def _give_v2(op: GeNode, kind: Kind, key: str, number: int) -> None:
    chosen = {
        place: number
        for place, element in enumerate(elements(op, SYNC_LIST))
        if V2_KINDS.get(element.get(V2_TYPE, -1)) == kind and element.get(REUSE_KEY) == key
    }
    give(op, SYNC_LIST, chosen)


def _events(view: GraphNodes, counters: SyncCounters) -> None:
    requests = Requests()
    for op in _nodes(view):
        if uses_v2(op):
            _collect_v2(op, "event", requests)
        elif has_ge_attr(op, OLD_EVENTS):
            for place, element in enumerate(elements(op, OLD_EVENTS)):
                if element.get(OLD_TYPE) == "event":
                    alone = f"{node_name(op)}_attr_{place}"
                    requests.add(op, DEFAULT_GROUP, element.get(OLD_KEY, alone))
            set_ge_attr(op, OLD_EVENTS, None)
    for key, _, nodes in requests.in_order():
        for op in nodes:
            if uses_v2(op):
                _give_v2(op, "event", key, counters.events)
            else:
                set_ge_attr(op, "event_id", [*ge_attr(op, "event_id", []), counters.events])
        counters.events += 1


def _notifies(view: GraphNodes, counters: SyncCounters) -> None:
    requests = Requests()
    types: dict[GeNode, int] = {}
    for op in _nodes(view):
        if uses_v2(op):
            _collect_v2(op, "notify", requests)
            continue
        info = ge_attr(op, OLD_NOTIFY)
        if isinstance(info, Mapping):
            named: dict[str, Any] = dict(info)  # pyright: ignore[reportUnknownArgumentType]
            types[op] = int(named.get(NOTIFY_TYPE, DEFAULT_NOTIFY_TYPE))
            requests.add(
                op,
                named_group(op, named, NOTIFY_POLICY),
                required_text(op, named, NOTIFY_KEY),
                int(named.get(NOTIFY_COUNT, 1)),
            )
            set_ge_attr(op, OLD_NOTIFY, None)
    for key, count, nodes in requests.in_order():
        kind = types.get(nodes[0], DEFAULT_NOTIFY_TYPE)
        ids = list(range(counters.notifies, counters.notifies + count))
        for op in nodes:
            if types.get(op, DEFAULT_NOTIFY_TYPE) != kind:
                raise resource_error(
                    op, f"shares notifies '{key}' with a node whose notifies are of type {kind}"
                )
            if uses_v2(op):
                _give_v2(op, "notify", key, ids[0])
            else:
                set_ge_attr(op, "notify_id", [*ge_attr(op, "notify_id", []), *ids])
        counters.notifies += count
        counters.types += [kind] * count
