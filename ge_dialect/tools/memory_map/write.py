"""Memory maps as files: `.html`, `.svg` or `.csv`, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from ge_dialect.analysis.packing.csv_format import csv_text
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.memory_map.model import MemoryMap
from ge_dialect.tools.memory_map.page import html_text
from ge_dialect.tools.memory_map.svg import svg_text
from ge_dialect.tools.output import whole_file

SUFFIXES = (".html", ".svg", ".csv")


def check_name(path: str) -> None:
    """Raises GeError for a name that does not say how the map is to be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise GeError(f"a memory map is written as .html, .svg or .csv, not '{suffix}'", path)


def map_csv_text(shown: MemoryMap) -> str:
    """`id,lower,upper,size,offset`, a line a buffer: what `ge-plan` and other planners read.

    Names that occur twice get a number. What the plan puts into the same bytes at the same time by intent (a model
    output that begins on its operand) stays as it is.
    """
    ids = _distinct(buffer.name for buffer in shown.buffers)
    rows = (
        (name, b.start, b.end, b.size, b.offset) for name, b in zip(ids, shown.buffers, strict=True)
    )
    return csv_text(["id", "lower", "upper", "size", "offset"], rows)


def _distinct(names: Iterable[str]) -> list[str]:
    seen: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        seen[name] = number = seen.get(name, 0) + 1
        found.append(name if number == 1 else f"{name} #{number}")
    return found


def write_memory_maps(path: str, shown: Sequence[MemoryMap]) -> list[str]:
    """Write the maps; the files that were written.

    A page holds all of them. A picture and a table hold one: with several, each goes to a file of its own, with the
    graph's and the space's name in front of the suffix. Raises GeError for a name without a known suffix and when there
    is nothing to write, OSError where a file cannot be written; then no file is changed.
    """
    check_name(path)
    if not shown:
        raise GeError("there is no memory plan to draw: run ge-plan-memory", path)
    if path.lower().endswith(".html"):
        texts = {path: html_text(shown)}
    else:
        render: Callable[[MemoryMap], str] = (
            svg_text if path.lower().endswith(".svg") else map_csv_text
        )
        texts = dict(zip(_paths(path, shown), map(render, shown), strict=True))
    with ExitStack() as files:
        streams = [files.enter_context(whole_file(name)) for name in texts]
        for stream, text in zip(streams, texts.values(), strict=True):
            stream.write(text)
    return list(texts)


def _paths(path: str, shown: Sequence[MemoryMap]) -> list[str]:
    if len(shown) == 1:
        return [path]
    place = Path(path)
    names = _distinct(f"{_plain(each.title)}.{each.space}" for each in shown)
    return [str(place.with_name(f"{place.stem}.{name}{place.suffix}")) for name in names]


def _plain(name: str) -> str:
    """A graph's name as part of a file's: what is no letter, digit, `-` or `_` becomes `_`."""
    return "".join(each if each.isalnum() or each in "-_" else "_" for each in name)[:80]
