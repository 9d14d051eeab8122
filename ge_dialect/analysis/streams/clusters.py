"""The engine sub-graphs of a graph, as `ge-cluster-engines` notes them on its nodes (spec/streams.md section 1.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.analysis.streams.engines import EngineTable, StreamEngine, clustered_name
from ge_dialect.analysis.streams.nodes import (
    CLUSTER,
    LABEL,
    NO_STREAM,
    USER_LABEL,
    GraphNodes,
    has_ge_attr,
    text_attr,
)
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.engine_table import CUSTOM, VECTOR
from ge_dialect.dialects.ge.access import ge_attr, get_int, get_text

PLACE, CLUSTER_STREAM = "ge.cluster_place", "ge.cluster_stream"
CV_PARALLEL = "_enable_cv_parallel"


@dataclass(eq=False, slots=True)
class EngineCluster:
    """One engine sub-graph: nodes of one graph that get their stream together.

    `nodes` are numbers in the graph; `rank` is the place in the order in which sub-graphs get streams. `engine`,
    `label` and `user_label` are those of the first node. `predecessors` and `successors` are the sub-graphs across its
    borders, by rank; `own_successors` is how many of the latter have the same engine. `has_other_input`: something
    outside all sub-graphs (an input of the graph, a constant) feeds it.
    """

    rank: int
    engine: StreamEngine
    label: str
    user_label: str
    nodes: list[int]
    stream: int = NO_STREAM
    predecessors: list[EngineCluster] = field(default_factory=list["EngineCluster"])
    successors: list[EngineCluster] = field(default_factory=list["EngineCluster"])
    own_successors: int = 0
    has_other_input: bool = False
    reused: EngineCluster | None = None

    def has_heir_besides(self, successor: EngineCluster) -> bool:
        """Whether another successor than this one has the own engine, and so the first claim on the stream."""
        return self.own_successors > (successor.engine.name == self.engine.name)

    @property
    def has_input(self) -> bool:
        """Whether any border input is linked."""
        return self.has_other_input or bool(self.predecessors)


def cluster_engine(op: Operation, engines: EngineTable) -> StreamEngine:
    """The engine that decides about the node's sub-graph: custom operators count as AI Core, nodes marked to run beside
    the cube unit as vector engine (spec/streams.md section 1.4, step 1). Raises GeError for an unknown engine."""
    if has_ge_attr(op, CV_PARALLEL) and ge_attr(op, CV_PARALLEL) is True:
        vector = engines.get(VECTOR)
        if vector is not None:
            return vector
    if get_text(op, "ge.engine") == CUSTOM:
        core = engines.get(clustered_name(CUSTOM))
        if core is not None:
            return core
    return engines.of_node(op)


def clusters_of(
    view: GraphNodes, engines: EngineTable, with_borders: bool = True
) -> list[EngineCluster]:
    """The engine sub-graphs of a graph by rank. Raises GeError for a node of an unknown engine.

    `with_borders` false leaves predecessors and successors empty, which saves looking at all edges.
    """
    members: dict[int, list[int]] = {}
    of_node: list[int] = []
    placed = False
    for index, op in enumerate(view.nodes):
        rank = get_int(op, CLUSTER, NO_STREAM)
        assert rank is not None
        of_node.append(rank)
        if rank != NO_STREAM:
            members.setdefault(rank, []).append(index)
            placed = placed or PLACE in op.attributes
    if placed:
        for nodes in members.values():
            nodes.sort(key=lambda index: (get_int(view.nodes[index], PLACE, 0) or 0, index))
    found: dict[int, EngineCluster] = {}
    for rank in sorted(members):
        first = view.nodes[members[rank][0]]
        stream = get_int(first, CLUSTER_STREAM, NO_STREAM)
        found[rank] = EngineCluster(
            rank,
            cluster_engine(first, engines),
            text_attr(first, LABEL),
            text_attr(first, USER_LABEL),
            members[rank],
            NO_STREAM if stream is None else stream,
        )
    if with_borders:
        _link(view, of_node, found)
    return list(found.values())


def _link(view: GraphNodes, of_node: list[int], found: dict[int, EngineCluster]) -> None:
    before: dict[int, set[int]] = {rank: set() for rank in found}
    for index, sources in enumerate(view.sources):
        rank = of_node[index]
        if rank == NO_STREAM:
            continue
        for source in sources:
            other = of_node[source]
            if other == NO_STREAM:
                found[rank].has_other_input = True
            elif other != rank:
                before[rank].add(other)
    for rank, cluster in found.items():
        for other in sorted(before[rank]):
            cluster.predecessors.append(found[other])
            found[other].successors.append(cluster)
            found[other].own_successors += found[other].engine.name == cluster.engine.name


def write_cluster_streams(view: GraphNodes, clusters: Iterable[EngineCluster]) -> None:
    """Note the sub-graphs' streams on their nodes."""
    for cluster in clusters:
        if cluster.stream == NO_STREAM:
            continue
        stream = i64(cluster.stream)
        for index in cluster.nodes:
            view.nodes[index].attributes[CLUSTER_STREAM] = stream
