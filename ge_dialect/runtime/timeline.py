"""A step as a Chrome trace: one process a device, one track a stream, simulated microseconds.

The file opens in chrome://tracing and in Perfetto.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ge_dialect.runtime.device import Interval


def chrome_trace(ranks: Sequence[Sequence[Interval]]) -> dict[str, Any]:
    """The trace of the intervals of each rank, as `DeviceOptions.record_timeline` has them recorded."""
    events: list[dict[str, Any]] = []
    for rank, intervals in enumerate(ranks):
        events.append(_named("process_name", rank, None, f"rank {rank}"))
        for stream in sorted({interval.instruction.stream for interval in intervals}):
            events.append(_named("thread_name", rank, stream, f"stream {stream}"))
        events += [_complete(rank, interval) for interval in intervals]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def chrome_trace_json(ranks: Sequence[Sequence[Interval]]) -> str:
    """`chrome_trace` as text."""
    return json.dumps(chrome_trace(ranks))


def _named(what: str, rank: int, stream: int | None, name: str) -> dict[str, Any]:
    track: Mapping[str, int] = {} if stream is None else {"tid": stream}
    return {"ph": "M", "name": what, "pid": rank, **track, "args": {"name": name}}


def _complete(rank: int, interval: Interval) -> dict[str, Any]:
    task = interval.instruction
    return {
        "ph": "X",
        "name": task.name or task.type or task.kind.op,
        "cat": task.kind.op,
        "pid": rank,
        "tid": task.stream,
        "ts": interval.start,
        "dur": interval.end - interval.start,
        "args": {"task": task.index, "type": task.type},
    }
