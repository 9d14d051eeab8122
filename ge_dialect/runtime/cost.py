"""Simulated time: how long tasks and host steps take on a device that a TOML file describes.

A profile gives each kind of work a fixed part in microseconds and a rate in bytes per microsecond; nothing in it is
measured. Only comparisons of two programs under one profile mean something (spec/tasks.md section 10, E28).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from ge_dialect.formats.errors import GeError

DEVICE_KINDS = ("kernel", "memcpy", "collective", "sync", "control", "marker")
"""Work on the device: kernels, copies, collectives; flags; activations, switches and jumps; brackets, traces, NOP."""

HOST_KINDS = (
    "execute", "launch", "infer_shape", "tiling", "alloc", "free", "host_call", "h2d", "d2h", "stream_sync",
    "record", "wait",
)  # fmt: skip
"""Work of the host: one call for a whole task list, and the steps of a host-scheduled program."""


class ProfileError(GeError):
    """A device profile cannot be read or says something that profiles cannot say."""


@dataclass(frozen=True, slots=True)
class Cost:
    """`fixed_us` microseconds plus one microsecond for every `bytes_per_us` bytes (0: bytes cost nothing)."""

    fixed_us: float = 0.0
    bytes_per_us: float = 0.0

    def of(self, size: int = 0) -> float:
        """Microseconds for `size` bytes."""
        return self.fixed_us + (size / self.bytes_per_us if self.bytes_per_us else 0.0)


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """The costs of a device and its host; kinds that the file does not name cost nothing.

    `operators` holds costs of single operator types, which take the place of `device["kernel"]`.
    """

    name: str
    device: Mapping[str, Cost]
    host: Mapping[str, Cost]
    operators: Mapping[str, Cost]

    def task(self, kind: str, type: str, size: int) -> float:
        """Microseconds of a task of `kind` that reads and writes `size` bytes; `type` is the operator's."""
        cost = self.operators.get(type) if kind == "kernel" else None
        return (cost or self.device[kind]).of(size)


def load_profile(name: str) -> DeviceProfile:
    """The profile called `name`, or the one in the file of that path (anything that ends in `.toml`).

    Raises ProfileError when there is none or it is not well formed.
    """
    if name.endswith(".toml"):
        place, text = name, _read(name)
    else:
        folder = files("ge_dialect.runtime") / "profiles"
        found = folder / f"{name}.toml"
        if not found.is_file():
            known = sorted(
                x.name.removesuffix(".toml") for x in folder.iterdir() if x.name.endswith(".toml")
            )
            raise ProfileError(
                f"no device profile '{name}' (known: {', '.join(known)}, or a path to a .toml file)"
            )
        place, text = f"{name}.toml", found.read_text(encoding="utf-8")
    try:
        return _profile(tomllib.loads(text), Path(place).stem)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise ProfileError(str(error), place) from error


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProfileError("not UTF-8 text", path) from error
    except OSError as error:
        raise ProfileError(error.strerror or str(error), path) from error


def _profile(data: Mapping[str, Any], name: str) -> DeviceProfile:
    for key in data:
        if key not in ("device", "host", "operators"):
            raise ValueError(
                f"unknown table [{key}]; profiles have [device], [host] and [operators]"
            )
    return DeviceProfile(
        name,
        {kind: Cost() for kind in DEVICE_KINDS} | _costs(data, "device", DEVICE_KINDS),
        {kind: Cost() for kind in HOST_KINDS} | _costs(data, "host", HOST_KINDS),
        _costs(data, "operators", None),
    )


def _costs(data: Mapping[str, Any], table: str, known: tuple[str, ...] | None) -> dict[str, Cost]:
    rows = data.get(table, {})
    if not isinstance(rows, dict):
        raise ValueError(f"[{table}] should be a table")
    costs: dict[str, Cost] = {}
    for kind, row in cast("dict[str, Any]", rows).items():
        if known is not None and kind not in known:
            raise ValueError(f"unknown kind '{kind}' in [{table}] (known: {', '.join(known)})")
        costs[kind] = _cost(f"{table}.{kind}", row)
    return costs


def _cost(place: str, row: Any) -> Cost:
    if not isinstance(row, dict):
        raise ValueError(
            f"{place} should be a table such as {{ fixed_us = 1.0, bytes_per_us = 4096.0 }}"
        )
    values: dict[str, float] = {}
    for key, value in cast("dict[str, Any]", row).items():
        if key not in ("fixed_us", "bytes_per_us"):
            raise ValueError(f"{place} has an unknown key '{key}' (known: fixed_us, bytes_per_us)")
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise ValueError(f"{place}.{key} should be a number >= 0, got {value!r}")
        values[key] = float(value)
    return Cost(**values)
