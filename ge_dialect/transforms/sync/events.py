"""Events before their nodes exist: who sends and who receives which, kept on the nodes between passes.

`ge.send_events` and `ge.recv_events` of a node list the events of its main stream, `ge.attached_send_events` and
`ge.attached_recv_events` those of its attached streams (a dictionary, stream -> ids); notifies have the twins
`ge.send_notifies` and `ge.recv_notifies`. `ge.event_num` and `ge.notify_num` of the root graph count the ids given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from ge_dialect.dialects.attrs import i64_array, integers
from ge_dialect.dialects.ge.access import get_int
from ge_dialect.transforms.sync.model import (
    EVENT_NUM,
    NOTIFY_NUM,
    SyncError,
    SyncModel,
    by_name,
)

SyncKind = Literal["event", "notify"]
Lists = dict[Operation, list[int]]
SideLists = dict[Operation, dict[int, list[int]]]

LIST_NAMES = MappingProxyType(
    {
        "event": ("ge.send_events", "ge.recv_events"),
        "notify": ("ge.send_notifies", "ge.recv_notifies"),
    }
)
SIDE_NAMES = ("ge.attached_send_events", "ge.attached_recv_events")
COUNT_NAMES = MappingProxyType({"event": EVENT_NUM, "notify": NOTIFY_NUM})


@dataclass
class Events:
    """The events (or notifies) of a model by node.

    `send` and `recv` are of main streams; `side_send` and `side_recv` of attached streams, by stream (never notifies).
    `count` is the number of ids given so far.
    """

    kind: SyncKind = "event"
    count: int = 0
    send: Lists = field(default_factory=Lists)
    recv: Lists = field(default_factory=Lists)
    side_send: SideLists = field(default_factory=SideLists)
    side_recv: SideLists = field(default_factory=SideLists)
    noted: list[Operation] | None = field(default=None, compare=False)
    """The nodes whose attributes say something about this kind, None before anybody has looked."""

    @classmethod
    def read(cls, model: SyncModel, kind: SyncKind = "event") -> Events:
        """What the nodes of the model say."""
        found = cls(kind, get_int(model.root, COUNT_NAMES[kind], 0) or 0)
        send, recv = LIST_NAMES[kind]
        side_send, side_recv = SIDE_NAMES
        found.noted = []
        names = frozenset((send, recv, *(SIDE_NAMES if kind == "event" else ())))
        for op in model.nodes:
            attributes = op.attributes
            if names.isdisjoint(attributes):
                continue
            found.noted.append(op)
            if send in attributes:
                found.send[op] = list(integers(attributes[send]))
            if recv in attributes:
                found.recv[op] = list(integers(attributes[recv]))
            if kind == "event" and side_send in attributes:
                found.side_send[op] = _by_stream(attributes[side_send])
            if kind == "event" and side_recv in attributes:
                found.side_recv[op] = _by_stream(attributes[side_recv])
        return found

    def write(self, model: SyncModel) -> None:
        """Put it on the nodes of the model, in place of what they said about this kind."""
        names = LIST_NAMES[self.kind]
        sides = SIDE_NAMES if self.kind == "event" else ()
        for op in model.nodes if self.noted is None else self.noted:
            for name in (*names, *sides):
                op.attributes.pop(name, None)
        self.noted = [*self.send, *self.recv, *self.side_send, *self.side_recv]
        for name, lists in zip(names, (self.send, self.recv), strict=True):
            for op, ids in lists.items():
                if ids:
                    op.attributes[name] = i64_array(ids)
        for name, tables in zip(sides, (self.side_send, self.side_recv), strict=False):
            for op, table in tables.items():
                entries = {str(key): i64_array(ids) for key, ids in table.items() if ids}
                if entries:
                    op.attributes[name] = DictionaryAttr(entries)
        if self.count or COUNT_NAMES[self.kind] in model.root.attributes:
            model.set_count(COUNT_NAMES[self.kind], self.count)

    # --- changes ----------------------------------------------------------------------------------------------------

    def new_id(self) -> int:
        """The next free id."""
        self.count += 1
        return self.count - 1

    def add(self, sender: Operation, receiver: Operation) -> int:
        """One more event between the main streams of two nodes; its id."""
        event = self.new_id()
        self.send.setdefault(sender, []).append(event)
        self.recv.setdefault(receiver, []).append(event)
        return event

    def add_side(
        self,
        sender: Operation,
        send_stream: int | None,
        receiver: Operation,
        recv_stream: int | None,
    ) -> int:
        """One more event of which at least one end is on an attached stream; None stands for a main stream."""
        event = self.new_id()
        _list_of(self.send, self.side_send, sender, send_stream).append(event)
        _list_of(self.recv, self.side_recv, receiver, recv_stream).append(event)
        return event

    def drop(self, events: set[int]) -> None:
        """Take events of main streams away."""
        if not events:
            return
        for lists in (self.send, self.recv):
            for op in list(lists):
                kept = [event for event in lists[op] if event not in events]
                if kept:
                    lists[op] = kept
                else:
                    del lists[op]

    def renumber(self, model: SyncModel, start: int = 0) -> None:
        """Give ids without gaps from `start` on, by the names of the sending nodes (spec/streams.md section 10.2).

        Main streams come first, then attached ones by stream. Raises SyncError for an event that is received and
        never sent, unless nothing is sent at all.
        """
        order = self.in_name_order(model, self.send)
        numbers: dict[int, int] = {}
        for op in order:
            for event in self.send[op]:
                numbers.setdefault(event, start + len(numbers))
        for op in self.in_name_order(model, self.side_send):
            for stream in sorted(self.side_send[op]):
                for event in self.side_send[op][stream]:
                    numbers.setdefault(event, start + len(numbers))
        self.count = start + len(numbers)
        if numbers:
            self.replace(numbers)

    def replace(self, numbers: dict[int, int]) -> None:
        """Give every event the id that `numbers` has for it. Raises SyncError when one has none."""
        for ids in self.lists():
            for place, event in enumerate(ids):
                if event not in numbers:
                    raise SyncError(f"{self.kind} {event} is waited for but never sent")
                ids[place] = numbers[event]

    def lists(self) -> Iterator[list[int]]:
        """All lists of ids."""
        yield from self.send.values()
        yield from self.recv.values()
        for tables in (self.side_send, self.side_recv):
            for table in tables.values():
                yield from table.values()

    # --- questions --------------------------------------------------------------------------------------------------

    def senders(self) -> dict[int, Operation]:
        """Who sends each event of a main stream."""
        return {event: op for op, ids in self.send.items() for event in ids}

    def receivers(self) -> dict[int, Operation]:
        """Who receives each event of a main stream."""
        return {event: op for op, ids in self.recv.items() for event in ids}

    def in_name_order(
        self, model: SyncModel, table: dict[Operation, list[int]] | SideLists
    ) -> list[Operation]:
        """The nodes of a table as GE's maps order them: by name."""
        key: Callable[[Operation], tuple[bytes, bytes]] = lambda op: by_name(  # noqa: E731
            op, model.graph_of[op]
        )
        return sorted(table, key=key)


def _list_of(main: Lists, side: SideLists, op: Operation, stream: int | None) -> list[int]:
    if stream is None:
        return main.setdefault(op, [])
    return side.setdefault(op, {}).setdefault(stream, [])


def _by_stream(attribute: object) -> dict[int, list[int]]:
    assert isinstance(attribute, DictionaryAttr)
    return {int(stream): list(integers(ids)) for stream, ids in attribute.data.items()}
