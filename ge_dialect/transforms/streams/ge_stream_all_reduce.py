"""Pass `ge-stream-all-reduce`: what follows an all-reduce leaves the stream of what goes on beside it."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.streams.nodes import (
    LABEL,
    NO_STREAM,
    USER_LABEL,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    set_stream,
    stream_of,
    text_attr,
)
from ge_dialect.dialects.ge.access import ge_attr, ge_type
from ge_dialect.transforms.streams.stream_pass import StreamPass

ALL_REDUCE_TYPES = frozenset({"HcomAllReduce", "HorovodAllreduce"})
FUSION = "fusion"


@dataclass(frozen=True)
class GeStreamAllReduce(StreamPass):
    """GE's `AllReduceParallelPass`: all data successors of fused all-reduces move to new streams.

    Expects `ge.stream` on nodes (ge-stream-node-update). Starts at HcomAllReduce and HorovodAllreduce nodes with
    `fusion` > 0 and without `_user_stream_label`. A successor is followed when it has the same `_stream_label`, or none
    where the all-reduce has one. Each stream of the nodes so found has a new one at first sight, in order of the graph;
    the all-reduces themselves stay (spec/streams.md section 2.8). Guarantees afterwards: what follows a fused
    all-reduce holds up none of the nodes that do not.

    Options:
    * `hcom-parallel`: do it at all (GE's `ge.hcomParallel`).

    Before and after:

        %c = ge.op "HcomAllReduce" (%g) attrs {fusion = 1} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
        %u = ge.op "ApplyMomentum" (%c) {ge.name = "u", ge.stream = 1 : i64} : tensor<2xf32>

        %c = ge.op "HcomAllReduce" (%g) attrs {fusion = 1} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
        %u = ge.op "ApplyMomentum" (%c) {ge.name = "u", ge.stream = 2 : i64} : tensor<2xf32>
    """

    name = "ge-stream-all-reduce"

    hcom_parallel: bool = False

    def assign(self, model: StreamModel) -> bool:
        if not self.hcom_parallel:
            return False
        changed = [_update(view) for view in model.graphs]
        return any(changed)


def _starts(view: GraphNodes) -> list[int]:
    found: list[int] = []
    for index, op in enumerate(view.nodes):
        if ge_type(op) in ALL_REDUCE_TYPES and not has_ge_attr(op, USER_LABEL):
            fusion = ge_attr(op, FUSION, -1)
            if isinstance(fusion, int) and fusion > 0:
                found.append(index)
    return found


def _update(view: GraphNodes) -> bool:
    starts = _starts(view)
    if not starts:
        return False
    taken = _reached(view, starts)
    new: dict[int, int] = {}
    for index in taken:
        op = view.nodes[index]
        stream = stream_of(op)
        if stream == NO_STREAM:
            continue
        if stream not in new:
            new[stream] = view.new_stream()
        if ge_type(op) not in ALL_REDUCE_TYPES:
            set_stream(op, new[stream])
    return bool(taken)


def _reached(view: GraphNodes, starts: list[int]) -> list[int]:
    """The data successors, near and far, that are followed from any of the all-reduces, ascending."""
    readers: list[list[int]] = [[] for _ in view.nodes]
    for index in range(len(view.nodes)):
        for source in view.data_sources(index):
            readers[source].append(index)
    labels = [text_attr(op, LABEL) for op in view.nodes]
    by_label: dict[str, list[int]] = {}
    for index in starts:
        by_label.setdefault(labels[index], []).append(index)
    taken: set[int] = set()
    for label, same in by_label.items():
        # One walk a label: what is reached from one all-reduce is followed in the same way from another.
        stack, seen = list(same), set[int]()
        while stack:
            for reader in readers[stack.pop()]:
                if reader not in seen and labels[reader] in (label, ""):
                    seen.add(reader)
                    stack.append(reader)
        taken |= seen
    return sorted(taken)
