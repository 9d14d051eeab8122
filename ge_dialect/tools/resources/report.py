"""The resources of a model as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ge_dialect.tools.resources.model import ANY, Ids, Resources, Usage

SHOWN = 16
"""Streams of a part that the text lists one by one; JSON has all."""


def to_json(found: Resources) -> str:
    """One line."""
    return json.dumps(
        {
            "device": found.device,
            "fits": found.fits,
            "resources": [
                {
                    "resource": row.resource,
                    "needed": row.needed,
                    "limit": "any" if row.limit == ANY else row.limit,
                    "fits": row.fits,
                }
                for row in found.rows
            ],
            "parts": [_part(part) for part in found.parts],
        }
    )


def _part(part: Usage) -> dict[str, Any]:
    ids = _ids_of(part)
    return {
        "name": part.name,
        "kind": part.kind,
        **{name: each.declared for name, each in ids.items()},
        "unused": {name: each.unused for name, each in ids.items() if name != "streams"},
        "streams_without_tasks": part.idle_streams,
        "huge_streams": list(part.huge_streams),
        "tasks": None
        if part.tasks is None
        else {str(stream): part.tasks[stream] for stream in sorted(part.tasks)},
        "memory": part.memory,
    }


def _ids_of(part: Usage) -> dict[str, Ids]:
    return {
        "streams": part.streams,
        "events": part.events,
        "notifies": part.notifies,
        "labels": part.labels,
    }


def to_text(found: Resources) -> str:
    """A table of needs and limits, a paragraph a part, and the verdict last."""
    lines = [f"resources on device {found.device}"]
    rows = [("resource", "needed", "limit", "")]
    for row in found.rows:
        verdict = {True: "ok", False: "EXCEEDED", None: "not known"}[row.fits]
        rows.append((row.resource, _count(row.needed), _limit(row.limit), verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines += [
        f"  {name:<{widths[0]}}  {needed:>{widths[1]}}  {limit:>{widths[2]}}  {verdict}".rstrip()
        for name, needed, limit, verdict in rows
    ]
    for part in found.parts:
        lines += _paragraph(part)
    if found.exceeded:
        names = ", ".join(row.resource for row in found.exceeded)
        lines.append(f"exceeds device {found.device}: {names}")
    else:
        open_ = [row.resource for row in found.unknown]
        known = f" (not known: {', '.join(open_)})" if open_ else ""
        lines.append(f"fits device {found.device}{known}")
    return "\n".join(lines)


def _count(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _limit(value: int | None) -> str:
    return "any" if value == ANY else _count(value)


def _paragraph(part: Usage) -> list[str]:
    lines = [f"{part.kind} @{part.name}"]
    if part.tasks is None:
        lines.append("  tasks are issued, and memory is taken, at run time")
    else:
        streams = sorted(part.tasks)
        for stream in streams[:SHOWN]:
            huge = ", huge" if stream in part.huge_streams else ""
            lines.append(f"  stream {stream}: {part.tasks[stream]:,} tasks{huge}")
        if len(streams) > SHOWN:
            rest = sum(part.tasks[stream] for stream in streams[SHOWN:])
            lines.append(f"  {len(streams) - SHOWN} more streams: {rest:,} tasks")
        if idle := part.idle_streams:
            lines.append(f"  streams without tasks: {ranges_text(idle)}")
    for name, ids in _ids_of(part).items():
        if name != "streams" and ids.declared:
            unused = f", unused: {ranges_text(ids.unused)}" if ids.unused else ""
            lines.append(f"  {name}: {ids.declared:,}{unused}")
    if part.memory is not None:
        sizes = ", ".join(f"{space} {size:,}" for space, size in part.memory.items())
        lines.append(f"  memory bytes: {sizes or 0}")
    elif part.tasks is not None:
        lines.append("  memory is not planned")
    return lines


def ranges_text(numbers: Sequence[int]) -> str:
    """`0, 2 to 5, 9` of ascending numbers."""
    if not numbers:
        return ""
    cuts = [0, *(i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b != a + 1), len(numbers)]
    parts: list[str] = []
    for low, high in pairwise(cuts):
        first, last = numbers[low], numbers[high - 1]
        parts.append(str(first) if low + 1 == high else f"{first} to {last}")
    return ", ".join(parts)
