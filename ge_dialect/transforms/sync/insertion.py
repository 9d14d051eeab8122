"""Which pairs of nodes need an event: spec/streams.md sections 6.1 to 6.4."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from ge_dialect.analysis.neighbours import in_nodes
from ge_dialect.dialects.ge.access import ge_attr, ge_type, node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.sync.activation import Labels
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import (
    INTERNAL,
    NO_STREAM,
    SyncModel,
    is_set,
    label_of,
    stream_of,
    sync_error,
)

FFTS_GRAPHS = ("_ffts_sub_graph", "_ffts_plus_sub_graph")
THREAD_SCOPE = "_thread_scope_id"
SUBGRAPH_END = "_subgraph_end_node"
_ENTERS = frozenset({"Enter", "RefEnter"})


def has_any(op: Operation, names: tuple[str, ...]) -> bool:
    """Whether the source gave the node one of these attributes."""
    attrs = op.properties.get("attrs")
    return isinstance(attrs, DictionaryAttr) and any(name in attrs.data for name in names)


def owns_ffts(op: Operation) -> bool:
    """Whether the node stands for an FFTS sub-graph: its edges are the business of that engine."""
    return has_any(op, FFTS_GRAPHS)


class PairRule:
    """Rule 6.2: does `following` need an event behind `node`? Adds it to `events` if so."""

    def __init__(self, model: SyncModel, labels: Labels, events: Events) -> None:
        self._events = events
        self._model = model
        # The last activator of a label on each stream of each graph: it orders what stands before it.
        self._activation: dict[tuple[str, GraphOp, int], int] = {}
        for label, activators in labels.activators.items():
            for op in activators:
                key = (label, model.graph_of[op], stream_of(op))
                place = model.place[op]
                self._activation[key] = max(place, self._activation.get(key, place))

    def __call__(self, node: Operation, following: Operation) -> bool:
        """Whether an event was added. Raises SyncError for a node without stream behind one that has one."""
        source, target = stream_of(node), stream_of(following)
        if source in (NO_STREAM, target):
            return False
        if ge_type(node) in _ENTERS and ge_type(following) != "StreamActive":
            return False
        if target == NO_STREAM:
            if ge_attr(following, THREAD_SCOPE) is not None:
                return False
            raise sync_error(
                following,
                f'has no stream, but follows "{node_name(node)}" on stream {source}: '
                "every node behind one with a stream needs a stream",
                code=INTERNAL,
            )
        label = label_of(following)
        if label and self._activated(label, node, source):
            return False
        self._events.add(node, following)
        return True

    def _activated(self, label: str, node: Operation, stream: int) -> bool:
        last = self._activation.get((label, self._model.graph_of[node], stream))
        return last is not None and self._model.place[node] <= last


def adjacent_pairs(model: SyncModel) -> Iterator[tuple[Operation, Operation]]:
    """Every edge between two nodes (section 6.1)."""
    for op in model.nodes:
        if not owns_ffts(op):
            for following in model.out_nodes(op):
                yield op, following


def boundary_pairs(model: SyncModel) -> Iterator[tuple[Operation, Operation]]:
    """What orders the nodes at the borders of sub-graphs behind and before those around the owner (6.3, 6.4)."""
    for graph in model.subgraphs:
        owner = model.graphs.owners.get(graph)
        if owner is None or owner not in model.graph_of:
            continue
        if has_any(owner, (*FFTS_GRAPHS, THREAD_SCOPE)):
            continue
        sources = list(in_nodes(owner))
        for op in model.direct_nodes(graph):
            if sources and stream_of(op) != NO_STREAM and next(in_nodes(op), None) is None:
                for source in sources:
                    yield source, op
            if is_set(op, SUBGRAPH_END):
                for following in model.out_nodes(owner):
                    yield op, following
                break


def insert_events(model: SyncModel, labels: Labels, events: Events) -> None:
    """One event for each pair that needs one: an edge each, so pairs may repeat. Raises SyncError."""
    rule = PairRule(model, labels, events)
    for node, following in adjacent_pairs(model):
        rule(node, following)
    for node, following in boundary_pairs(model):
        rule(node, following)
