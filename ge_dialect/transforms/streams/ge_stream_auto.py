"""Pass `ge-stream-auto`: streams out of the graph of dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ge_dialect.analysis.neighbours import out_nodes
from ge_dialect.analysis.order import positions
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.nodes import (
    LABEL,
    LABEL_NODE,
    NO_STREAM,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    stream_of,
    text_attr,
)
from ge_dialect.dialects.ge.access import ge_attr, node_name
from ge_dialect.transforms.streams.auto_mode import effective_auto_mode
from ge_dialect.transforms.streams.custom_pass import CustomStreamPass, StreamContext
from ge_dialect.transforms.streams.dag.allocate import allocate
from ge_dialect.transforms.streams.dag.problem import UNKNOWN_TIME, Dag, DagNode
from ge_dialect.transforms.streams.dag.profile import Measured, measured, read_profile

BLOCK_DIM = "tvm_blockdim"


def _successors(view: GraphNodes) -> list[list[int]]:
    """Who waits for each node, each once, in GE's order of edges, which decides between equally good chains."""
    place, number = positions(view.graph), view.number
    return [
        list(dict.fromkeys(number[each] for each in out_nodes(op, place) if each in number))
        for op in view.nodes
    ]


@dataclass(frozen=True)
class GeStreamAuto(CustomStreamPass):
    """GE's `MiniDAGStreamPass`: in the modes `LoadBalance:N`, `MainStream:N` and `WeightedLoadBalance:N`, new streams
    for all nodes, at most N a graph besides those of labels.

    Expects streams of one range (ge-stream-number). The nodes with a stream are cut into the fewest chains along edges,
    and the chains are put on streams one by one (spec/streams.md section 14.3): by even loads over the levels of the
    graph, by keeping what runs alone on the first stream, or by measured times. Nodes with `_stream_label` have a
    stream a label. Nodes without stream and those with `_rts_label_node` stay. In other modes nothing happens.
    Guarantees afterwards: the new streams are listed in `ge.custom_streams` and counted in `ge.stream_num`.

    Options:
    * `auto`: the text of `ge.autoMultistreamParallelMode`; the root graph's `ge.auto_multistream_mode` wins;
    * `profile`: a CSV file with measured times (columns name, time_us, cube, vector); when it knows any node of a
      graph, `WeightedLoadBalance` is used for the graph (GE: the environment variable MINIDAG_PROFILING_PATH).

    Raises StreamError (E10001) for a text that is no mode, GeError for a profile that cannot be read.

    Before and after, mode `LoadBalance:2`, with a and b that both read x:

        a {ge.stream = 0}, b {ge.stream = 0}
        a {ge.stream = 1}, b {ge.stream = 2}
    """

    name = "ge-stream-auto"

    auto: str = ""
    profile: str = ""

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None or not effective_auto_mode(root.graph, self.auto).is_dag:
            return False
        return super().assign(model)

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        mode = effective_auto_mode(root.graph, self.auto)
        profile = read_profile(self.profile) if self.profile else {}
        for view in model.graphs:
            self._run(view, mode.kind, mode.streams, profile, context)

    def _run(
        self,
        view: GraphNodes,
        strategy: str,
        streams: int,
        profile: Mapping[str, Measured],
        context: StreamContext,
    ) -> None:
        found = [measured(profile, node_name(op)) for op in view.nodes] if profile else None
        if found is not None and any(found):
            strategy = "WeightedLoadBalance"
        nodes: list[DagNode] = []
        for index, op in enumerate(view.nodes):
            row = None if found is None else found[index]
            time = UNKNOWN_TIME if row is None else row.time
            if stream_of(op) == NO_STREAM:
                time = 0.0
            cores = ge_attr(op, BLOCK_DIM, 1) if row is None else row.cores
            nodes.append(
                DagNode(text_attr(op, LABEL), time, cores if isinstance(cores, int) else 1)
            )
        base = context.allocate_next()
        allocation = allocate(Dag(nodes, _successors(view)), strategy, streams - 1, base)
        for _ in range(allocation.count):
            context.allocate_next()
        for op, stream in zip(view.nodes, allocation.streams, strict=True):
            if NO_STREAM in (stream, stream_of(op)) or has_ge_attr(op, LABEL_NODE):
                continue
            context.set_stream(op, stream)
        emit_remark(
            view.graph,
            self.name,
            "passed",
            f"{strategy}: {allocation.count} streams",
            streams=allocation.count,
        )
