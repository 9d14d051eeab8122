"""A memory map as a page that can be looked into: one HTML file that refers to nothing else and draws on a canvas."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ge_dialect.tools.memory_map.model import MemoryMap, Role
from ge_dialect.tools.memory_map.svg import COLOURS, SHADES, axis_of, peak_of, summary_of, title_of


def html_text(shown: Sequence[MemoryMap]) -> str:
    """A page with all maps, one at a time. Size: some 70 bytes a buffer."""
    title = title_of(shown[0]) if len(shown) == 1 else f"{len(shown)} memory maps"
    data = {
        "colours": {role.value: pair for role, pair in COLOURS.items()},
        "shades": SHADES,
        "maps": [_data(each) for each in shown],
    }
    # A name must not end the script that holds it.
    script = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    page = (files("ge_dialect.tools.memory_map") / "page.html").read_text(encoding="utf-8")
    values = {"@TITLE@": escape(title), "@DATA@": script}
    # In one go, since a title may say @DATA@.
    return re.sub("@TITLE@|@DATA@", lambda found: values[found[0]], page)


def _data(shown: MemoryMap) -> dict[str, Any]:
    types = {each: index for index, each in enumerate(dict.fromkeys(b.type for b in shown.buffers))}
    roles = {role: index for index, role in enumerate(Role)}
    first, last = shown.span
    places = {id(buffer): index for index, buffer in enumerate(shown.buffers)}
    return {
        "title": title_of(shown),
        "summary": summary_of(shown),
        "axis": axis_of(shown),
        "names": [b.name for b in shown.buffers],
        "types": list(types),
        "roles": [role.value for role in Role],
        "boxes": [
            [b.start, b.end, b.offset, b.size, types[b.type], roles[b.role]] for b in shown.buffers
        ],
        "live": shown.live(),
        "busiest": shown.busiest(),
        "tight": [places[id(buffer)] for buffer in shown.at_peak()],
        "peakText": peak_of(shown),
        "span": [first, last],
        "height": shown.height,
        "peak": shown.peak,
        "bound": shown.bound,
        "boundKind": shown.bound_kind,
    }
