"""Event ids that several events share: gears of a model, and what nodes ask for (spec/streams.md 7.5 and 7.6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_attr, ge_type, node_name, subgraph_names
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import INTERNAL, SyncModel, sync_error, texts

MAX_DEPTH = 10
"""Sub-graphs in sub-graphs of a gear that are looked into."""

REUSE_THRESHOLD = 65500
"""Events above which `_event_multiplexing` is heeded."""

BATCH_NUM, MULTIPLEXING = "_batch_num", "_event_multiplexing"


class _Gears:
    """Numbers the events of gears: branches of one Case share them, as one of them runs."""

    def __init__(self, model: SyncModel, events: Events) -> None:
        self.numbers: dict[int, int] = {}
        self.base = 0
        self._model = model
        self._events = events
        self._senders, self._receivers = events.senders(), events.receivers()
        self._table = {graph.sym_name.data: graph for graph in model.graphs.graphs}

    def number(self, case: Operation) -> None:
        """Number the events inside the branches of a Case."""
        counts = [self.base]
        for graph in self._owned(case):
            counts.append(self._number_graph(graph, self.base, 0))
        self.base = max(counts)

    def _owned(self, op: Operation) -> Iterable[GraphOp]:
        return (self._table[name] for name in subgraph_names(op) if name in self._table)

    def _number_graph(self, graph: GraphOp, count: int, depth: int) -> int:
        events = self._events
        for op in self._model.direct_nodes(graph):
            inner = [e for e in events.send.get(op, ()) if self._is_in(self._receivers, e, graph)]
            inner += [e for e in events.recv.get(op, ()) if self._is_in(self._senders, e, graph)]
            for event in inner:
                if event not in self.numbers:
                    self.numbers[event] = count
                    count += 1
            if "subgraphs" in op.properties:
                if depth >= MAX_DEPTH:
                    raise sync_error(
                        op,
                        f"owns sub-graphs more than {MAX_DEPTH} levels below a Case",
                        code=INTERNAL,
                    )
                for owned in self._owned(op):
                    count = self._number_graph(owned, count, depth + 1)
        return count

    def _is_in(self, ends: dict[int, Operation], event: int, graph: GraphOp) -> bool:
        op = ends.get(event)
        return op is not None and self._model.graph_of.get(op) is graph


def reuse_in_gears(model: SyncModel, events: Events) -> int:
    """Give the branches of each Case with `_batch_num` the same ids (section 7.5). The number of ids saved.

    Raises SyncError below `MAX_DEPTH` levels of sub-graphs.
    """
    gears = _Gears(model, events)
    for op in model.nodes:
        if ge_type(op) == "Case" and ge_attr(op, BATCH_NUM) is not None:
            gears.number(op)
    if gears.base == 0:
        return 0
    numbers, base = gears.numbers, gears.base
    for table in (events.send, events.recv):
        for op in events.in_name_order(model, table):
            for event in table[op]:
                if event not in numbers:
                    numbers[event] = base
                    base += 1
    events.replace(numbers)
    saved = events.count - base
    events.count = base
    return saved


@dataclass(frozen=True, slots=True)
class _Wish:
    """`SendTo;peer;number` or `RecvFrom;peer;number` of a node."""

    node: Operation
    peer: str
    number: int


def _wish(op: Operation, text: str) -> tuple[str, _Wish]:
    parts = text.split(";")
    if len(parts) != 3:
        raise sync_error(
            op,
            f"has '{text}' in {MULTIPLEXING}, expected 'SendTo;<node>;<number>' or 'RecvFrom;...'",
            "PARAM_INVALID",
            code=INTERNAL,
        )
    keyword, peer, number = parts
    if keyword not in ("SendTo", "RecvFrom"):
        raise sync_error(
            op,
            f"has '{keyword}' in {MULTIPLEXING}, expected 'SendTo' or 'RecvFrom'",
            "PARAM_INVALID",
            code=INTERNAL,
        )
    if not (number.isascii() and number.isdecimal()):
        raise sync_error(
            op,
            f"has '{number}' in {MULTIPLEXING}, expected a number that is not negative",
            "PARAM_INVALID",
            code=INTERNAL,
        )
    return keyword, _Wish(op, peer, int(number))


def multiplex(model: SyncModel, events: Events, threshold: int = REUSE_THRESHOLD) -> int:
    """Merge events as `_event_multiplexing` of nodes asks for, when there are more than `threshold` (section 7.6), and
    number what is left. The number of ids saved. Raises SyncError for a wish that is wrong or names an unknown node."""
    if events.count <= threshold:
        return 0
    wishes: dict[str, list[_Wish]] = {"SendTo": [], "RecvFrom": []}
    for op in model.nodes:
        if "attrs" in op.properties:
            for text in texts(op, MULTIPLEXING):
                keyword, wish = _wish(op, text)
                wishes[keyword].append(wish)
    by_name: dict[str, Operation] = {}
    for op in model.nodes:
        by_name.setdefault(node_name(op), op)
    for keyword, listed in wishes.items():
        for wish in listed:
            peer = by_name.get(wish.peer)
            if peer is None:
                raise sync_error(
                    wish.node,
                    f"names '{wish.peer}' in {MULTIPLEXING}, which is no node",
                    "PARAM_INVALID",
                    code=INTERNAL,
                )
            sends = keyword == "SendTo"
            sender, receiver = (wish.node, peer) if sends else (peer, wish.node)
            _merge(events, sender, receiver, events.count + wish.number)
    before = events.count
    events.renumber(model)
    return before - events.count


def _merge(events: Events, sender: Operation, receiver: Operation, number: int) -> None:
    sent, received = events.send.get(sender), events.recv.get(receiver)
    if not sent or not received:
        return
    known = set(sent)
    event = next((each for each in received if each in known), None)
    if event is None:
        return
    for ids in (sent, received):
        ids.remove(event)
        ids.append(number)
