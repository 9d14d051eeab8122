"""Pass `ge-stream-parallel-group`: streams for parallel groups."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import clusters_of
from ge_dialect.analysis.streams.nodes import (
    NO_STREAM,
    USER_LABEL,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    set_stream,
    stream_of,
)
from ge_dialect.dialects.ge.access import ge_attr, node_name
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.stream_pass import StreamPass

PARALLEL_GROUP = "_parallel_group"
FOLLOW_PREDECESSOR = "-1"


@dataclass(frozen=True)
class GeStreamParallelGroup(StreamPass):
    """GE's `UpdateForParallelGroupPass`: nodes with `_parallel_group` leave their stream for one of the group.

    Expects `ge.stream` on nodes (ge-stream-node-update). For each stream, ascending, each name takes a new stream at
    first sight, so nodes of one group on two streams land on two. A node of the group `-1` goes where its only data
    input comes from, if that has a stream, and counts as a normal group otherwise. Nodes with `_user_stream_label` stay
    (spec/streams.md section 2.7). Guarantees afterwards: nodes of different groups share no stream, unless one follows
    its producer.

    Raises StreamError (E19999), naming the node, for a `_parallel_group` that is no string.

    Before and after:

        %y = ge.op "Relu" (%x) attrs {_parallel_group = "1"} {ge.name = "y", ge.stream = 0 : i64} : tensor<2xf32>
        %y = ge.op "Relu" (%x) attrs {_parallel_group = "1"} {ge.name = "y", ge.stream = 1 : i64} : tensor<2xf32>
    """

    name = "ge-stream-parallel-group"

    def assign(self, model: StreamModel) -> bool:
        changed = False
        for view in model.graphs:
            if any(has_ge_attr(op, PARALLEL_GROUP) for op in view.nodes):
                changed = _update(view, _in_order(view, model)) or changed
        return changed


def _in_order(view: GraphNodes, model: StreamModel) -> list[int]:
    """The nodes sub-graph by sub-graph, then those in none."""
    clusters = clusters_of(view, model.engines, with_borders=False)
    order = [index for cluster in clusters for index in cluster.nodes]
    placed = set(order)
    return order + [index for index in range(len(view.nodes)) if index not in placed]


def _update(view: GraphNodes, order: list[int]) -> bool:
    groups: dict[int, list[int]] = {}
    for index in order:
        op = view.nodes[index]
        if has_ge_attr(op, PARALLEL_GROUP) and not has_ge_attr(op, USER_LABEL):
            groups.setdefault(stream_of(op), []).append(index)
    for stream in sorted(groups):
        if stream == NO_STREAM:
            continue
        new: dict[str, int] = {}
        for index in groups[stream]:
            op = view.nodes[index]
            name = ge_attr(op, PARALLEL_GROUP)
            if not isinstance(name, str):
                raise StreamError(
                    f'node "{node_name(op)}" has a {PARALLEL_GROUP} that is no string: {name}',
                    location_text(op),
                    code="E19999",
                )
            if name == FOLLOW_PREDECESSOR:
                followed = _predecessor_stream(view, index)
                if followed != NO_STREAM:
                    set_stream(op, followed)
                    continue
            if name not in new:
                new[name] = view.new_stream()
            set_stream(op, new[name])
    return bool(groups)


def _predecessor_stream(view: GraphNodes, index: int) -> int:
    sources = view.data_sources(index)
    return stream_of(view.nodes[sources[0]]) if len(sources) == 1 else NO_STREAM
