"""Packing problems and plans as CSV, in the form of MiniMalloc's benchmark files.

A line a buffer: `id,lower,upper,size`, in use over [lower, upper), size in bytes; columns in any order. Two more are
read where they exist: `alignment`, and `fixed`, an address that is not to be chosen (empty: free). All others are
copied. A plan is the same with a column `offset` at the end.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

from ge_dialect.analysis.packing.conflicts import IntervalConflicts, PackingError
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.problem import OverlapError, Problem

REQUIRED = ("id", "lower", "upper", "size")
_KNOWN = (*REQUIRED, "alignment", "fixed")
_LARGEST = 1 << 62
"""Numbers stay below it, and so do the bytes of all buffers together, so that no sum of two leaves 64 bits."""
_WHOLE = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Table:
    """A file: its columns and rows as text, what they mean, and the number of each row's line."""

    columns: list[str]
    rows: list[list[str]]
    ids: list[str]
    lower: list[int]
    upper: list[int]
    sizes: list[int]
    alignments: list[int]
    fixed: dict[int, int]
    file: str
    lines: list[int]

    def problem(self) -> Problem:
        """The packing problem. Raises PackingError when the rows contradict each other or are too large together."""
        # At worst every buffer lies behind all others, each moved up by its alignment.
        most = sum(self.sizes) + sum(self.alignments) + max(self.fixed.values(), default=0)
        if most >= _LARGEST:
            raise PackingError(f"the buffers have {most} bytes together, 2^62 or more", self.file)
        try:
            return Problem(
                self.sizes,
                IntervalConflicts(self.lower, self.upper),
                alignments=self.alignments if self.sizes else 1,
                fixed=self.fixed,
            )
        except OverlapError as error:
            first, second = sorted(error.buffers)
            raise PackingError(
                f'"{self.ids[second]}" at {self.fixed[second]} overlaps "{self.ids[first]}" of line '
                f"{self.lines[first]} at {self.fixed[first]} while both are in use",
                f"{self.file}:{self.lines[second]}",
            ) from error


def read_table(text: str, file: str) -> Table:
    """Read CSV text. Raises PackingError with `file:line` for what is no problem in this form."""
    lines = csv.reader(StringIO(text.removeprefix("\ufeff")), strict=True)
    try:
        columns = [name.strip() for name in next(lines, list[str]())]
        missing = [name for name in REQUIRED if name not in columns]
        if missing:
            wanted = ",".join(REQUIRED)
            raise PackingError(
                f"no column {missing[0]}: the first line should be {wanted}", f"{file}:1"
            )
        twice = next((name for name in _KNOWN if columns.count(name) > 1), None)
        if twice is not None:
            raise PackingError(f"two columns are called {twice}", f"{file}:1")
        table = Table(columns, [], [], [], [], [], [], {}, file, [])
        for row in lines:
            if row:
                _add(table, row, lines.line_num)
    except csv.Error as error:
        raise PackingError(str(error), f"{file}:{lines.line_num}") from error
    return table


def _add(table: Table, row: list[str], line: int) -> None:
    place = f"{table.file}:{line}"
    if len(row) != len(table.columns):
        raise PackingError(f"{len(row)} fields in {len(table.columns)} columns", place)
    field = dict(zip(table.columns, row, strict=True))

    def number(name: str) -> int:
        text = field[name].strip()
        if not _WHOLE.fullmatch(text):
            raise PackingError(f"{name} '{field[name]}' is not a whole number", place)
        value = int(text) if len(text) < 30 else _LARGEST
        if not -_LARGEST < value < _LARGEST:
            raise PackingError(f"{name} {text} is out of range", place)
        return value

    lower, upper, size = number("lower"), number("upper"), number("size")
    if upper < lower:
        raise PackingError(f"upper {upper} is before lower {lower}", place)
    if size < 0:
        raise PackingError(f"size {size} is negative", place)
    alignment = number("alignment") if field.get("alignment", "").strip() else 1
    if alignment < 1:
        raise PackingError(f"alignment {alignment} is not positive", place)
    if field.get("fixed", "").strip():
        fixed = number("fixed")
        if fixed < 0:
            raise PackingError(f"the fixed address {fixed} is negative", place)
        if fixed % alignment:
            raise PackingError(f"the fixed address {fixed} is no multiple of {alignment}", place)
        table.fixed[len(table.rows)] = fixed
    table.lines.append(line)
    table.rows.append(row)
    table.ids.append(field["id"])
    table.lower.append(lower)
    table.upper.append(upper)
    table.sizes.append(size)
    table.alignments.append(alignment)


def plan_text(table: Table, offsets: Ints) -> str:
    """The table with a column `offset`; an older one is dropped."""
    kept = [at for at, name in enumerate(table.columns) if name != "offset"]
    rows = (
        [*(row[at] for at in kept), str(offset)]
        for row, offset in zip(table.rows, offsets.tolist(), strict=True)
    )
    return csv_text([*(table.columns[at] for at in kept), "offset"], rows)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV with line feeds."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return stream.getvalue()
