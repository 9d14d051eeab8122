"""Pass `ge-stream-dependency`: sub-graphs go on with the stream of one they depend on, or share one of their engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ge_dialect.analysis.streams.clusters import (
    EngineCluster,
    clusters_of,
    write_cluster_streams,
)
from ge_dialect.analysis.streams.nodes import NO_STREAM, GraphNodes, StreamModel, has_ge_attr
from ge_dialect.transforms.streams.errors import bad_option
from ge_dialect.transforms.streams.stream_pass import StreamPass

FORCE_ATTACH = "_force_attach_stream"
_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}", re.ASCII)


@dataclass(frozen=True)
class GeStreamDependency(StreamPass):
    """GE's `AssignByDependencyPass`: a stream for every engine sub-graph that has none yet.

    Expects the streams of labels and independent engines (ge-stream-label, ge-stream-independent). Guarantees
    afterwards: `ge.cluster_stream` on the nodes of every sub-graph, streams numbered by engine name.

    In order of the sub-graphs, each takes the stream of a predecessor where it may, from the strongest engine among
    several, else one of its own engine's (spec/streams.md section 2.4). It may not when

    1. the engines belong to different schedule units;
    2. the predecessor's engine is independent, or the predecessor has a label;
    3. the predecessor has another successor of its own engine, which should go on with its stream (not with
       `memory-priority`);
    4. the engines differ, the own one may not attach to others, and the predecessor does not itself ride on a
       sub-graph of the own engine.

    A node with `_force_attach_stream` in the sub-graph lifts 3 and 4. Sub-graphs without such a predecessor share the
    streams of their engine, dealt out in turn. Below a graph of known shape the first stream made is the owning node's.

    Options:
    * `max-parallel`: streams an engine may have, as in `max-parallel="AIcoreEngine:2,DNN_VM_AICPU:4"`, default 1 each
      (GE's `ge.streamMaxParallelNum`);
    * `memory-priority`: share more, wait less often (GE's `ge.exec.memoryOptimizationPolicy` = `MemoryPriority`).

    Raises StreamError for a malformed `max-parallel`.

    Before and after, AI CPU work riding on the stream of what it reads:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
        %b = ge.op "Where" (%a) {ge.name = "b", ge.engine = "DNN_VM_AICPU", ge.cluster = 1 : i64} : tensor<2xf32>

        %a = ge.op "Relu" (%x) {ge.name = "a", ..., ge.cluster = 0 : i64, ge.cluster_stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Where" (%a) {ge.name = "b", ..., ge.cluster = 1 : i64, ge.cluster_stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-stream-dependency"

    max_parallel: str = ""
    memory_priority: bool = False

    def assign(self, model: StreamModel) -> bool:
        limits = parse_max_parallel(self.max_parallel)
        changed = False
        for view in model.graphs:
            clusters = clusters_of(view, model.engines)
            waiting = [each for each in clusters if each.stream == NO_STREAM]
            if waiting:
                _Dealer(view, limits, self.memory_priority).deal(clusters)
                write_cluster_streams(view, waiting)
                changed = True
        return changed


def parse_max_parallel(text: str) -> dict[str, int]:
    """`engine:number` pairs. Raises StreamError (E10001) for anything else."""
    limits: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        engine, _, number = part.rpartition(":")
        if not engine or not _NUMBER.fullmatch(number):
            raise bad_option("max-parallel", text, f"'{part}' is not engine:number")
        limits[engine] = int(number)
    return limits


@dataclass
class _Dealer:
    """The state of the pass for one graph. Until the end, `stream` of a sub-graph in `assigned` counts the streams of
    its engine only."""

    view: GraphNodes
    limits: Mapping[str, int]
    memory_priority: bool
    upcoming: dict[str, int] = field(default_factory=dict[str, int])
    count: dict[str, int] = field(default_factory=dict[str, int])
    assigned: list[EngineCluster] = field(default_factory=list[EngineCluster])
    reusing: list[tuple[EngineCluster, EngineCluster]] = field(
        default_factory=list[tuple[EngineCluster, EngineCluster]]
    )

    def deal(self, clusters: list[EngineCluster]) -> None:
        for cluster in clusters:
            if cluster.stream != NO_STREAM:
                continue
            best = self._best(cluster)
            if best is None:
                self._assign_new(cluster)
                continue
            if best.stream == NO_STREAM:
                self._assign_new(best)
            cluster.stream = best.stream
            if best.reused is not None:
                best = best.reused
            cluster.reused = best
            self.reusing.append((cluster, best))
        self._number()

    def _best(self, cluster: EngineCluster) -> EngineCluster | None:
        forced = self._is_forced(cluster)
        candidates = [
            each for each in cluster.predecessors if self._could_reuse(cluster, each, forced)
        ]
        # min keeps the first of equals: the predecessor that comes first.
        return min(candidates, key=lambda each: each.engine.cost, default=None)

    def _is_forced(self, cluster: EngineCluster) -> bool:
        nodes = self.view.nodes
        return any(has_ge_attr(nodes[index], FORCE_ATTACH) for index in cluster.nodes)

    def _could_reuse(self, cluster: EngineCluster, before: EngineCluster, forced: bool) -> bool:
        own, other = cluster.engine, before.engine
        if own.scheduler_id != other.scheduler_id:
            return False
        if other.independent or before.label != "":
            return False
        if forced:
            return True
        if not self.memory_priority and before.has_heir_besides(cluster):
            return False
        if own.name == other.name or own.attach:
            return True
        return before.reused is not None and before.reused.engine.name == own.name

    def _assign_new(self, cluster: EngineCluster) -> None:
        engine = cluster.engine.name
        number = self.upcoming.get(engine, 0)
        if number >= self.limits.get(engine, 1):
            number = 0
        cluster.stream = number
        self.upcoming[engine] = number + 1
        self.count[engine] = max(self.count.get(engine, 0), number + 1)
        self.assigned.append(cluster)

    def _number(self) -> None:
        """From numbers of the engines to numbers of the graph; engines in byte-wise order of their names."""
        following = self.view.next_stream
        first = NO_STREAM
        if self.view.has_owner_stream and self.assigned:
            # The first of the new streams will be the owner's, which needs no number here. (GE counts back even when
            # nothing is assigned and then gives one number twice; copying that would put strangers on one stream.)
            following -= 1
            first = following
        start: dict[str, int] = {}
        for engine in sorted(self.count, key=str.encode):
            start[engine] = following
            following += self.count[engine]
        for cluster in self.assigned:
            cluster.stream += start[cluster.engine.name]
            if cluster.stream == first:
                cluster.stream = 0
        for cluster, reused in self.reusing:
            cluster.stream = reused.stream
        self.view.next_stream = following
