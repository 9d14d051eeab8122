"""Why each event of a least set is there, and what makes each other one needless: evidence that anybody can check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.sync.clocks import GraphClocks
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.minimization import Waits, senders_in_graph
from ge_dialect.transforms.sync.model import SyncModel, stream_of

CLOCK_ENTRIES = 1 << 26
"""How many numbers the clocks of one graph may hold, half a gigabyte; a larger graph gets no evidence."""


@dataclass(frozen=True, slots=True)
class Necessary:
    """`receiver` waits for `sender` by an event. All that is certain without it is that of the sender's stream the
    nodes up to `known` (None: none of them) are done, and `sender` stands behind that."""

    sender: Operation
    receiver: Operation
    known: Operation | None

    def __str__(self) -> str:
        known = f'"{node_name(self.known)}"' if self.known is not None else "none of its nodes"
        return (
            f'without the event from "{node_name(self.sender)}" (stream {stream_of(self.sender)}) to '
            f'"{node_name(self.receiver)}" (stream {stream_of(self.receiver)}) the two are not ordered: of stream '
            f"{stream_of(self.sender)} {known} is known to be done"
        )


@dataclass(frozen=True, slots=True)
class Covered:
    """`receiver` needs no event from `sender`: `through` is done before it starts, and not before `sender` is.

    `by`: `queue`, an earlier node of the receiver's stream has waited for all of it (`through` is that stream's last
    node); `event`, the receiver itself waits for `through`.
    """

    sender: Operation
    receiver: Operation
    by: Literal["queue", "event"]
    through: Operation

    def __str__(self) -> str:
        what = "its queue behind" if self.by == "queue" else "its event from"
        return (
            f'"{node_name(self.receiver)}" waits for "{node_name(self.sender)}" by {what} '
            f'"{node_name(self.through)}"'
        )


def certificate(
    model: SyncModel, before: Waits, tables: Sequence[Events]
) -> Iterator[tuple[GraphOp, list[Necessary | Covered] | None]]:
    """Evidence for each graph with events: one entry for every wait in `before` (of events inside the graph), given
    what `tables` keep; None for a graph whose clocks would be larger than `CLOCK_ENTRIES`.

    Follows from queues and kept events alone, whoever chose them.
    """
    kept = senders_in_graph(model, tables)
    for graph in model.graphs.graphs:
        nodes = list(model.direct_nodes(graph))
        waiting = [op for op in nodes if op in before]
        if not waiting:
            continue
        streams = len({stream_of(op) for op in nodes})
        senders = {sender for op in waiting for sender in before[op]}
        if 2 * streams * len(senders) > CLOCK_ENTRIES:
            yield graph, None
            continue
        yield graph, list(_evidence(GraphClocks(nodes, senders), before, kept))


def _evidence(clocks: GraphClocks, before: Waits, kept: Waits) -> Iterator[Necessary | Covered]:
    queues: dict[int, list[Operation]] = {}
    for op in clocks.nodes:
        own = kept.get(op, ())
        for sender in before.get(op, ()):
            if sender in own:
                yield _necessary(clocks, op, sender, own, queues)
            else:
                yield _covered(clocks, op, sender, own, queues)
        clocks.pass_node(op, own)
        queues.setdefault(clocks.row[op], []).append(op)


def _necessary(
    clocks: GraphClocks,
    op: Operation,
    sender: Operation,
    own: Iterable[Operation],
    queues: dict[int, list[Operation]],
) -> Necessary:
    row = clocks.row[sender]
    done = int(clocks.before(op)[row])
    done = max([done, *(int(clocks.done(other)[row]) for other in own if other is not sender)])
    assert done < clocks.position[sender], "an event that others imply was kept"
    return Necessary(sender, op, queues[row][done - 1] if done else None)


def _covered(
    clocks: GraphClocks,
    op: Operation,
    sender: Operation,
    own: Iterable[Operation],
    queues: dict[int, list[Operation]],
) -> Covered:
    row, position = clocks.row[sender], clocks.position[sender]
    if clocks.before(op)[row] >= position:
        return Covered(sender, op, "queue", queues[clocks.row[op]][-1])
    for other in own:
        if clocks.done(other)[row] >= position:
            return Covered(sender, op, "event", other)
    raise AssertionError(f'"{node_name(op)}" does not wait for "{node_name(sender)}" any more')
