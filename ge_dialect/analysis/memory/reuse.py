"""Which output may take over which output's bytes: `can_reuse` of spec/memory.md section 11.6."""

from __future__ import annotations

from ge_dialect.analysis.liveness import stream_of
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.analysis.reach import HappensBefore


class _Groups:
    """Union-find over outputs."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, uid: int) -> int:
        parent = self._parent
        while parent[uid] != uid:
            parent[uid] = parent[parent[uid]]
            uid = parent[uid]
        return uid

    def join(self, first: int, second: int) -> None:
        a, b = self.find(first), self.find(second)
        if a != b:
            self._parent[max(a, b)] = min(a, b)


def _shared(graph: MemoryGraph) -> _Groups:
    """Outputs that share memory for this test: by reference, and all inputs of a run without padding (or of a padded
    one whose producers give the strides)."""
    groups = _Groups(len(graph.outputs))
    for output in graph.outputs:
        if output.source is not None:
            groups.join(output.source.uid, output.uid)
    for node in graph.nodes:
        sources = [x for x in node.inputs if x is not None]
        runs = node.is_no_padding_input or (
            node.is_padded_input and any(x.node.marks.fusion_strides for x in sources)
        )
        if runs:
            for source in sources[1:]:
                groups.join(sources[0].uid, source.uid)
        if node.is_no_padding_output:
            for output in node.outputs[1:]:
                groups.join(node.outputs[0].uid, output.uid)
    return groups


class Reuse:
    """Answers `can_reuse` for the outputs of a graph, by data edges, control edges and the order of streams alone.

    Needs the streams of the nodes as they are, not as `normalise` changes them. Memory is nodes x streams.
    """

    def __init__(self, graph: MemoryGraph) -> None:
        self._groups = _shared(graph)
        streams = {stream_of(node.op) for node in graph.nodes} - {None}
        self._order = (
            None
            if len(streams) <= 1 and graph.nodes
            else HappensBefore([x.op for x in graph.nodes])
        )
        self._writers: dict[int, dict[int, Node]] = {}
        users: dict[int, dict[int, Node]] = {}
        for output in graph.outputs:
            group = self._groups.find(output.uid)
            self._writers.setdefault(group, {})[output.node.id] = output.node
            for consumer, _ in output.consumers:
                users.setdefault(group, {})[consumer.id] = consumer
        self._users = {
            group: _last_of_each_stream(users.get(group) or writers)
            for group, writers in self._writers.items()
        }

    def shares(self, first: Output, second: Output) -> bool:
        """Whether two outputs are one piece of memory for this test."""
        return self._groups.find(first.uid) == self._groups.find(second.uid)

    def can_reuse(self, later: Output, earlier: Output) -> bool:
        """Whether `later` may overwrite `earlier`: all who read the one are done before any that writes the other."""
        later_group = self._groups.find(later.uid)
        earlier_group = self._groups.find(earlier.uid)
        if later_group == earlier_group:
            return False
        return all(
            self._before(user, writer)
            for user in self._users[earlier_group]
            for writer in self._writers[later_group].values()
        )

    def _before(self, first: Node, second: Node) -> bool:
        if first is second:
            return False
        if self._order is None:
            return first.id < second.id
        return self._order.before(first.op, second.op)


def _last_of_each_stream(nodes: dict[int, Node]) -> list[Node]:
    """Of the nodes on one stream only the last counts, since it comes after the others."""
    last: dict[int, Node] = {}
    alone: list[Node] = []
    for _, node in sorted(nodes.items()):
        stream = stream_of(node.op)
        if stream is None:
            alone.append(node)
        else:
            last[stream] = node
    return [*last.values(), *alone]
