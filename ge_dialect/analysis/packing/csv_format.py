"""Packing problems and plans as CSV, in the form of MiniMalloc's benchmark files.

A line a buffer: `id,lower,upper,size`, in use over [lower, upper), size in bytes; columns in any order. Two more are
read where they exist: `alignment`, and `fixed`, an address that is not to be chosen (empty: free). All others are
copied. A plan is the same with a column `offset` at the end.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

from ge_dialect.analysis.packing.conflicts import IntervalConflicts, PackingError
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.problem import Problem

REQUIRED = ("id", "lower", "upper", "size")
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Table:
    """A file: its columns and rows as text, and what they mean."""

    columns: list[str]
    rows: list[list[str]]
    ids: list[str]
    lower: list[int]
    upper: list[int]
    sizes: list[int]
    alignments: list[int]
    fixed: dict[int, int]

    def problem(self) -> Problem:
        """The packing problem. Raises PackingError when the rows contradict each other."""
        return Problem(
            self.sizes,
            IntervalConflicts(self.lower, self.upper),
            alignments=self.alignments if self.sizes else 1,
            fixed=self.fixed,
        )


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
        table = Table(columns, [], [], [], [], [], [], {})
        for row in lines:
            if row:
                _add(table, row, f"{file}:{lines.line_num}")
    except csv.Error as error:
        raise PackingError(str(error), f"{file}:{lines.line_num}") from error
    return table


def _add(table: Table, row: list[str], place: str) -> None:
    if len(row) != len(table.columns):
        raise PackingError(f"{len(row)} fields in {len(table.columns)} columns", place)
    field = dict(zip(table.columns, row, strict=True))

    def number(name: str) -> int:
        try:
            value = int(field[name])
        except ValueError:
            raise PackingError(f"{name} '{field[name]}' is not a whole number", place) from None
        if not -_LARGEST < value < _LARGEST:
            raise PackingError(f"{name} {value} is out of range", place)
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
        table.fixed[len(table.rows)] = number("fixed")
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
