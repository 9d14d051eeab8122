"""A step as a Chrome trace: one process a device, one track a stream (and one for the host), simulated microseconds.

Arrows lead from a record to the wait that it satisfies, and from what the host issues to where a stream does it. The
file opens in chrome://tracing and in Perfetto.
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


@dataclass(frozen=True, slots=True)
class Flow:
    """An arrow: `target` could not begin before `source`. `kind`: "event", "notify", "word", "launch", "copy"."""

    kind: str
    source: Interval
    target: Interval


def chrome_trace(
    ranks: Sequence[Sequence[Interval]], flows: Sequence[Sequence[Flow]] = ()
) -> dict[str, Any]:
    """The trace of the intervals and arrows of each rank, as `DeviceOptions.record_timeline` has them recorded."""
    number = 0
    events: list[dict[str, Any]] = []
    for rank, intervals in enumerate(ranks):
        events.append(
            {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}
        )
        names = sorted({interval.track for interval in intervals}, key=_by_number)
        tracks = {name: place for place, name in enumerate(names)}
        for name, place in tracks.items():
            events.append(
                {
                    "ph": "M",
                    "name": "thread_name",
                    "pid": rank,
                    "tid": place,
                    "args": {"name": name},
                }
            )
        events += [_complete(rank, tracks[interval.track], interval) for interval in intervals]
        for flow in flows[rank] if rank < len(flows) else ():
            events += _arrow(rank, tracks, number, flow)
            number += 1
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def chrome_trace_json(
    ranks: Sequence[Sequence[Interval]], flows: Sequence[Sequence[Flow]] = ()
) -> str:
    """`chrome_trace` as text."""
    return json.dumps(chrome_trace(ranks, flows))


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


def _arrow(rank: int, tracks: dict[str, int], number: int, flow: Flow) -> list[dict[str, Any]]:
    """The two ends of an arrow; each belongs to the interval that is on the track at that time."""
    common = {"name": flow.kind, "cat": "flow", "id": number, "pid": rank}
    source, target = flow.source, flow.target
    return [
        {
            **common,
            "ph": "s",
            "tid": tracks[source.track],
            "ts": (source.start + source.end) / 2,
        },
        {**common, "ph": "f", "bp": "e", "tid": tracks[target.track], "ts": target.start},
    ]
