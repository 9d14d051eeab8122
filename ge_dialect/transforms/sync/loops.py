"""The end of an iteration loop starts the streams of the next round: spec/streams.md section 9.4."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from ge_dialect.analysis.neighbours import control_in_nodes
from ge_dialect.dialects.ge.access import ge_type
from ge_dialect.transforms.sync.activation import set_active_streams
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import (
    ACTIVE_LABELS,
    LOOP_ACTIVE,
    SyncModel,
    is_set,
    stream_of,
    texts,
)


def _loop_end(model: SyncModel) -> Operation | None:
    """The first node that ends the iteration loop and has no labels to start."""
    for op in model.nodes:
        if is_set(op, LOOP_ACTIVE) and not texts(op, ACTIVE_LABELS):
            return op
    return None


def _switch_before(op: Operation) -> Operation | None:
    """The StreamSwitch one or two control edges before the node."""
    near = list(control_in_nodes(op))
    for source in near:
        if ge_type(source) == "StreamSwitch":
            return source
    for source in near:
        for further in control_in_nodes(source):
            if ge_type(further) == "StreamSwitch":
                return further
    return None


def activate_loop(
    model: SyncModel,
    specific: set[int],
    streams: int,
    events: Events,
    wanted: Callable[[int], bool] = lambda stream: True,
) -> Operation | None:
    """Let the end of the loop start every stream that nothing else starts, and the loop's switch wait for the last node
    of each (`wanted(stream)` false: no event). Returns the loop's end when it has no switch, to which no event can go.

    `specific` are the streams that other nodes start, `streams` is the number of streams.
    """
    loop_end = _loop_end(model)
    if loop_end is None:
        return None
    loop_streams = [stream for stream in range(streams) if stream not in specific]
    set_active_streams(loop_end, loop_streams)
    last: dict[int, Operation] = {}
    switching: set[int] = set()
    for op in model.nodes:
        stream = stream_of(op)
        last[stream] = op
        if ge_type(op) == "StreamSwitch":
            switching.add(stream)
    switch = _switch_before(loop_end)
    if switch is None:
        return loop_end
    for stream in loop_streams:
        op = last.get(stream)
        if op is None or stream in switching or not wanted(stream):
            continue
        if model.graphs.owners.get(model.graph_of[op]) is None:
            events.add(op, switch)
    return None
