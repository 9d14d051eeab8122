"""A step as a Chrome trace: one process a device, one track a stream (and one for the host), simulated microseconds.

The file opens in chrome://tracing and in Perfetto.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Interval:
    """When a task or step ran on the simulated clock, in microseconds.

    `track` is where ("stream 0", "host"), `kind` and `type` what, `index` its position in the program.
    """

    track: str
    name: str
    kind: str
    type: str
    index: int
    start: float
    end: float


def chrome_trace(ranks: Sequence[Sequence[Interval]]) -> dict[str, Any]:
    """The trace of the intervals of each rank, as `DeviceOptions.record_timeline` has them recorded."""
    events: list[dict[str, Any]] = []
    for rank, intervals in enumerate(ranks):
        events.append(
            {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
        )
        names = sorted({interval.track for interval in intervals}, key=_by_number)
        tracks = {name: number for number, name in enumerate(names)}
        for name, number in tracks.items():
            events.append(
                {
                    "ph": "M",
                    "name": "thread_name",
                    "pid": rank,
                    "tid": number,
                    "args": {"name": name},
                }
            )
        events += [_complete(rank, tracks[interval.track], interval) for interval in intervals]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def chrome_trace_json(ranks: Sequence[Sequence[Interval]]) -> str:
    """`chrome_trace` as text."""
    return json.dumps(chrome_trace(ranks))


def _by_number(track: str) -> tuple[str, int]:
    name, _, number = track.partition(" ")
    return name, int(number or 0)


def _complete(rank: int, track: int, interval: Interval) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": interval.name,
        "cat": interval.kind,
        "pid": rank,
        "tid": track,
        "ts": interval.start,
        "dur": interval.end - interval.start,
        "args": {"index": interval.index, "type": interval.type},
    }
