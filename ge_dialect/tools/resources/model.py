"""What a compiled model takes of a device, and whether the device has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ge_dialect.kernels.device_limits import DeviceLimits
from ge_dialect.transforms.split.limits import PROFILING_TASKS

ANY = 1 << 62
"""The limit of what has none."""


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids 0 .. `declared` - 1 of a kind of resource, of which `used` occur, ascending."""

    declared: int
    used: Sequence[int]

    @property
    def unused(self) -> list[int]:
        """Declared ids that do not occur."""
        used = set(self.used)
        return [number for number in range(self.declared) if number not in used]


NO_IDS = Ids(0, ())


@dataclass(frozen=True, slots=True)
class Usage:
    """One graph, task list or host program.

    `tasks`: entries of each stream's queue, by stream; None where tasks are issued at run time. `memory`: bytes of each
    space of device memory; None without a plan.
    """

    name: str
    kind: str
    streams: Ids
    events: Ids = NO_IDS
    notifies: Ids = NO_IDS
    labels: Ids = NO_IDS
    tasks: dict[int, int] | None = None
    huge_streams: Sequence[int] = ()
    memory: dict[str, int] | None = None

    @property
    def idle_streams(self) -> list[int]:
        """Streams without tasks."""
        tasks = self.tasks
        if tasks is None:
            return []
        return [stream for stream in range(self.streams.declared) if not tasks.get(stream)]

    def most_tasks(self, *, huge: bool) -> int:
        """Entries that the fullest normal, or huge, stream needs, with those that profiling takes."""
        found = (
            count + PROFILING_TASKS
            for stream, count in (self.tasks or {}).items()
            if (stream in self.huge_streams) is huge
        )
        return max(found, default=0)


@dataclass(frozen=True, slots=True)
class Row:
    """How much of one resource is needed and there; None: not known."""

    resource: str
    needed: int | None
    limit: int | None

    @property
    def fits(self) -> bool | None:
        """None where need or limit is not known."""
        if self.needed is None or self.limit is None:
            return None
        return self.needed <= self.limit


@dataclass(frozen=True, slots=True)
class Resources:
    """All that a module takes. Its parts are loaded side by side, so their streams, ids and bytes add up."""

    device: str
    limits: DeviceLimits
    parts: Sequence[Usage]
    rows: Sequence[Row] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self._rows()))

    @property
    def exceeded(self) -> list[Row]:
        """What the device does not have."""
        return [row for row in self.rows if row.fits is False]

    @property
    def fits(self) -> bool:
        """Whether nothing that is known exceeds a known limit."""
        return not self.exceeded

    @property
    def unknown(self) -> list[Row]:
        """Resources whose need or limit is not known."""
        return [row for row in self.rows if row.fits is None]

    def _rows(self) -> list[Row]:
        limits, parts = self.limits, self.parts
        huge = sum(len(part.huge_streams) for part in parts)
        streams = sum(part.streams.declared for part in parts)
        planned = [part.memory for part in parts if part.memory is not None]
        static = [part for part in parts if part.tasks is not None]
        deep = ANY if limits.unlimited_depth else limits.tasks_per_stream
        rows = [
            Row("streams", streams - huge, limits.streams),
            Row("events", sum(part.events.declared for part in parts), limits.events),
            Row("notifies", sum(part.notifies.declared for part in parts), limits.notifies),
            Row("labels", sum(part.labels.declared for part in parts), limits.labels),
            Row(
                "tasks of a stream",
                max((part.most_tasks(huge=False) for part in static), default=None),
                deep,
            ),
            Row(
                "memory bytes",
                sum(sum(each.values()) for each in planned) if planned else None,
                limits.memory_bytes,
            ),
        ]
        if huge:
            rows.insert(1, Row("huge streams", huge, limits.huge_streams))
            most = max(part.most_tasks(huge=True) for part in static)
            deep = ANY if limits.unlimited_depth else limits.tasks_per_huge_stream
            rows.append(Row("tasks of a huge stream", most, deep))
        return [row for row in rows if row.resource != "labels" or row.needed]
