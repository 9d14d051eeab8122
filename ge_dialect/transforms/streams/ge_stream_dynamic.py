"""Pass `ge-stream-dynamic`: streams of models whose shapes are known at run time only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DictionaryAttr

from ge_dialect.analysis.streams.clusters import EngineCluster, clusters_of
from ge_dialect.analysis.streams.nodes import (
    LABEL,
    NO_STREAM,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    set_stream,
    text_attr,
)
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.engine_table import AI_CORE, GE_LOCAL, HCCL, VECTOR
from ge_dialect.dialects.ge.access import ge_type, get_flag
from ge_dialect.transforms.streams.dynamic_nodes import MAIN_STREAM
from ge_dialect.transforms.streams.errors import bad_option
from ge_dialect.transforms.streams.ge_stream_number import STREAM_NUM
from ge_dialect.transforms.streams.stream_pass import StreamPass

ENGINE_STREAMS, LABEL_STREAMS = "ge.engine_streams", "ge.label_streams"
OWN_STREAM_ENGINES = frozenset({AI_CORE, VECTOR, HCCL, "DSAEngine"})
AI_CPU_ENGINES = frozenset(
    {
        "DNN_VM_AICPU",
        "DNN_VM_AICPU_FFTS_PLUS",
        "DNN_VM_AICPU_ASCEND",
        "DNN_VM_AICPU_ASCEND_FFTS_PLUS",
    }
)
INDEPENDENT_TYPES = frozenset(
    {"DropOutGenMask", "DropOutDoMaskV3", "GetNext", "DynamicGetNext", "DynamicGetNextV2"}
)


def dynamic_multi_stream(enabled: str, *, nested: bool = False, single_op: bool = False) -> bool:
    """Whether a model of unknown shape gets several streams (spec/streams.md section 4.1).

    `enabled` is the text of ENABLE_DYNAMIC_SHAPE_MULTI_STREAM; automatic modes do not count. Never for a graph below
    another one that is compiled by itself, nor for a single operator.
    """
    return enabled == "1" and not nested and not single_op


def ac_parallel(text: str) -> bool:
    """The option `ac_parallel_enable`. Raises StreamError (E10001) for anything but "", "0" and "1"."""
    if text not in ("", "0", "1"):
        raise bad_option("ac_parallel_enable", text, "expected 0 or 1")
    return text == "1"


@dataclass(frozen=True)
class GeStreamDynamic(StreamPass):
    """Put the nodes of the root graph and of the graphs of unknown shape below it on streams of their engines.

    Expects engine sub-graphs (ge-cluster-engines). In order of the sub-graphs (spec/streams.md section 4.2):

    1. AI Core, vector, collective and DSA engines have a stream each;
    2. so have AI CPU engines, for sub-graphs that nothing on the device feeds or that can ride on nobody
       (`ac-parallel-enable`), else for those with a node that makes data or random masks;
    3. the others ride on a predecessor, else on a successor: of the same engine, when the engine may attach, or back on
       what the other rides on; AI CPU never on an independent engine;
    4. what is left gets its engine's stream, unless the engine makes no device task;
    5. nodes with `_stream_label` have the stream of the label, the same in all graphs.

    Graphs of known shape are passed over: they are models of their own. Guarantees afterwards: `ge.stream` by these
    rules, and on the root graph `ge.engine_streams` and `ge.label_streams`, which `ge-stream-dynamic-refresh` reads.

    Options:
    * `enable`: several streams at all, by default yes; anything but `1` puts every node on stream 0, as GE does unless
      ENABLE_DYNAMIC_SHAPE_MULTI_STREAM is 1. So does a graph that is a single operator;
    * `ac-parallel-enable`: `1` lets AI CPU work run beside the rest, `0` and nothing do not.

    Raises StreamError (E10001) for another value of `ac-parallel-enable`.

    Before and after:

        %a = ge.op "GetNext" () {ge.name = "a", ge.engine = "DNN_VM_AICPU", ge.cluster = 0 : i64} : tensor<?xf32>
        %b = ge.op "Relu" (%a) {ge.name = "b", ge.engine = "AIcoreEngine", ge.cluster = 1 : i64} : tensor<?xf32>

        %a = ge.op "GetNext" () {ge.name = "a", ..., ge.stream = 1 : i64} : tensor<?xf32>
        %b = ge.op "Relu" (%a) {ge.name = "b", ..., ge.stream = 0 : i64} : tensor<?xf32>
    """

    name = "ge-stream-dynamic"

    enable: str | int = "1"
    ac_parallel_enable: str | int = ""

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        root.graph.attributes.pop(ENGINE_STREAMS, None)
        root.graph.attributes.pop(LABEL_STREAMS, None)
        single_op = get_flag(root.graph, "ge.single_op_scene")
        if not dynamic_multi_stream(str(self.enable), single_op=single_op):
            for view in model.dynamic_graphs:
                for op in view.nodes:
                    set_stream(op, MAIN_STREAM)
            root.graph.attributes[STREAM_NUM] = i64(1)
            return False
        allocator = _Allocator(ac_parallel(str(self.ac_parallel_enable)))
        for view in model.dynamic_graphs:
            allocator.assign(view, clusters_of(view, model.engines))
        root.graph.attributes[ENGINE_STREAMS] = _dictionary(allocator.engine_streams)
        root.graph.attributes[LABEL_STREAMS] = _dictionary(allocator.label_streams)
        root.graph.attributes[STREAM_NUM] = i64(allocator.following)
        return True


def _dictionary(streams: dict[str, int]) -> DictionaryAttr:
    return DictionaryAttr({name: i64(stream) for name, stream in streams.items()})


@dataclass
class _Allocator:
    """What all graphs of a model share."""

    parallel: bool
    engine_streams: dict[str, int] = field(default_factory=dict[str, int])
    label_streams: dict[str, int] = field(default_factory=dict[str, int])
    following: int = 0

    def assign(self, view: GraphNodes, clusters: list[EngineCluster]) -> None:
        """Give streams to the sub-graphs of one graph, then to its nodes."""
        for cluster in clusters:
            # Nothing is left over from a static assignment.
            cluster.stream = NO_STREAM
        self._give(clusters, lambda each: each.engine.name in OWN_STREAM_ENGINES)
        if self.parallel:
            self._give(clusters, _runs_beside)
        else:
            self._give(clusters, lambda each: _is_independent(view, each))
        for cluster in clusters:
            if cluster.stream == NO_STREAM:
                _reuse(cluster)
        self._give(
            clusters,
            lambda each: each.stream == NO_STREAM and not each.engine.skip_assign_stream,
        )
        streams = [NO_STREAM] * len(view.nodes)
        for cluster in clusters:
            for index in cluster.nodes:
                streams[index] = cluster.stream
        for index, op in enumerate(view.nodes):
            if has_ge_attr(op, LABEL) and (label := text_attr(op, LABEL)):
                if label not in self.label_streams:
                    self.label_streams[label] = self.following
                    self.following += 1
                streams[index] = self.label_streams[label]
            set_stream(op, streams[index])

    def _give(self, clusters: list[EngineCluster], wanted: Callable[[EngineCluster], bool]) -> None:
        for cluster in clusters:
            if wanted(cluster):
                name = cluster.engine.name
                if name not in self.engine_streams:
                    self.engine_streams[name] = self.following
                    self.following += 1
                cluster.stream = self.engine_streams[name]


def _is_independent(view: GraphNodes, cluster: EngineCluster) -> bool:
    if cluster.engine.name not in AI_CPU_ENGINES:
        return False
    return any(ge_type(view.nodes[index]) in INDEPENDENT_TYPES for index in cluster.nodes)


def _runs_beside(cluster: EngineCluster) -> bool:
    """Whether an AI CPU sub-graph gets the stream of its engine (step 2a)."""
    if cluster.engine.name not in AI_CPU_ENGINES:
        return False
    fed_by_no_task = not cluster.has_other_input and all(
        before.engine.name == GE_LOCAL and not before.has_input for before in cluster.predecessors
    )
    return fed_by_no_task or not any(
        _carries_ai_cpu(before, cluster) for before in cluster.predecessors
    )


def _carries_ai_cpu(before: EngineCluster, cluster: EngineCluster) -> bool:
    engine = before.engine
    return (
        engine.name in OWN_STREAM_ENGINES
        and not engine.independent
        and not before.has_heir_besides(cluster)
    )


def _could_reuse(cluster: EngineCluster, other: EngineCluster) -> bool:
    if cluster.engine.name in AI_CPU_ENGINES and other.engine.independent:
        return False
    if cluster.engine.name == other.engine.name or cluster.engine.attach:
        return True
    return other.reused is not None and other.reused.engine.name == cluster.engine.name


def _reuse(cluster: EngineCluster) -> None:
    """Ride on a neighbour that has a stream by now (step 3)."""
    best: EngineCluster | None = None
    for neighbours in (cluster.predecessors, cluster.successors):
        candidates = [each for each in neighbours if _could_reuse(cluster, each)]
        best = min(candidates, key=lambda each: each.engine.cost, default=None)
        if best is not None:
            break
    if best is None:
        return
    if best.reused is not None:
        best = best.reused
    if best.stream != NO_STREAM:
        cluster.stream = best.stream
        cluster.reused = best
