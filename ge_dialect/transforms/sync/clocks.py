"""What the nodes of one graph know of each other through streams and events: one clock a node.

A clock holds, for each stream of the graph, how many of its nodes are done for certain. Only what happens inside the
graph counts: a sub-graph may not run, so it proves nothing about the graph around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ge_dialect.transforms.sync.model import NO_STREAM, stream_of

Clock = NDArray[np.int64]


class GraphClocks:
    """Clocks of a graph's nodes, advanced node by node in block order.

    `row` and `position` say which stream a node counts for and how many nodes of it are done with it, counted from 1.
    """

    def __init__(self, nodes: Iterable[Operation], keep: Iterable[Operation]) -> None:
        """`nodes` in block order; the clock of a node in `keep` can be asked for later."""
        self.nodes: Sequence[Operation] = [op for op in nodes if stream_of(op) != NO_STREAM]
        streams = sorted({stream_of(op) for op in self.nodes})
        number = {stream: row for row, stream in enumerate(streams)}
        self.row: dict[Operation, int] = {}
        self.position: dict[Operation, int] = {}
        counts = [0] * len(streams)
        for op in self.nodes:
            row = number[stream_of(op)]
            counts[row] += 1
            self.row[op], self.position[op] = row, counts[row]
        self._now: list[Clock] = [np.zeros(len(streams), np.int64) for _ in streams]
        self._keep = set(keep)
        self._kept: dict[Operation, Clock] = {}
        self._reached: dict[Operation, Clock] = {}

    def before(self, op: Operation) -> Clock:
        """What the node's stream knows when it comes to the node, events of the node not counted."""
        return self._now[self.row[op]]

    def done(self, op: Operation) -> Clock:
        """What is done when the node is, itself included. Only for nodes to keep that were passed."""
        return self._kept[op]

    def reached(self, op: Operation) -> Clock:
        """What is done when the stream comes to the node and has not waited for its events yet. As `done`."""
        return self._reached[op]

    def pass_node(self, op: Operation, senders: Sequence[Operation]) -> None:
        """Go past the node, which waits for `senders`."""
        row = self.row[op]
        clock = self._now[row]
        if op in self._keep:
            self._reached[op] = clock.copy()
        if senders:
            clock = np.maximum.reduce([clock, *(self._kept[sender] for sender in senders)])
            self._now[row] = clock
        clock[row] = self.position[op]
        if op in self._keep:
            self._kept[op] = clock.copy()


def passed(
    nodes: Iterable[Operation], senders_of: Mapping[Operation, Sequence[Operation]]
) -> GraphClocks:
    """The clocks of a graph whose nodes wait for `senders_of`, all nodes passed and kept."""
    listed = list(nodes)
    clocks = GraphClocks(listed, listed)
    for op in clocks.nodes:
        clocks.pass_node(op, senders_of.get(op, ()))
    return clocks
