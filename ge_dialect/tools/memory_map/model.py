"""What a memory map shows: rectangles in time and addresses, and how their axes are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum


class Role(Enum):
    """What a buffer is for; the picture has a colour for each."""

    FEATURE = "intermediate"
    WORKSPACE = "workspace"
    INPUT = "model input"
    OUTPUT = "model output"
    OTHER = "buffer"


@dataclass(frozen=True, slots=True)
class MapBuffer:
    """`size` bytes from `offset` on, in use over [start, end); `type` is that of the operator that writes it."""

    name: str
    start: int
    end: int
    size: int
    offset: int
    type: str = ""
    role: Role = Role.OTHER


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """One memory space of one graph. `peak`: bytes that the plan takes; `bound`: bytes that every plan takes, with the
    reason (0: not known). `time`: what is counted along the time axis. `top`: bytes of the whole space, more than
    `peak` where model inputs and outputs lie behind it."""

    title: str
    buffers: Sequence[MapBuffer]
    peak: int
    bound: int
    bound_kind: str
    time: str = "time"
    space: str = "hbm"
    top: int = field(default=0)

    @property
    def height(self) -> int:
        """The highest address that the picture shows."""
        ends = (buffer.offset + buffer.size for buffer in self.buffers)
        return max(self.peak, self.bound, self.top, max(ends, default=0), 1)

    @property
    def span(self) -> tuple[int, int]:
        """First and last point of time, at least one apart."""
        first = min((buffer.start for buffer in self.buffers), default=0)
        last = max((buffer.end for buffer in self.buffers), default=1)
        return first, max(last, first + 1)

    def live(self) -> list[tuple[int, int]]:
        """Bytes in use as (from this time on, bytes), ascending, without model inputs and outputs."""
        change: dict[int, int] = {}
        for buffer in self.buffers:
            if buffer.role not in (Role.INPUT, Role.OUTPUT):
                change[buffer.start] = change.get(buffer.start, 0) + buffer.size
                change[buffer.end] = change.get(buffer.end, 0) - buffer.size
        steps: list[tuple[int, int]] = []
        live = 0
        for at in sorted(change):
            live += change[at]
            steps.append((at, live))
        return steps

    def busiest(self) -> tuple[int, int, int] | None:
        """When the most bytes are in use for the first time, as (from, to, bytes); None when none ever are."""
        steps = self.live()
        most = max((live for _, live in steps), default=0)
        if most == 0:
            return None
        index = next(at for at, (_, live) in enumerate(steps) if live == most)
        return steps[index][0], steps[index + 1][0], most

    def at_peak(self) -> list[MapBuffer]:
        """What is in use in that moment, largest first: the answer to "why this peak?"."""
        found = self.busiest()
        if found is None:
            return []
        inside = [
            buffer
            for buffer in self.buffers
            if buffer.start <= found[0] < buffer.end
            and buffer.role not in (Role.INPUT, Role.OUTPUT)
        ]
        return sorted(inside, key=lambda buffer: -buffer.size)


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def unit_of(size: int) -> tuple[str, int]:
    """The unit in which sizes up to `size` bytes are written, and its bytes."""
    power = 0
    while size >= 1024 ** (power + 1) and power < len(_UNITS) - 1:
        power += 1
    return _UNITS[power], 1024**power


def bytes_text(size: int) -> str:
    """`1.25 MiB`; exact up to four digits."""
    unit, factor = unit_of(size)
    return f"{size / factor:.4g} {unit}" if factor > 1 else f"{size} B"


def ticks(low: int, high: int, factor: int = 1, most: int = 8) -> list[int]:
    """At most `most` round places from `low` to `high`: multiples of 1, 2 or 5 times a power of ten times `factor`."""
    step = factor
    while (high - low) // step >= most:
        leading = int(str(step // factor)[0])
        step = step * 5 // 2 if leading == 2 else step * 2
    first = -(-low // step) * step
    return list(range(first, high + 1, step))


def address_ticks(high: int, most: int = 9) -> list[int]:
    """At most `most` addresses from 0 to `high`, multiples of a power of two: round in binary units."""
    step = 1
    while high // step >= most:
        step *= 2
    return list(range(0, high + 1, step))
