"""Cutting streams that are too long into pieces: spec/streams.md sections 8.4 to 8.6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_ids, set_attached_ids
from ge_dialect.analysis.jumps import jump_regions
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, ge_type
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.split.limits import RESERVED_TASKS
from ge_dialect.transforms.split.queue_entries import EntryTable, QueueCounts
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import (
    FIRST_ACTIVE,
    STREAM,
    SyncModel,
    is_set,
    stream_of,
    sync_error,
)

CONTINUOUS = "_continuous_stream_label"
_NEVER_FIRST = frozenset({"LabelSet", "LabelGotoEx", "LabelSwitchByIndex"})
"""Types that stay with what stands before them: jumps do not cross streams."""


@dataclass
class Split:
    """What splitting did. `streams` is the number of streams before, `logic_of` the stream of each piece, `starts` the
    pieces that begin with a node."""

    streams: int
    logic_of: dict[int, int] = field(default_factory=dict[int, int])
    starts: dict[Operation, list[int]] = field(default_factory=dict[Operation, list[int]])

    @property
    def total(self) -> int:
        """The number of streams afterwards."""
        return self.streams + len(self.logic_of)

    def pieces(self) -> dict[int, list[int]]:
        """The pieces of each stream that was split."""
        found: dict[int, list[int]] = {}
        for piece, stream in self.logic_of.items():
            found.setdefault(stream, []).append(piece)
        return found


def may_begin_stream(op: Operation) -> bool:
    """Whether a piece may begin with the node: control flow stays on the stream that it began on."""
    return (
        "subgraphs" not in op.properties
        and ge_type(op) not in _NEVER_FIRST
        and not is_set(op, FIRST_ACTIVE)
    )


@dataclass
class _Queue:
    """One logical stream while it is cut. `nodes` are all nodes so far, `place` their indices; `current` is the piece
    that they go to, which begins at index `begin`."""

    id: int
    current: int
    count: int = 0
    begin: int = 0
    nodes: list[Operation] = field(default_factory=list[Operation])
    place: dict[Operation, int] = field(default_factory=dict[Operation, int])
    is_split: bool = False


class Splitter:
    """Cuts the streams of one model. `max_tasks` are the queue entries of a stream; events go to `events`."""

    def __init__(
        self,
        model: SyncModel,
        table: EntryTable,
        counts: QueueCounts,
        max_tasks: int,
        events: Events,
    ) -> None:
        self._model = model
        self._table = table
        self._counts = counts
        self._most = max_tasks - RESERVED_TASKS
        self._events = events
        self._queues: dict[int, _Queue] = {}
        self._labelled: dict[str, list[Operation]] = {}
        self._stretch = _stretches(list(table))
        self._main = {op: stream_of(op) for op in table}
        self.split = Split(model.streams)

    def run(self) -> Split:
        """Cut the streams; nodes get the streams of their pieces. Raises SyncError (section 8.6)."""
        for op, entries in self._table.items():
            label = _continuous_label(op)
            if label:
                self._labelled.setdefault(label, []).append(op)
            for stream in sorted(entries):
                self._add(op, stream, self._entries(op, stream, entries[stream]), label)
        return self.split

    def _entries(self, op: Operation, stream: int, listed: int) -> int:
        """What a node says it takes counts before what the streams that it starts would need."""
        if ge_type(op) == "StreamActive" and stream == self._main[op]:
            return self._counts.assigned(op) or listed
        return listed

    def _add(self, op: Operation, stream: int, count: int, label: str) -> None:
        queue = self._queues.get(stream)
        if queue is None:
            queue = self._queues[stream] = _Queue(stream, stream)
        is_first = queue.count == 0
        queue.count += count
        queue.place[op] = len(queue.nodes)
        queue.nodes.append(op)
        full = not is_first and queue.count > self._most
        if full and (head := self._stretch.get(op)) is not None:
            full = False
            if queue.place.get(head, 0) > queue.begin:
                self._cut_before(queue, queue.place[head])
                return
        if full and may_begin_stream(op):
            self._cut(queue, op, count, label)
        elif queue.is_split:
            self._move(op, queue, queue.current)

    def _cut(self, queue: _Queue, op: Operation, count: int, label: str) -> None:
        before = queue.current
        queue.current = self.split.total
        self.split.logic_of[queue.current] = queue.id
        self.split.starts.setdefault(op, []).append(queue.current)
        queue.count, queue.is_split = count, True
        first = queue.place[op]
        if label:
            first = self._keep_together(queue, op, count, label)
        queue.begin = first
        for moved in queue.nodes[first:]:
            self._move(moved, queue, queue.current)
        if first > 0:
            self._synchronize(queue, queue.nodes[first - 1], before, queue.nodes[first])

    def _cut_before(self, queue: _Queue, first: int) -> None:
        """Let all nodes from index `first` on go to a new piece: those between which jumps lead."""
        before = queue.current
        queue.current = self.split.total
        self.split.logic_of[queue.current] = queue.id
        self.split.starts.setdefault(queue.nodes[first], []).append(queue.current)
        queue.begin, queue.is_split = first, True
        moved = queue.nodes[first:]
        queue.count = sum(self._table[op][queue.id] for op in moved)
        for op in moved:
            self._move(op, queue, queue.current)
        self._synchronize(queue, queue.nodes[first - 1], before, queue.nodes[first])

    def _keep_together(self, queue: _Queue, op: Operation, count: int, label: str) -> int:
        """Where the new piece begins so that it holds all nodes with the label: index in the queue.

        The reference moves the labelled nodes alone. What stands between them moves along here: it is ordered with
        them by the stream alone. Counts are the reference's for labelled nodes: each takes what `op` takes.
        """
        group = [each for each in self._labelled[label] if each in queue.place]
        first = queue.place[group[0]]
        if first == 0:
            raise sync_error(
                op,
                f"cannot be split from the nodes of {CONTINUOUS} '{label}', which fill its stream",
            )
        together = set(group)
        for each in queue.nodes[first:]:
            if each in together:
                queue.count += self._counts.assigned(each) or count
            else:
                queue.count += self._table[each][queue.id]
        return first

    def _move(self, op: Operation, queue: _Queue, piece: int) -> None:
        if self._main[op] == queue.id:
            op.attributes[STREAM] = i64(piece)
            return
        logic = self.split.logic_of
        ids = [piece if logic.get(each, each) == queue.id else each for each in attached_ids(op)]
        assert isinstance(op, GeNode)
        set_attached_ids(op, ids)

    def _synchronize(self, queue: _Queue, before: Operation, piece: int, after: Operation) -> None:
        """The event between two pieces of a stream (section 8.5)."""
        send = None if self._main[before] == queue.id else self._piece(before, queue.id, piece)
        recv = None if self._main[after] == queue.id else queue.current
        if send is None and recv is None:
            self._events.add(before, after)
        else:
            self._events.add_side(before, send, after, recv)

    def _piece(self, op: Operation, stream: int, default: int) -> int:
        """The piece of an attached stream that the node is on."""
        logic = self.split.logic_of
        return next((x for x in attached_ids(op) if logic.get(x, x) == stream), default)


def _continuous_label(op: Operation) -> str:
    return ge_attr(op, CONTINUOUS, "") if "attrs" in op.properties else ""


def _stretches(ops: Sequence[Operation]) -> dict[Operation, Operation]:
    """For each node between jumps and their labels: the first of the stretch. A stretch is in one piece, whatever its
    length, as jumps do not lead to other streams."""
    return {
        ops[at]: ops[region.first]
        for region in jump_regions(ops)
        if region.first < region.last
        for at in range(region.first, region.last + 1)
    }


def split_text(split: Split) -> str:
    """The pieces as the graph attribute spells them: `piece:stream,...`."""
    return ",".join(f"{piece}:{stream}" for piece, stream in split.logic_of.items())


def parse_split_text(text: str) -> Mapping[int, int]:
    """Piece -> stream of `split_text`."""
    pairs = (entry.split(":") for entry in text.split(",") if entry)
    return {int(piece): int(stream) for piece, stream in pairs}
