"""Proof that streams and events order what has to be ordered, from the graph with its Send and Recv nodes.

It looks at queues and at pairs of Send and Recv, and at nothing that the passes which made them have noted; edges of
the graph only say what has to be ordered. Sources: design.md section 6, spec/tasks.md section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_streams
from ge_dialect.analysis.liveness import stream_of
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.analysis.neighbours import in_nodes
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.ge.access import ge_attr, ge_type, node_name
from ge_dialect.dialects.ge.graph import GraphOp

_SENDS = MappingProxyType({"Send": ("event_id", "event"), "SendNotify": ("notify_id", "notify")})
_RECVS = MappingProxyType({"Recv": ("event_id", "event"), "RecvNotify": ("notify_id", "notify")})
_FLAGS = MappingProxyType({**_SENDS, **_RECVS})
_ENTERS = frozenset({"Enter", "RefEnter"})
_SWITCHES = frozenset({"StreamSwitch", "StreamSwitchN"})
_EXEMPT = ("_ffts_sub_graph", "_ffts_plus_sub_graph", "_thread_scope_id")

Clock = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Unordered:
    """`second` needs `first` done, and may start before it is; or a Send or Recv without partner."""

    first: Operation
    second: Operation

    def __str__(self) -> str:
        if self.first is self.second:
            return f'"{node_name(self.first)}" has no partner'
        return (
            f'"{node_name(self.second)}" (stream {stream_of(self.second)}) may start before '
            f'"{node_name(self.first)}" (stream {stream_of(self.first)}) is done'
        )


@dataclass
class _Queues:
    """Clocks of all nodes that were passed. A clock counts, for each stream, the nodes known to be done."""

    number: dict[int, int]
    now: list[Clock] = field(default_factory=list[Clock])
    length: list[int] = field(default_factory=list[int])
    position: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def __post_init__(self) -> None:
        count = len(self.number)
        self.now = [np.zeros(count, np.int64) for _ in range(count)]
        self.length = [0] * count

    def enter(self, stream: int, joins: list[Clock]) -> Clock:
        """The next node of a stream starts; what is known then."""
        row = self.number[stream]
        if joins:
            self.now[row] = np.maximum.reduce([self.now[row], *joins])
        return self.now[row]

    def leave(self, stream: int) -> int:
        """The node is done; its position on the stream, from 1."""
        row = self.number[stream]
        self.length[row] += 1
        self.now[row][row] = self.length[row]
        return self.length[row]


def unordered_pairs(module: ModuleOp) -> list[Unordered]:
    """Pairs of nodes, one depending on the other by a data or control edge or across the border of a sub-graph, that
    neither queues nor events order. Empty: every dependency is ordered.

    Expects Send and Recv nodes, and nodes that need no order without stream. Each node counts as if it ran once, in
    walk order. Not asked for, as in the reference: edges from Enter nodes, FFTS sub-graphs, readers whose label an
    earlier node activates. Time: nodes and edges, and events times streams.
    """
    return list(_Proof(module).run())


class _Proof:
    def __init__(self, module: ModuleOp) -> None:
        walked = list(walk_nodes(module))
        self._nodes = [op for op, _ in walked]
        self._graph_of = dict(walked)
        self._model = ModelGraphs.of(module)
        self._owned: dict[Operation, list[GraphOp]] = {}
        for graph, owner in self._model.owners.items():
            self._owned.setdefault(owner, []).append(graph)
        streams = {stream for op in self._nodes if (stream := stream_of(op)) is not None}
        for op in self._nodes:
            streams.update(attached_streams(op))
        self._queues = _Queues({stream: row for row, stream in enumerate(sorted(streams))})
        self._starts: dict[int, list[Operation]] = {}
        for op in self._nodes:
            if ge_type(op) in _SWITCHES or ge_attr(op, "_switch_branch_node_label") is not None:
                for stream in ge_attr(op, "active_stream_list", ()):
                    self._starts.setdefault(stream, []).append(op)
        self._records: dict[tuple[str, int], list[tuple[Operation, Clock]]] = {}
        self._started: dict[Operation, Clock] = {}
        self._waits: dict[tuple[str, int], list[Operation]] = {}
        self._uses: dict[tuple[tuple[str, int], bool], int] = {}
        for op in self._nodes:
            if ge_type(op) in _RECVS:
                attribute, word = _RECVS[ge_type(op)]
                self._waits.setdefault((word, ge_attr(op, attribute, -1)), []).append(op)
        self._labelled = self._activated_labels()

    def _activated_labels(self) -> dict[str, list[Operation]]:
        found: dict[str, list[Operation]] = {}
        for op in self._nodes:
            for label in ge_attr(op, "_active_label_list", ()):
                found.setdefault(label, []).append(op)
        return found

    def run(self) -> Iterator[Unordered]:
        queues = self._queues
        starters = {op for listed in self._starts.values() for op in listed}
        for op in self._nodes:
            stream = stream_of(op)
            if stream is None:
                continue
            joins, waits = self._start(stream), ge_type(op) in _RECVS
            if ge_type(op) in _FLAGS:
                yield from self._early(op, stream, joins)
            if waits:
                record = self._record_of(op)
                if record is None:
                    yield Unordered(op, op)
                else:
                    joins.append(record)
            clock = queues.enter(stream, joins)
            if not waits:
                yield from self._missing(op, clock)
            queues.position[op] = queues.leave(stream)
            kind = _SENDS.get(ge_type(op))
            if kind is not None:
                key = (kind[1], ge_attr(op, kind[0], -1))
                self._records.setdefault(key, []).append((op, clock.copy()))
            if op in starters:
                self._started[op] = clock.copy()
            for side in attached_streams(op):
                queues.enter(side, [])
                queues.leave(side)
        for pending in self._records.values():
            for op, _ in pending:
                yield Unordered(op, op)

    def _start(self, stream: int) -> list[Clock]:
        """What is certain at the first node of a stream: what all that may start it know."""
        queues = self._queues
        if queues.length[queues.number[stream]] or stream not in self._starts:
            return []
        known = [self._started[x] for x in self._starts[stream] if x in self._started]
        return [np.minimum.reduce(known)] if known else []

    def _early(self, op: Operation, stream: int, joins: list[Clock]) -> Iterator[Unordered]:
        """A use of an id that may begin before the wait of the last use is through: it would take the other's record,
        or be taken by the other. Uses in different graphs are left alone: one of several branches runs."""
        attribute, word = _FLAGS[ge_type(op)]
        key = (word, ge_attr(op, attribute, -1))
        side = (key, ge_type(op) in _RECVS)
        use = self._uses.get(side, 0)
        self._uses[side] = use + 1
        if use == 0:
            return
        waits = self._waits.get(key, ())
        if use > len(waits) or self._graph_of[last := waits[use - 1]] is not self._graph_of[op]:
            return
        number, position = self._queues.number, self._queues.position
        known = np.maximum.reduce([self._queues.now[number[stream]], *joins])
        last_stream = stream_of(last)
        if (
            last_stream is None
            or last not in position
            or known[number[last_stream]] < position[last]
        ):
            yield Unordered(last, op)

    def _record_of(self, op: Operation) -> Clock | None:
        """What the record that a Recv waits for knows: the first that no other has taken."""
        attribute, word = _RECVS[ge_type(op)]
        pending = self._records.get((word, ge_attr(op, attribute, -1)))
        return pending.pop(0)[1] if pending else None

    def _missing(self, op: Operation, clock: Clock) -> Iterator[Unordered]:
        for source in dict.fromkeys(self._sources(op)):
            stream = stream_of(source)
            if stream is None or source not in self._queues.position:
                continue
            if clock[self._queues.number[stream]] >= self._queues.position[source]:
                continue
            if not self._is_exempt(source, op):
                yield Unordered(source, op)

    def _sources(self, op: Operation) -> Iterator[Operation]:
        """Who the node depends on; a node at the entry of a sub-graph on what its owner depends on, a node behind an
        owner on the end of its sub-graphs."""
        found = False
        for source in in_nodes(op):
            found = True
            yield source
            if "subgraphs" in source.properties:
                yield from self._ends(source)
        owner = self._model.owners.get(self._graph_of[op])
        if not found and owner is not None and not _has(owner, _EXEMPT):
            yield from in_nodes(owner)

    def _ends(self, owner: Operation) -> Iterator[Operation]:
        if _has(owner, _EXEMPT):
            return
        for graph in self._owned.get(owner, ()):
            if (end := _end_of(graph)) is not None:
                yield end

    def _is_exempt(self, source: Operation, op: Operation) -> bool:
        if ge_type(source) in _ENTERS or _has(source, _EXEMPT[:2]):
            return True
        label = ge_attr(op, "_stream_label", "")
        position = self._queues.position
        return any(
            x in position
            and self._graph_of[x] is self._graph_of[source]
            and stream_of(x) == stream_of(source)
            and position[x] >= position[source]
            for x in self._labelled.get(label, ())
        )


def _has(op: Operation, names: tuple[str, ...]) -> bool:
    return "attrs" in op.properties and any(ge_attr(op, name) is not None for name in names)


def _end_of(graph: GraphOp) -> Operation | None:
    for op in graph.block.ops:
        if "attrs" in op.properties and ge_attr(op, "_subgraph_end_node", False) is True:
            return op
    return None
