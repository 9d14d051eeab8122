"""The least set of events for given streams: the transitive reduction of what they order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ge_dialect.transforms.sync.clocks import GraphClocks, necessary_senders
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import NO_STREAM, SyncModel, stream_of


def senders_in_graph(
    model: SyncModel, tables: Sequence[Events]
) -> dict[Operation, list[Operation]]:
    """Receiver -> the nodes of its graph that it waits for, by events of main streams; each once."""
    found: dict[Operation, dict[Operation, None]] = {}
    for events in tables:
        senders = events.senders()
        for op, ids in events.recv.items():
            for event in ids:
                sender = senders.get(event)
                if sender is not None and _same_queueing(model, sender, op):
                    found.setdefault(op, {})[sender] = None
    return {op: list(senders) for op, senders in found.items()}


def _same_queueing(model: SyncModel, sender: Operation, receiver: Operation) -> bool:
    """Whether clocks of one graph can tell about the event: both ends in it, forwards, each with a stream."""
    return (
        model.graph_of[sender] is model.graph_of[receiver]
        and model.place[sender] < model.place[receiver]
        and NO_STREAM not in (stream_of(sender), stream_of(receiver))
    )


def minimize_events(model: SyncModel, tables: Sequence[Events]) -> list[int]:
    """Drop every event that streams and other events imply; how many of each table.

    What is left is unique: an order has one transitive reduction, and it is part of whatever generates the order.
    Events between graphs, and those that lead back to the start of a loop, stay. Time: events times streams.
    """
    waits = senders_in_graph(model, tables)
    needed: dict[Operation, set[Operation]] = {}
    senders = {sender for listed in waits.values() for sender in listed}
    for graph in model.graphs.graphs:
        clocks = GraphClocks(model.direct_nodes(graph), senders)
        for op in clocks.nodes:
            kept = necessary_senders(clocks, op, waits[op]) if op in waits else []
            if kept:
                needed[op] = set(kept)
            clocks.pass_node(op, kept)
    return [_drop(model, events, needed) for events in tables]


def _drop(model: SyncModel, events: Events, needed: dict[Operation, set[Operation]]) -> int:
    senders = events.senders()
    dropped: set[int] = set()
    for op, ids in events.recv.items():
        left = set(needed.get(op, ()))
        for event in ids:
            sender = senders.get(event)
            if sender is None or not _same_queueing(model, sender, op):
                continue
            if sender in left:
                left.discard(sender)
                needed[op].discard(
                    sender
                )  # a second event of the pair, of whatever kind, is one too many
            else:
                dropped.add(event)
    events.drop(dropped)
    return len(dropped)
