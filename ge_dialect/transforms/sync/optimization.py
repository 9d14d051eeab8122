"""The reference's three ways to drop an event, and a fourth for switches: spec/streams.md sections 7.1 to 7.4."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from ge_dialect.analysis.neighbours import control_in_nodes, in_nodes
from ge_dialect.dialects.ge.access import ge_attr, ge_type
from ge_dialect.transforms.sync.activation import Labels
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import (
    LABEL,
    LOOP_ACTIVE,
    SyncModel,
    stream_of,
    sync_error,
)

_NEXT_ITERATIONS = frozenset({"NextIteration", "RefNextIteration"})


def optimize_by_send(streams: Iterable[Sequence[Operation]], events: Events) -> int:
    """Let each stream wait for each sending node once, as early as it does anyway (7.1). `streams` are the nodes of
    each stream in order. The number of events dropped."""
    senders = events.senders()
    dropped: set[int] = set()
    for nodes in streams:
        seen: set[Operation] = set()
        for op in nodes:
            for event in events.recv.get(op, ()):
                sender = senders.get(event)
                if sender is None:
                    continue
                if sender in seen:
                    dropped.add(event)
                seen.add(sender)
    events.drop(dropped)
    return len(dropped)


def optimize_by_recv(streams: Iterable[Sequence[Operation]], events: Events) -> int:
    """Let each node wait for each stream once, for the last node of it that it waits for (7.2). The number of events
    dropped."""
    receivers = events.receivers()
    dropped: set[int] = set()
    for nodes in streams:
        last: dict[Operation, int] = {}
        for op in nodes:
            for event in events.send.get(op, ()):
                receiver = receivers.get(event)
                if receiver is None:
                    continue
                if receiver in last:
                    dropped.add(last[receiver])
                last[receiver] = event
    events.drop(dropped)
    return len(dropped)


def optimize_by_activation(model: SyncModel, labels: Labels, events: Events) -> int:
    """Drop events whose receiver's stream is only started behind the sender (7.3). The number of events dropped.

    Raises SyncError for an event that nobody receives.
    """
    receivers = events.receivers()
    dropped: set[int] = set()
    for sender, ids in events.send.items():
        for event in ids:
            receiver = receivers.get(event)
            if receiver is None:
                raise sync_error(
                    sender,
                    f"sends {events.kind} {event}, which no node receives",
                    "PARAM_INVALID",
                )
            if labels.starters and _is_activated(model, labels, sender, receiver):
                dropped.add(event)
    events.drop(dropped)
    return len(dropped)


def _is_activated(model: SyncModel, labels: Labels, sender: Operation, receiver: Operation) -> bool:
    if ge_attr(receiver, LABEL) is None:
        return False
    visited = {receiver}
    frontier = labels.starters.get(stream_of(receiver), [])
    while frontier:
        following: dict[Operation, None] = {}
        for op in frontier:
            if model.graph_of[op] is not model.graph_of[sender]:
                continue
            if op in visited or ge_attr(op, LOOP_ACTIVE) is not None:
                return False
            controls = list(control_in_nodes(op))
            if controls and all(ge_type(source) in _NEXT_ITERATIONS for source in controls):
                continue
            visited.add(op)
            if any(_is_behind(model, source, sender) for source in in_nodes(op)):
                return True
            following.update(dict.fromkeys(labels.starters.get(stream_of(op), ())))
        frontier = list(following)
    return False


def _is_behind(model: SyncModel, op: Operation, sender: Operation) -> bool:
    """Whether `op` stands behind `sender` (or is it) on its stream, or reads it."""
    if stream_of(op) == stream_of(sender) and model.place[op] >= model.place[sender]:
        return True
    return any(source is sender for source in in_nodes(op))


def drop_events_of_switches(events: Events) -> int:
    """Drop every event that a StreamSwitch sends: it starts what follows it (7.4). The number of events dropped."""
    dropped = {
        event for op, ids in events.send.items() if ge_type(op) == "StreamSwitch" for event in ids
    }
    events.drop(dropped)
    return len(dropped)
