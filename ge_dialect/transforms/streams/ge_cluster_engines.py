"""Pass `ge-cluster-engines`: the engine sub-graphs, which get their streams as a whole."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ge_dialect.analysis.streams.clustering import Grouping, group_by_edges, group_neighbours
from ge_dialect.analysis.streams.clusters import CLUSTER, CLUSTER_STREAM, PLACE, cluster_engine
from ge_dialect.analysis.streams.nodes import (
    LABEL,
    NEXT_STREAM,
    STREAM,
    USER_LABEL,
    GraphNodes,
    StreamModel,
    text_attr,
)
from ge_dialect.analysis.streams.structure import note_structure
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_type, set_ge_attr
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.streams.stream_pass import StreamPass

DATA_LIKE = frozenset(
    {"Const", "Constant", "Data", "RefData", "AippData", "AnnData", "Variable", "VariableV2"}
)
STABLE_RDFS = "3"


@dataclass(frozen=True)
class GeClusterEngines(StreamPass):
    """Group the nodes of each graph into engine sub-graphs, the unit of stream assignment.

    Expects `ge.engine` on the nodes (ge-assign-engines), block order = topological order and final labels
    (ge-transfer-stream-labels). Guarantees afterwards: `ge.cluster` on every node but inputs, constants and variables
    without inputs; `ge.cluster_place` where the members of a sub-graph do not stand in block order; `ge.structure` on
    the graph, by which the end of the chain sees that nothing but streams changed. Streams and counters of an earlier
    run are forgotten.

    A node joins the sub-graph of a node that it reads from when engine and `_stream_label` agree and no other way leads
    from the one to the other, which would make the sub-graph wait for itself; or when both have the same
    `_user_stream_label`. Custom operators count as AI Core (spec/streams.md section 1.4). Sub-graphs are numbered by
    their first nodes.

    Options:
    * `topo-sorting-mode`: GE's `ge.topoSortingMode`; with `3` neighbours in the order are joined, with or without edge.

    Raises GeError for a node without engine or with one that is not configured.

    Before and after:

        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine"} : tensor<2xf32>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
    """

    name = "ge-cluster-engines"

    topo_sorting_mode: str | int = ""

    def assign(self, model: StreamModel) -> bool:
        for view in model.graphs:
            view.graph.attributes.pop(NEXT_STREAM, None)
            for op in view.nodes:
                for name in (STREAM, CLUSTER, PLACE, CLUSTER_STREAM):
                    op.attributes.pop(name, None)
            self._cluster(view, model)
            note_structure(view.graph)
        return True

    def _cluster(self, view: GraphNodes, model: StreamModel) -> None:
        left_out = [is_input(op) for op in view.nodes]
        user_labels: list[str] = []
        keys: list[tuple[str, str]] = []
        for op, skipped in zip(view.nodes, left_out, strict=True):
            if skipped:
                if text_attr(op, USER_LABEL) and isinstance(op, GeNode):
                    set_ge_attr(op, USER_LABEL, "")
                keys.append(("", ""))
                user_labels.append("")
                continue
            keys.append((cluster_engine(op, model.engines).name, text_attr(op, LABEL)))
            user_labels.append(text_attr(op, USER_LABEL))
        what = Grouping(view.sources, keys, user_labels, left_out)
        by_list = str(self.topo_sorting_mode) == STABLE_RDFS
        groups = group_neighbours(what) if by_list else group_by_edges(what)
        for rank, members in enumerate(groups):
            number = i64(rank)
            for index in members:
                view.nodes[index].attributes[CLUSTER] = number
            if any(a > b for a, b in itertools.pairwise(members)):
                for place, index in enumerate(members):
                    view.nodes[index].attributes[PLACE] = i64(place)


def is_input(op: object) -> bool:
    """Whether the node is in no sub-graph: a node like an input of the graph, which reads nothing."""
    return isinstance(op, GeNode) and not op.operands and ge_type(op) in DATA_LIKE
