"""Splitting against the rules of spec/streams.md sections 8.3 to 8.5 written out, on random queues."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from stream_ir import graph_of
from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_ids
from ge_dialect.dialects.ge.access import get_int, node_name
from ge_dialect.transforms.split.ge_split_streams import split_streams
from ge_dialect.transforms.split.limits import StreamLimits
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import SyncModel

MOST = 27 + 12


@dataclass(eq=False)
class Queued:
    """A node: where it is, what it takes there, what it says that it takes, and whether no piece may begin with it."""

    name: str
    main: int
    attached: list[int]
    tasks: int
    side_tasks: int
    stated: int = 0
    stated_side: int = 0
    stays: bool = False
    now: int = -1
    now_attached: list[int] = field(default_factory=list[int])


@dataclass
class Counts:
    """The numbers of the nodes by name."""

    nodes: dict[str, Queued]

    def generated(self, op: Operation) -> dict[int, int]:
        node = self.nodes[node_name(op)]
        found: dict[int, int] = {}
        if node.tasks:
            found[node.main] = node.tasks
        if node.side_tasks:
            found |= dict.fromkeys(node.attached, node.side_tasks)
        return found

    def assigned(self, op: Operation, *, attached: bool = False) -> int | None:
        node = self.nodes[node_name(op)]
        return (node.stated_side if attached else node.stated) or None


def _random(seed: int) -> list[Queued]:
    pick = random.Random(seed)
    found: list[Queued] = []
    for index in range(pick.randint(3, 40)):
        attached = pick.choice([[], [], [3], [4], [3, 4]])
        found.append(
            Queued(
                f"n{index}",
                pick.choice([-1, 0, 0, 0, 1, 2]),
                attached,
                pick.choice([0, 1, 3, 3, 5, 20]),
                pick.choice([0, 2]) if attached else 0,
                pick.choice([0, 0, 0, 4]),
                pick.choice([0, 0, 3]) if attached else 0,
                pick.random() < 0.15,
            )
        )
    return found


def _split(
    nodes: list[Queued], streams: int
) -> tuple[int, list[tuple[str, int | None, str, int | None]]]:
    """8.3, then 8.4 and 8.5: the number of streams, and the events as (sender, its attached piece or None for the main
    stream, receiver, likewise)."""
    count: dict[int, int] = {}
    latest: dict[int, int] = {}
    previous: dict[int, Queued] = {}
    split: set[int] = set()
    events: list[tuple[str, int | None, str, int | None]] = []
    last = streams - 1
    for node in nodes:
        node.now, node.now_attached = node.main, list(node.attached)
    for node in nodes:
        has_tasks = bool(node.tasks or node.side_tasks)
        if node.main == -1:
            if not has_tasks:
                continue
            node.main = node.now = 0
        entries = {node.main: node.tasks}
        if node.side_tasks:
            entries |= dict.fromkeys(node.attached, node.side_tasks)
        if node.stated > 0:
            entries[node.main] = node.stated
        if node.stated_side > 0:
            entries |= dict.fromkeys(node.attached, node.stated_side)
        for stream in sorted(entries):
            taken = entries[stream]
            first = count.get(stream, 0) == 0
            count[stream] = count.get(stream, 0) + taken
            old = latest.get(stream, stream)
            if not first and count[stream] + 27 > MOST and not node.stays:
                last += 1
                count[stream] = taken
                latest[stream] = last
                split.add(stream)
                before = previous[stream]
                send = None if before.main == stream else old
                recv = None if node.main == stream else last
                events.append((before.name, send, node.name, recv))
            if stream in split:
                if node.main == stream:
                    node.now = latest[stream]
                else:
                    node.now_attached[node.attached.index(stream)] = latest[stream]
            previous[stream] = node
    return last + 1, events


@pytest.mark.parametrize("first", range(0, 300, 30))
def test_pieces_and_events_are_those_of_the_rules(first: int) -> None:
    for seed in range(first, first + 30):
        compare(seed)


def compare(seed: int) -> None:
    nodes = _random(seed)
    module = graph_of(
        [[] for _ in nodes],
        [node.main for node in nodes],
        attrs={
            index: {
                **({"subgraph_first_active": True} if node.stays else {}),
                "_attached_stream_info_list": [{"_attached_resource_id": n} for n in node.attached],
            }
            for index, node in enumerate(nodes)
        },
    )
    model = SyncModel.of(module)
    assert model is not None
    events, before = Events(), model.streams
    counts = Counts({node.name: Queued(**vars(node)) for node in nodes})
    found = split_streams(model, counts, StreamLimits(MOST, None), events)
    streams, wanted = _split(nodes, before)
    assert found.total == streams, seed
    by_name = {node_name(op): op for op in model.nodes}
    for node in nodes:
        op = by_name[node.name]
        assert get_int(op, "ge.stream", -1) == node.now, (seed, node.name)
        assert attached_ids(op) == node.now_attached, (seed, node.name)
    assert events.count == len(wanted)
    for number, (sender, send, receiver, recv) in enumerate(wanted):
        for name, piece, main, side in (
            (sender, send, events.send, events.side_send),
            (receiver, recv, events.recv, events.side_recv),
        ):
            op = by_name[name]
            listed = main.get(op, []) if piece is None else side.get(op, {}).get(piece, [])
            assert number in listed, (seed, name, number)
