"""Simulated time: how long tasks and host steps take on a device that a TOML file describes.

A profile gives each kind of work a fixed part in microseconds and rates: bytes per microsecond and, for kernels,
operations per microsecond, of which the slower one counts (a roofline). docs/device_profiles.md describes the file.
Where nothing in a profile is measured, only comparisons of two programs under it mean something (spec/tasks.md
section 10, E28).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from ge_dialect.dialects.engine_table import ENGINES
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.device_limits import NO_LIMITS, DeviceLimits, limits_of
from ge_dialect.kernels.work import Work

DEVICE_KINDS = ("kernel", "memcpy", "collective", "sync", "control", "marker")
"""Work on the device: kernels, copies, collectives; flags; activations, switches and jumps; brackets, traces, NOP."""

HOST_KINDS = (
    "execute", "launch", "infer_shape", "tiling", "alloc", "malloc", "free", "host_call", "h2d", "d2h", "stream_sync",
    "record", "wait",
)  # fmt: skip
"""Work of the host: one call for a whole task list, and the steps of a host-scheduled program.

`alloc` takes storage out of the allocator's cache, `malloc` is what a block costs more that the cache does not have.
"""

COPIES = ("h2d", "d2h")
"""Host kinds with a part that the host spends (`issue_us`) and a part that the stream takes (the rest)."""


class ProfileError(GeError):
    """A device profile cannot be read or says something that profiles cannot say."""


@dataclass(frozen=True, slots=True)
class Cost:
    """`fixed_us` microseconds, plus the longest of what bytes and operations take at their rates (0: nothing).

    `bytes_per_us` counts bytes read and written, `cube_flops_per_us` operations of the matrix unit,
    `vector_flops_per_us` those of the vector unit. `issue_us` is what a copy costs the host that asks for it.
    """

    fixed_us: float = 0.0
    bytes_per_us: float = 0.0
    cube_flops_per_us: float = 0.0
    vector_flops_per_us: float = 0.0
    issue_us: float = 0.0

    def of(self, size: int = 0) -> float:
        """Microseconds for `size` bytes."""
        return self.fixed_us + (size / self.bytes_per_us if self.bytes_per_us else 0.0)

    def of_work(self, work: Work) -> float:
        """Microseconds for what a kernel does."""
        longest = work.bytes / self.bytes_per_us if self.bytes_per_us else 0.0
        rate = self.cube_flops_per_us if work.cube else self.vector_flops_per_us
        if rate and work.flops / rate > longest:
            longest = work.flops / rate
        return self.fixed_us + longest

    @property
    def counts_work(self) -> bool:
        """Whether anything but the fixed part can count."""
        return bool(self.bytes_per_us or self.cube_flops_per_us or self.vector_flops_per_us)


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """The costs of a device and its host; kinds that the file does not name cost nothing.

    `engines` holds costs of kernels by the engine that runs them, which take the place of `device["kernel"]`, and
    `operators` those of single operator types, which take the place of both. `about` says where the numbers are from.
    `limits` are what the device has room for.
    """

    name: str
    device: Mapping[str, Cost]
    host: Mapping[str, Cost]
    operators: Mapping[str, Cost]
    engines: Mapping[str, Cost]
    about: Mapping[str, str]
    limits: DeviceLimits = NO_LIMITS

    def kernel(self, type: str, engine: str) -> Cost:
        """The cost of kernels of an operator type on an engine ("" for none)."""
        return self.operators.get(type) or self.engines.get(engine) or self.device["kernel"]

    def task(self, kind: str, size: int) -> float:
        """Microseconds of a task of `kind`, no kernel, that reads and writes `size` bytes."""
        return self.device[kind].of(size)


def load_profile(name: str) -> DeviceProfile:
    """The profile called `name`, or the one in the file of that path (anything that ends in `.toml`).

    Raises ProfileError when there is none or it is not well formed.
    """
    if name.endswith(".toml"):
        place, text = name, _read(name)
    else:
        folder = files("ge_dialect.kernels") / "profiles"
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
    except RecursionError as error:
        raise ProfileError("nested too deeply", place) from error


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProfileError("not UTF-8 text", path) from error
    except OSError as error:
        raise ProfileError(error.strerror or str(error), path) from error


def _profile(data: Mapping[str, Any], name: str) -> DeviceProfile:
    for key in data:
        if key not in _TABLES:
            known = ", ".join(f"[{table}]" for table in _TABLES)
            raise ValueError(f"unknown table [{key}]; profiles have {known}")
    about = data.get("about", {})
    if not isinstance(about, dict) or not all(
        isinstance(x, str) for x in cast("dict[str, Any]", about).values()
    ):
        raise ValueError("[about] should be a table of texts")
    return DeviceProfile(
        name,
        {kind: Cost() for kind in DEVICE_KINDS} | _costs(data, "device", DEVICE_KINDS),
        {kind: Cost() for kind in HOST_KINDS} | _costs(data, "host", HOST_KINDS),
        _costs(data, "operators", None),
        _costs(data, "engines", tuple(ENGINES)),
        cast("dict[str, str]", about),
        limits_of(data.get("limits", {})),
    )


_TABLES = ("about", "device", "engines", "operators", "host", "limits")
_SIZES = ("fixed_us", "bytes_per_us")
_RATES = (*_SIZES, "cube_flops_per_us", "vector_flops_per_us")


def _keys(table: str, kind: str) -> tuple[str, ...]:
    """What may be said about a kind of work."""
    if table == "host":
        return (*_SIZES, "issue_us") if kind in COPIES else _SIZES
    return _SIZES if table == "device" and kind != "kernel" else _RATES


def _costs(data: Mapping[str, Any], table: str, known: tuple[str, ...] | None) -> dict[str, Cost]:
    rows = data.get(table, {})
    if not isinstance(rows, dict):
        raise ValueError(f"[{table}] should be a table")
    costs: dict[str, Cost] = {}
    for kind, row in cast("dict[str, Any]", rows).items():
        if known is not None and kind not in known:
            raise ValueError(f"unknown kind '{kind}' in [{table}] (known: {', '.join(known)})")
        costs[kind] = _cost(f"{table}.{kind}", row, _keys(table, kind))
    return costs


_LEAST, _GREATEST = 1e-9, 1e18
"""Numbers between these give times that are finite, whatever a model's size."""


def _cost(place: str, row: Any, known: tuple[str, ...]) -> Cost:
    if not isinstance(row, dict):
        raise ValueError(
            f"{place} should be a table such as {{ fixed_us = 1.0, bytes_per_us = 4096.0 }}"
        )
    values: dict[str, float] = {}
    for key, value in cast("dict[str, Any]", row).items():
        if key not in known:
            raise ValueError(f"{place} has an unknown key '{key}' (known: {', '.join(known)})")
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise ValueError(f"{place}.{key} should be a number >= 0, got {value!r}")
        if value and not _LEAST <= value <= _GREATEST:
            raise ValueError(f"{place}.{key} should be 0 or from {_LEAST:g} to {_GREATEST:g}")
        values[key] = float(value)
    return Cost(**values)
