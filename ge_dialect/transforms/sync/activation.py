"""Who starts which stream: the tables of spec/streams.md section 9, and the lists on the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_streams
from ge_dialect.dialects.attrs import i64_array, integers
from ge_dialect.dialects.ge.access import ge_attr, set_ge_attr
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.sync.model import (
    ACTIVE_LABELS,
    ACTIVE_STREAMS,
    FIRST_ACTIVE,
    INTERNAL,
    NO_STREAM,
    SyncModel,
    is_set,
    label_of,
    stream_of,
    sync_error,
    texts,
)

SPECIFIC = "ge.specific_streams"


@dataclass
class Labels:
    """Stream labels of a model (section 9.1).

    `streams`: the streams that carry a label; `activators`: the nodes that start a label's streams, in walk order;
    `starters`: the nodes that start a stream through one of its labels.
    """

    streams: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    activators: dict[str, list[Operation]] = field(default_factory=dict[str, list[Operation]])
    starters: dict[int, list[Operation]] = field(default_factory=dict[int, list[Operation]])

    @classmethod
    def of(
        cls,
        model: SyncModel,
        streams: Mapping[str, Iterable[int]] | None = None,
        logic_of: Mapping[int, int] | None = None,
    ) -> Labels:
        """The tables of a model. `streams` are labelled streams known beforehand; `logic_of`: pieces that count for the
        stream that they were cut from.

        A label that only stands in some `_active_label_list` has an entry too, an empty one.
        """
        made = cls({label: set(ids) for label, ids in (streams or {}).items()})
        logic = logic_of or {}
        for op in model.nodes:
            label = label_of(op)
            if label and (stream := stream_of(op)) != NO_STREAM:
                made.streams.setdefault(label, set()).add(logic.get(stream, stream))
        for op in activating_nodes(model):
            for label in texts(op, ACTIVE_LABELS):
                _add_once(made.activators.setdefault(label, []), op)
                for stream in sorted(made.streams.setdefault(label, set())):
                    _add_once(made.starters.setdefault(stream, []), op)
        return made

    def streams_of(self, label: str, op: Operation) -> list[int]:
        """The streams of a label, ascending. Raises SyncError for a label that no node has or activates."""
        if label not in self.streams:
            raise sync_error(
                op, f"activates the label '{label}', which no node of the model has", code=INTERNAL
            )
        return sorted(self.streams[label])


def _add_once(found: list[Operation], op: Operation) -> None:
    """Add a node to a list that is filled node by node: each stands in it once."""
    if not found or found[-1] is not op:
        found.append(op)


def activating_nodes(model: SyncModel) -> list[Operation]:
    """The nodes with a non-empty `_active_label_list`, in walk order."""
    return [op for op in model.nodes if "attrs" in op.properties and texts(op, ACTIVE_LABELS)]


def active_streams(op: Operation) -> list[int]:
    """The streams that the node starts."""
    return list(ge_attr(op, ACTIVE_STREAMS, ()))


def set_active_streams(op: Operation, streams: Iterable[int]) -> None:
    """Write the list of streams that the node starts. Raises SyncError for an op that is no node."""
    if not isinstance(op, GeNode):
        raise sync_error(op, "cannot start streams: it is not a node of the dialect ge")
    set_ge_attr(op, ACTIVE_STREAMS, i64_array(list(streams)))


def set_streams_of_label(op: Operation, label: str, labels: Labels) -> None:
    """Let the node start the streams of one label. Raises SyncError for an unknown label."""
    set_active_streams(op, labels.streams_of(label, op))


def activate_labels(model: SyncModel, labels: Labels) -> set[int]:
    """Write the streams of each node's active labels on it (section 9.1); the streams that are started so."""
    specific: set[int] = set()
    for op in activating_nodes(model):
        streams = [
            stream for label in texts(op, ACTIVE_LABELS) for stream in sorted(labels.streams[label])
        ]
        specific.update(streams)
        set_active_streams(op, streams)
    return specific


def first_active_node(model: SyncModel, graph: GraphOp) -> Operation | None:
    """The node that starts the streams of a sub-graph: the last unlabelled one with `subgraph_first_active`."""
    found = None
    for op in model.direct_nodes(graph):
        if is_set(op, FIRST_ACTIVE) and not label_of(op):
            found = op
    return found


def activate_subgraphs(model: SyncModel) -> set[int]:
    """Let the head of each sub-graph start the streams of its unlabelled nodes (section 9.2); these streams."""
    specific: set[int] = set()
    for graph in model.subgraphs:
        head = first_active_node(model, graph)
        if head is None:
            continue
        streams: set[int] = set()
        for op in model.direct_nodes(graph):
            if not label_of(op):
                streams.update((stream_of(op), *attached_streams(op)))
        streams -= {NO_STREAM, stream_of(head)}
        set_active_streams(head, [*active_streams(head), *sorted(streams)])
        specific |= streams
    return specific


def specific_streams(model: SyncModel) -> set[int]:
    """The streams that some node starts, apart from the end of a loop."""
    found = model.root.attributes.get(SPECIFIC)
    return set() if found is None else set(integers(found))


def set_specific_streams(model: SyncModel, streams: Iterable[int]) -> None:
    """Keep the set of streams that some node starts, on the root graph."""
    listed: Sequence[int] = sorted(set(streams))
    if listed or SPECIFIC in model.root.attributes:
        model.root.attributes[SPECIFIC] = i64_array(listed)
