"""The picture of a memory plan: time across, addresses up, a rectangle a buffer, the peak and the lower bound.

`.html`: one file without references to anything, drawn by its own script, with names under the pointer; `.svg`: the
same as a still; `.csv`: the buffers in the form that `ge-plan` and other planners read, with offsets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath

from ge_dialect.analysis.liveness import liveness
from ge_dialect.analysis.memory_check import place_of
from ge_dialect.analysis.packing.csv_format import csv_text
from ge_dialect.dialects.ge.access import get_int, get_ints, node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.memory_map_page import PAGE
from ge_dialect.tools.output import whole_file

_WIDTH, _HEIGHT, _LEFT, _TOP = 1200, 640, 80, 40


@dataclass(frozen=True, slots=True)
class MapBuffer:
    """`size` bytes from `offset` on, in use over [start, end)."""

    name: str
    start: int
    end: int
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Buffers, the bytes that the plan takes, and the bytes that every plan takes, with the reason (0: not known)."""

    title: str
    buffers: Sequence[MapBuffer]
    peak: int
    bound: int
    bound_kind: str


def map_of_graph(graph: GraphOp, space: str = "hbm") -> MemoryMap:
    """What lies in one memory space of a planned graph; time is the position of nodes in the block.

    Raises GeError when the graph has no plan.
    """
    found = liveness(graph)
    buffers: list[MapBuffer] = []
    for memory in found.memory:
        value = memory.values[0]
        place = place_of(value.op, value.index)
        if place is not None and place[0] == space and memory.bytes:
            name = f"{node_name(value.op)}:{value.index}"
            buffers.append(MapBuffer(name, memory.start, memory.end + 1, memory.bytes, place[1]))
    for scratch in found.workspaces:
        offsets = get_ints(scratch.op, "ge.workspace_offsets") or ()
        if space == "hbm" and scratch.index < len(offsets):
            name = f"{node_name(scratch.op)} workspace {scratch.index}"
            offset = offsets[scratch.index]
            buffers.append(MapBuffer(name, scratch.at, scratch.at + 1, scratch.bytes, offset))
    if not buffers and found.memory:
        raise GeError(f'graph "{graph.sym_name.data}" has no memory plan for {space}')
    peak = max((buffer.offset + buffer.size for buffer in buffers), default=0)
    bound = get_int(graph, "ge.lower_bound_bytes", 0) or 0
    return MemoryMap(graph.sym_name.data, buffers, peak, bound, "feature map")


def map_renderer(path: str) -> Callable[[MemoryMap], str]:
    """What draws a map for a file name, `.html`, `.svg` or `.csv`. Raises GeError for other names."""
    suffix = PurePath(path).suffix.lower()
    renderers = {".html": html_text, ".svg": svg_text, ".csv": map_csv_text}
    if suffix not in renderers:
        raise GeError(f"a memory map is written as .html, .svg or .csv, not '{suffix}'", path)
    return renderers[suffix]


def write_memory_map(path: str, memory_map: MemoryMap) -> None:
    """Write `.html`, `.svg` or `.csv`. Raises GeError for other names, OSError where it cannot be written."""
    text = map_renderer(path)(memory_map)
    with whole_file(path) as stream:
        stream.write(text)


def map_csv_text(memory_map: MemoryMap) -> str:
    """`id,lower,upper,size,offset`, a line a buffer."""
    rows = ((b.name, b.start, b.end, b.size, b.offset) for b in memory_map.buffers)
    return csv_text(["id", "lower", "upper", "size", "offset"], rows)


def html_text(memory_map: MemoryMap) -> str:
    """A page that draws on a canvas: quick with tens of thousands of buffers."""
    data = {
        "names": [b.name for b in memory_map.buffers],
        "boxes": [[b.start, b.end, b.offset, b.size] for b in memory_map.buffers],
        "peak": memory_map.peak,
        "bound": memory_map.bound,
        "boundKind": memory_map.bound_kind,
    }
    # A name must not end the script that holds it.
    script = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return PAGE.replace("@TITLE@", escape(memory_map.title)).replace("@DATA@", script)


def svg_text(memory_map: MemoryMap) -> str:
    """A still picture; names are tool tips."""
    buffers = memory_map.buffers
    first = min((b.start for b in buffers), default=0)
    span = max(max((b.end for b in buffers), default=1) - first, 1)
    top = max(memory_map.peak, memory_map.bound, 1)
    across, up = (_WIDTH - _LEFT - 20) / span, (_HEIGHT - _TOP - 40) / top
    ground = _HEIGHT - 40

    def line(height: int, colour: str, text: str) -> str:
        y = ground - height * up
        return (
            f'<path d="M{_LEFT} {y:.2f}H{_WIDTH - 20}" stroke="{colour}" stroke-dasharray="6 3"/>'
            f'<text x="{_LEFT - 4}" y="{y + 4:.2f}" text-anchor="end" fill="{colour}">{text}</text>'
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<text x="{_LEFT}" y="20" font-size="14">{escape(memory_map.title)}: '
        f"{len(buffers)} buffers, peak {memory_map.peak} bytes</text>",
    ]
    for index, b in enumerate(buffers):
        parts.append(
            f'<rect x="{_LEFT + (b.start - first) * across:.2f}" '
            f'y="{ground - (b.offset + b.size) * up:.2f}" '
            f'width="{max((b.end - b.start) * across, 0.2):.2f}" height="{b.size * up:.2f}" '
            f'fill="hsl({index * 137 % 360} 55% 68%)" stroke="#444" stroke-width=".3">'
            f"<title>{escape(b.name)}: {b.size} bytes at {b.offset}, [{b.start}, {b.end})</title></rect>"
        )
    parts.append(f'<path d="M{_LEFT} {_TOP}V{ground}H{_WIDTH - 20}" fill="none" stroke="#000"/>')
    parts.append(line(memory_map.peak, "#b00020", f"peak {memory_map.peak}"))
    if 0 < memory_map.bound < memory_map.peak:
        parts.append(line(memory_map.bound, "#00509e", f"bound {memory_map.bound}"))
    return "\n".join([*parts, "</svg>", ""])
