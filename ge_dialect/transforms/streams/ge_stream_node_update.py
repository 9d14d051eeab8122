"""Pass `ge-stream-node-update`: from the streams of sub-graphs to those of nodes."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.clusters import EngineCluster, clusters_of
from ge_dialect.analysis.streams.nodes import (
    LABEL_NODE,
    NO_STREAM,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    set_stream,
)
from ge_dialect.dialects.ge.access import ge_type, node_name, subgraph_names
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.stream_pass import StreamPass


@dataclass(frozen=True)
class GeStreamNodeUpdate(StreamPass):
    """GE's `NodeStreamUpdatePass`: every node gets the stream of its engine sub-graph; nodes in none lose theirs.

    Expects `ge.cluster_stream` on sub-graphs (ge-stream-dependency or ge-stream-single). Guarantees afterwards:
    `ge.stream` on every node whose engine makes device tasks.

    Two exceptions (spec/streams.md section 2.6): nodes with `_rts_label_node` run on the stream of the node that owns
    their graph, in a root graph, and where that node has none, on none; the ge.net_output of a While's body, when the
    While stands in a graph of unknown shape, runs on stream 0 of the model.

    Raises StreamError (E19999), naming a node, when a sub-graph has no stream and its engine needs one.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y", ge.cluster = 0 : i64, ge.cluster_stream = 1 : i64} : tensor<2xf32>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.cluster = 0 : i64, ge.cluster_stream = 1 : i64, ge.stream = 1 : i64}
            : tensor<2xf32>
    """

    name = "ge-stream-node-update"

    def assign(self, model: StreamModel) -> bool:
        for view in model.graphs:
            clusters = clusters_of(view, model.engines, with_borders=False)
            for cluster in clusters:
                _check(view, cluster)
            of_node = [NO_STREAM] * len(view.nodes)
            for cluster in clusters:
                for index in cluster.nodes:
                    of_node[index] = _stream(view, index, cluster)
            for op, stream in zip(view.nodes, of_node, strict=True):
                set_stream(op, stream)
        return bool(model.graphs)


def _check(view: GraphNodes, cluster: EngineCluster) -> None:
    if cluster.stream == NO_STREAM and not cluster.engine.skip_assign_stream:
        op = view.nodes[cluster.nodes[0]]
        raise StreamError(
            f'no stream for the sub-graph of node "{node_name(op)}" on engine {cluster.engine.name}',
            location_text(op),
            code="E19999",
            status="INTERNAL_ERROR",
        )


def _stream(view: GraphNodes, index: int, cluster: EngineCluster) -> int:
    op = view.nodes[index]
    if has_ge_attr(op, LABEL_NODE):
        return 0 if view.has_owner_stream else NO_STREAM
    if ge_type(op) == "NetOutput" and _ends_dynamic_loop(view):
        return 0
    return cluster.stream


def _ends_dynamic_loop(view: GraphNodes) -> bool:
    """Whether the graph is the body (second sub-graph) of a While that stands in a graph of unknown shape."""
    owner, parent = view.owner, view.parent
    if owner is None or parent is None or not parent.is_unknown or ge_type(owner) != "While":
        return False
    return subgraph_names(owner)[1:2] == [view.graph.sym_name.data]
