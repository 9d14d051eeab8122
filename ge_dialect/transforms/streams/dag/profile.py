"""Measured times of nodes, as the automatic modes read them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ge_dialect.formats.errors import GeError

COLUMNS = ("name", "time_us", "cube", "vector")


@dataclass(frozen=True, slots=True)
class Measured:
    """One row: microseconds, and the cube and vector cores taken."""

    time: float
    cores: int


def read_profile(path: str) -> dict[str, Measured]:
    """The rows of a CSV file with a header that has the columns name, time_us, cube and vector (the last two may be
    left out), by name. Raises GeError for a file that cannot be read or a row that makes no sense."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = {"name", "time_us"} - set(reader.fieldnames or ())
            if missing:
                raise GeError(f"no column '{min(missing)}' in the profile", path)
            return {row["name"]: _row(row, f"{path}:{reader.line_num}") for row in reader}
    except OSError as error:
        raise GeError(f"cannot read the profile: {error.strerror}", path) from None


def _row(row: Mapping[str, str | None], place: str) -> Measured:
    try:
        cores = int(row.get("cube") or 0) + int(row.get("vector") or 0)
        return Measured(float(row["time_us"] or ""), max(cores, 1))
    except ValueError as error:
        raise GeError(f"not a row of a profile: {error}", place) from None


def measured(profile: Mapping[str, Measured], name: str) -> Measured | None:
    """The row of a node: by its name, else by what follows the last '/'."""
    return profile.get(name) or profile.get(name.rpartition("/")[2])
