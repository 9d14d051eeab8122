"""What a device has room for: the table `[limits]` of a device profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """How many of each there are; None where the profile gives no answer.

    `streams`, `huge_streams`: streams of a model, by kind. `tasks_per_stream`, `tasks_per_huge_stream`: entries of a
    stream's queue. `unlimited_depth`: streams take any number of tasks. `events`, `notifies`, `labels`: ids.
    `memory_bytes`: device memory.
    """

    streams: int | None = None
    huge_streams: int | None = None
    tasks_per_stream: int | None = None
    tasks_per_huge_stream: int | None = None
    unlimited_depth: bool | None = None
    events: int | None = None
    notifies: int | None = None
    labels: int | None = None
    memory_bytes: int | None = None


NO_LIMITS = DeviceLimits()
"""Of a profile that states none."""

_GREATEST = 1 << 62


def limits_of(table: Any) -> DeviceLimits:
    """The limits of a profile's table. Raises ValueError for anything but known keys with numbers >= 0."""
    if not isinstance(table, dict):
        raise ValueError("[limits] should be a table")
    known = [field.name for field in fields(DeviceLimits)]
    values: dict[str, Any] = {}
    for key, value in cast("Mapping[str, Any]", table).items():
        if key not in known:
            raise ValueError(f"[limits] has an unknown key '{key}' (known: {', '.join(known)})")
        if key == "unlimited_depth":
            if not isinstance(value, bool):
                raise ValueError(f"limits.{key} should be true or false, got {value!r}")
        elif isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _GREATEST:
            raise ValueError(f"limits.{key} should be a whole number >= 0, got {value!r}")
        values[key] = value
    return DeviceLimits(**values)
