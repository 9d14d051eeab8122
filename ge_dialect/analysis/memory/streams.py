"""Streams as the memory stage sees them: which stream a node counts for, and what one stream knows of another.

Source: spec/memory.md sections 5.1 and 5.3. Times are node ids.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from ge_dialect.analysis.memory.model import NO_STREAM, MemoryGraph, Node
from ge_dialect.dialects.engine_table import ENGINES, GE_LOCAL
from ge_dialect.dialects.ge.access import get_text

MERGE_TYPES = frozenset({"Merge", "RefMerge", "StreamMerge"})
CLEAN_TYPES = frozenset({"AtomicAddrClean", "MemSet", "Memset"})
"""Nodes that zero memory of others before the graph runs."""

_LOCAL_LIB = ENGINES[GE_LOCAL].kernel_lib

Pair = tuple[int, int]
"""Ids of a node on the one stream and of its peer on the other."""


def normalise(graph: MemoryGraph) -> None:
    """Give nodes the stream that they count for in memory (section 5.1).

    A graph on at most one stream is one queue. Otherwise inputs without stream take that of their consumers when these
    agree, and a run of nodes that is certainly serial counts for the stream on which it starts and ends.
    """
    if graph.streams <= 1:
        only = next((x.stream for x in graph.nodes if x.stream != NO_STREAM), 0)
        for node in graph.nodes:
            node.stream = only
        return
    for node in graph.nodes:
        if node.is_data and node.stream == NO_STREAM:
            streams = {consumer.stream for x in node.outputs for consumer, _ in x.consumers}
            if len(streams) == 1:
                node.stream = streams.pop()
    for run in _serial_runs(graph):
        _join(run)


def _serial_runs(graph: MemoryGraph) -> list[list[Node]]:
    """Maximal runs of consecutive nodes in which each has one consumer, the next, which has no other producer."""
    runs: list[list[Node]] = []
    run: list[Node] = []
    for node in graph.nodes:
        if run and not _continues(run[-1], node):
            if len(run) > 2:
                runs.append(run)
            run = []
        run.append(node)
    if len(run) > 2:
        runs.append(run)
    return runs


def _continues(node: Node, following: Node) -> bool:
    if following.type in MERGE_TYPES:
        return False
    if sum(len(x.consumers) for x in node.outputs) != 1:
        return False
    producers = [x for x in following.inputs if x is not None]
    return len(producers) == 1 and producers[0].node is node


def _join(run: list[Node]) -> None:
    following: dict[int, int] = {}
    next_same: list[int | None] = [None] * len(run)
    for index in range(len(run) - 1, -1, -1):
        next_same[index] = following.get(run[index].stream)
        following[run[index].stream] = index
    at = 0
    while at < len(run):
        until = next_same[at]
        if until is None or run[at].stream == NO_STREAM:
            at += 1
            continue
        for index in range(at + 1, until):
            run[index].stream = run[at].stream
        at = until


@dataclass(slots=True)
class StreamEdges:
    """Synchronisation between streams, direct and derived, without what others imply.

    `incoming[dst, src]`: ascending pairs (node on dst, latest peer on src that is done before it starts);
    `outgoing[src, dst]`: ascending pairs (node on src, peer on dst that starts after it is done).
    """

    incoming: dict[tuple[int, int], list[Pair]] = field(
        default_factory=dict[tuple[int, int], list[Pair]]
    )
    outgoing: dict[tuple[int, int], list[Pair]] = field(
        default_factory=dict[tuple[int, int], list[Pair]]
    )

    def known(self, dst: int, src: int, time: int) -> int:
        """The latest node on `src` that is done for certain when a node of `dst` with id `time` starts; -1 for none."""
        return _lookup(self.incoming.get((dst, src)), time)

    def returns(self, src: int, dst: int, time: int) -> int | None:
        """The first node on `dst` that starts after a node of `src` with id `time` is done; None without one."""
        pairs = self.outgoing.get((src, dst))
        if not pairs:
            return None
        index = bisect_left(pairs, (time, -1))
        return pairs[index][1] if index < len(pairs) else None


def _is_ignored(node: Node) -> bool:
    """Whether edges from this node synchronise nothing: central cleaning, and what makes no task of its own."""
    return (
        node.stream == NO_STREAM
        or node.type in CLEAN_TYPES
        or get_text(node.op, "ge.kernel_lib") == _LOCAL_LIB
    )


def _merging_streams(graph: MemoryGraph) -> set[int]:
    """Streams that run on one of several ways to them: nothing is certain there."""
    found: set[int] = set()
    for node in graph.nodes:
        if node.type in MERGE_TYPES:
            found.add(node.stream)
            found.update(consumer.stream for x in node.outputs for consumer, _ in x.consumers)
    return found


def _sources(graph: MemoryGraph) -> list[list[Node]]:
    """For every node those that it waits for, by data or control; renaming nodes are looked through."""
    found: list[list[Node]] = []
    for node in graph.nodes:
        waits: dict[int, Node] = {}
        for source in (*(x.node for x in node.inputs if x is not None), *node.before):
            if source.renames and source.stream in (NO_STREAM, node.stream):
                waits.update((x.id, x) for x in found[source.id])
            waits[source.id] = source
        found.append(list(waits.values()))
    return found


def stream_edges(graph: MemoryGraph) -> StreamEdges:
    """What each stream knows of the others (section 5.3), by the streams that nodes count for.

    Linear in edges times the streams that know each other.
    """
    made = StreamEdges()
    if len({node.stream for node in graph.nodes}) <= 1:
        return made
    excluded = _merging_streams(graph)
    knows: dict[int, set[int]] = {}
    for node, sources in zip(graph.nodes, _sources(graph), strict=True):
        dst = node.stream
        if dst == NO_STREAM or dst in excluded:
            continue
        peers = _direct_peers(node, sources, excluded)
        for src, peer in list(peers.items()):
            for third in knows.get(src, ()):
                known = _lookup(made.incoming.get((src, third)), peer)
                if third != dst and known > peers.get(third, -1):
                    peers[third] = known
        for src, peer in peers.items():
            pairs = made.incoming.setdefault((dst, src), [])
            if pairs and pairs[-1][1] >= peer:
                continue  # an earlier node of the stream knows as much
            pairs.append((node.id, peer))
            knows.setdefault(dst, set()).add(src)
    for (dst, src), pairs in made.incoming.items():
        made.outgoing[src, dst] = [(peer, node) for node, peer in pairs]
    return made


def _direct_peers(node: Node, sources: list[Node], excluded: set[int]) -> dict[int, int]:
    """For each other stream the latest node on it that `node` waits for."""
    peers: dict[int, int] = {}
    for source in sources:
        src = source.stream
        if src != node.stream and src not in excluded and not _is_ignored(source):
            peers[src] = max(peers.get(src, -1), source.id)
    return peers


def _lookup(pairs: list[Pair] | None, time: int) -> int:
    """The peer of the last pair up to `time`, -1 for none."""
    if not pairs:
        return -1
    index = bisect_right(pairs, (time, 1 << 62)) - 1
    return pairs[index][1] if index >= 0 else -1
