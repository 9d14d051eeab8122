"""Who starts the pieces of streams that were split: spec/streams.md section 9.5."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_type
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.split.splitting import Split
from ge_dialect.transforms.sync.activation import (
    Labels,
    active_streams,
    first_active_node,
    set_active_streams,
)
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.loops import activate_loop
from ge_dialect.transforms.sync.model import INTERNAL, SyncModel, label_of, stream_of, sync_error
from ge_dialect.transforms.sync.switches import activate_switches


def extend_labels(split: Split, labels: Labels, specific: set[int]) -> None:
    """Pieces of streams that a node starts belong to a label of theirs, the first by name (step 1)."""
    owner: dict[int, str] = {}
    for label in sorted(labels.streams, key=str.encode):
        for stream in labels.streams[label]:
            owner.setdefault(stream, label)
    for piece, stream in split.logic_of.items():
        if stream not in specific:
            continue
        specific.add(piece)
        if stream in owner:
            labels.streams[owner[stream]].add(piece)


def extend_lists(model: SyncModel, split: Split) -> None:
    """Let each node that starts a stream start the pieces of it that begin in the node's graph (step 2).

    Raises SyncError for a listed stream that does not exist.
    """
    graph_of_piece = {
        piece: model.graph_of[op] for op, pieces in split.starts.items() for piece in pieces
    }
    pieces = split.pieces()
    for op in model.nodes:
        if ge_type(op) == "StreamSwitch":
            continue
        streams = active_streams(op)
        if not streams:
            continue
        added: list[int] = []
        for stream in streams:
            if stream >= split.streams:
                raise sync_error(
                    op, f"starts stream {stream}, but there are {split.streams} streams"
                )
            added += [
                piece
                for piece in pieces.get(stream, ())
                if graph_of_piece.get(piece) is model.graph_of[op]
            ]
        if added:
            set_active_streams(op, [*streams, *added])


def activate_subgraph_pieces(
    model: SyncModel,
    split: Split,
    specific: set[int],
    first_active: Mapping[GraphOp, Operation] | None = None,
) -> None:
    """Let the head of a sub-graph start the pieces that begin in it and that nothing starts yet (step 3).

    `first_active`: the head of each sub-graph, where it is known already.
    """
    heads = first_active
    if heads is None:
        heads = {
            graph: op
            for graph in model.subgraphs
            if (op := first_active_node(model, graph)) is not None
        }
    started = {stream for op in model.nodes for stream in active_streams(op)}
    for op, pieces in split.starts.items():
        head = heads.get(model.graph_of[op])
        if head is None or label_of(op):
            continue
        for piece in pieces:
            if piece in started:
                continue
            specific.add(piece)
            if piece != stream_of(head):
                set_active_streams(head, sorted({*active_streams(head), piece}))


def check_activations(model: SyncModel) -> None:
    """Raises SyncError for a node that starts its own stream (step 5)."""
    for op in model.nodes:
        if "attrs" in op.properties or "active_stream_list" in op.properties:
            stream = stream_of(op)
            if stream in active_streams(op):
                raise sync_error(
                    op, f"starts stream {stream}, on which it is itself", code=INTERNAL
                )


def update_active_streams(
    model: SyncModel, split: Split, labels: Labels, specific: set[int], events: Events
) -> tuple[int, Operation | None]:
    """All of section 9.5. `labels` are by the streams before splitting; `labels` and `specific` are brought up to date.

    Returns the number of streams afterwards (switches may need new ones), and the end of the loop if it has no switch.
    Raises SyncError.
    """
    extend_labels(split, labels, specific)
    extend_lists(model, split)
    made = activate_switches(model, labels, split.total)
    specific.update(stream_of(op) for op in made)
    activate_subgraph_pieces(model, split, specific)
    streams = split.total + len(made)
    now = SyncModel.of(model.module) if made else model
    assert now is not None
    pieces = split.pieces()
    unswitched = activate_loop(
        now,
        specific,
        streams,
        events,
        lambda stream: stream >= split.streams or stream in pieces,
    )
    check_activations(now)
    return streams, unswitched
