"""The least set of events for given streams: the transitive reduction of what they order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation

from ge_dialect.analysis.streams.least_waits import least_waits
from ge_dialect.analysis.streams.reduction import transitive_reduction
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import NO_STREAM, SyncModel, stream_of

CLOCK_STREAMS = 64
"""Up to so many streams of a graph clocks are used, whose time and memory grow with events times streams; above, rows
of bits (`transitive_reduction`), which do not depend on streams."""

Waits: TypeAlias = Mapping[Operation, Sequence[Operation]]
"""Receiver -> the nodes of its graph that it waits for by events."""


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
                if sender is not None and same_queueing(model, sender, op):
                    found.setdefault(op, {})[sender] = None
    return {op: list(senders) for op, senders in found.items()}


def same_queueing(model: SyncModel, sender: Operation, receiver: Operation) -> bool:
    """Whether clocks of one graph can tell about the event: both ends in it, forwards, each with a stream."""
    return (
        model.graph_of[sender] is model.graph_of[receiver]
        and model.place[sender] < model.place[receiver]
        and NO_STREAM not in (stream_of(sender), stream_of(receiver))
    )


def minimize_events(
    model: SyncModel, tables: Sequence[Events], clock_streams: int = CLOCK_STREAMS
) -> list[int]:
    """Drop every event that streams and other events imply; how many of each table.

    What is left is unique: an order has one transitive reduction, and it is part of whatever generates the order.
    Events between graphs, and those that lead back to the start of a loop, stay. Time: events times streams; with more
    than `clock_streams` streams that of `transitive_reduction`.
    """
    if not any(events.send for events in tables):
        return [0 for _ in tables]
    dropped: list[set[int]] = [set() for _ in tables]
    for graph in model.graphs.graphs:
        nodes: list[Operation] = []
        streams: list[int] = []
        for op in model.direct_nodes(graph):
            stream = stream_of(op)
            if stream != NO_STREAM:
                nodes.append(op)
                streams.append(stream)
        inside = _InGraph(nodes, streams)
        pairs = [inside.pairs(events) for events in tables]
        kept = inside.needed([pair for each in pairs for pair in each], clock_streams)
        for gone, each in zip(dropped, pairs, strict=True):
            for event, sender, receiver in each:
                if (sender, receiver) in kept:
                    # A second event of the pair, of whatever kind, is one too many.
                    kept.discard((sender, receiver))
                else:
                    gone.add(event)
    for events, gone in zip(tables, dropped, strict=True):
        events.drop(gone)
    return [len(gone) for gone in dropped]


_Pair: TypeAlias = tuple[int, int, int]
"""An event, the number of its sender, the number of its receiver."""


class _InGraph:
    """The nodes with streams of one graph by number, in block order."""

    def __init__(self, nodes: Sequence[Operation], streams: Sequence[int]) -> None:
        self._number = {op: index for index, op in enumerate(nodes)}
        rows = {stream: row for row, stream in enumerate(dict.fromkeys(streams))}
        self._streams = [rows[stream] for stream in streams]
        self._rows = len(rows)

    def pairs(self, events: Events) -> list[_Pair]:
        """The events inside the graph that lead forwards, in the order of receivers."""
        number = self._number
        sender_of = {
            event: place
            for op, ids in events.send.items()
            if (place := number.get(op)) is not None
            for event in ids
        }
        found: list[_Pair] = []
        for op, ids in events.recv.items():
            receiver = number.get(op)
            if receiver is None:
                continue
            for event in ids:
                sender = sender_of.get(event)
                if sender is not None and sender < receiver:
                    found.append((event, sender, receiver))
        return found

    def needed(self, pairs: Sequence[_Pair], clock_streams: int) -> set[tuple[int, int]]:
        """The pairs of sender and receiver that only an event of their own orders."""
        sources: list[list[int]] = [[] for _ in self._streams]
        for _, sender, receiver in pairs:
            sources[receiver].append(sender)
        streams = self._streams
        if self._rows <= clock_streams:
            kept = least_waits(sources, streams)
        else:
            last = [-1] * self._rows
            for node, each in enumerate(sources):
                if last[streams[node]] >= 0:
                    each.append(last[streams[node]])
                last[streams[node]] = node
            kept = [
                [source for source in each if streams[source] != streams[node]]
                for node, each in enumerate(transitive_reduction(sources))
            ]
        return {(source, node) for node, each in enumerate(kept) for source in each}
