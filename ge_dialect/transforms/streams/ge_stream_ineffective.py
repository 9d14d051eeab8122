"""Pass `ge-stream-ineffective`: nodes come back from streams of their own on which they gain nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.analysis.streams.nodes import (
    LABEL,
    NO_STREAM,
    USER_LABEL,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    set_stream,
)
from ge_dialect.transforms.streams.stream_pass import StreamPass

KEPT_APART = (LABEL, USER_LABEL, "NewStreamId", "_parallel_group")


@dataclass(frozen=True)
class GeStreamIneffective(StreamPass):
    """GE's `OptimizeIneffectiveMultiStreamPass`: a node between two neighbours on another stream moves to it.

    Expects `ge.stream` on nodes (ge-stream-node-update and what moves them). A node moves to stream t when none of its
    neighbours shares its stream, t has no labelled node, and on t the last node that it waits for and the first that
    waits for it stand next to each other: t would be idle meanwhile. Among several such streams the last counts.
    Labelled nodes and those of MDE or parallel groups stay (spec/streams.md section 2.10). Looked at in order of the
    graph, each node seeing the moves before it. Guarantees afterwards: no stream has got a node between two others that
    could not run beside it.

    Before and after, for a collective that everything waits for:

        %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
        %h = ge.op "HcomAllReduce" (%a) {ge.name = "h", ge.stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Relu" (%h) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>

        %h = ge.op "HcomAllReduce" (%a) {ge.name = "h", ge.stream = 1 : i64} : tensor<2xf32>
    """

    name = "ge-stream-ineffective"

    def assign(self, model: StreamModel) -> bool:
        changed = [_optimize(view, self.name) for view in model.graphs]
        return any(changed)


def _optimize(view: GraphNodes, pass_name: str) -> bool:
    streams = view.streams()
    if len(set(streams) - {NO_STREAM}) < 2:
        return False
    labelled = {
        stream
        for op, stream in zip(view.nodes, streams, strict=True)
        if has_ge_attr(op, LABEL) or has_ge_attr(op, USER_LABEL)
    }
    queues = _Queues(streams)
    changed = False
    for index, op in enumerate(view.nodes):
        stream = streams[index]
        if stream != NO_STREAM and not any(has_ge_attr(op, name) for name in KEPT_APART):
            new = _better(view, index, streams, labelled, queues)
            if new is not None:
                streams[index] = new
                set_stream(op, new)
                emit_remark(
                    op, pass_name, "passed", f"moved from stream {stream} to {new}", stream=new
                )
                changed = True
        queues.passed(index, streams[index])
    return changed


class _Queues:
    """Of each stream the last node before the one that is looked at, and the first behind it.

    What stands behind has not been moved yet, so each stream is a list with a place in it.
    """

    def __init__(self, streams: Iterable[int]) -> None:
        self._ids: dict[int, list[int]] = {}
        for index, stream in enumerate(streams):
            self._ids.setdefault(stream, []).append(index)
        self._at = dict.fromkeys(self._ids, 0)
        self._last: dict[int, int] = {}

    def last_before(self, stream: int) -> int | None:
        return self._last.get(stream)

    def first_behind(self, stream: int, index: int) -> int | None:
        ids, at = self._ids[stream], self._at[stream]
        while at < len(ids) and ids[at] <= index:
            at += 1
        self._at[stream] = at
        return ids[at] if at < len(ids) else None

    def passed(self, index: int, stream: int) -> None:
        self._last[stream] = index


def _better(
    view: GraphNodes, index: int, streams: list[int], labelled: set[int], queues: _Queues
) -> int | None:
    last_in: dict[int, int] = {}
    for source in view.sources[index]:
        stream = streams[source]
        last_in[stream] = max(last_in.get(stream, -1), source)
    first_out: dict[int, int] = {}
    for reader in view.readers[index]:
        stream = streams[reader]
        first_out[stream] = min(first_out.get(stream, len(streams)), reader)
    own = streams[index]
    if own in last_in or own in first_out:
        return None
    for stream in sorted(last_in.keys() & first_out.keys(), reverse=True):
        if (
            stream != NO_STREAM
            and stream not in labelled
            and queues.last_before(stream) == last_in[stream]
            and queues.first_behind(stream, index) == first_out[stream]
        ):
            return stream
    return None
