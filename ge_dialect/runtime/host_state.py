"""The state of one run of a host program: values, storages, simulated clocks, counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ge_dialect.dialects.ge_task import Placement
from ge_dialect.kernels import Array, Value
from ge_dialect.runtime.allocator import (
    BORROWED,
    Allocator,
    Storage,
    shared_with,
    size_of,
)
from ge_dialect.runtime.cost import DeviceProfile
from ge_dialect.runtime.errors import RunawayError
from ge_dialect.runtime.timeline import Interval


@dataclass(slots=True)
class Clock:
    """Simulated microseconds: the host takes its steps one after the other, streams run beside it."""

    profile: DeviceProfile
    streams: list[float]
    record: bool
    host: float = 0.0
    events: dict[int, float] = field(default_factory=dict[int, float])
    intervals: list[Interval] = field(default_factory=list[Interval])

    def on_host(self, kind: str, name: str, type: str = "", index: int = 0, size: int = 0) -> None:
        """The host works."""
        start = self.host
        self.host += self.profile.host[kind].of(size)
        if self.record:
            self.intervals.append(Interval("host", name, kind, type, index, start, self.host))

    def on_stream(
        self, stream: int, duration: float, kind: str, name: str, type: str = "", index: int = 0
    ) -> None:
        """A stream works, not before it has been told to."""
        start = max(self.streams[stream], self.host)
        self.streams[stream] = start + duration
        if self.record:
            track = f"stream {stream}"
            self.intervals.append(Interval(track, name, kind, type, index, start, start + duration))

    def sync(self, stream: int) -> None:
        """The host waits for the stream."""
        self.host = max(self.host, self.streams[stream])
        self.on_host("stream_sync", f"sync stream {stream}")

    @property
    def end(self) -> float:
        """When host and streams are done."""
        return max([self.host, *self.streams])


@dataclass(slots=True)
class HostState:
    """Slots hold the values of the program's SSA values; `places` where the tensors of type `any` are."""

    values: list[Value]
    storages: list[Storage]
    places: dict[int, Placement]
    clock: Clock
    max_steps: int
    allocator: Allocator = field(default_factory=Allocator)
    counts: dict[str, int] = field(default_factory=dict[str, int])
    device_tasks: dict[str, int] = field(default_factory=dict[str, int])
    steps: int = 0
    moved: int = 0
    outputs: dict[int, Value] = field(default_factory=dict[int, Value])

    def count(self, what: str) -> None:
        """One more step of the kind; raises RunawayError beyond the limit (choice E14)."""
        self.counts[what] = self.counts.get(what, 0) + 1
        self.steps += 1
        if self.steps > self.max_steps:
            raise RunawayError(f"more than {self.max_steps} steps ran in one run")

    def define(self, slot: int, value: Value, storage: Storage) -> None:
        """Give a slot its value, which refers to `storage`."""
        old = self.storages[slot]
        if storage is not BORROWED:
            storage.holders += 1
        self.values[slot] = value
        self.storages[slot] = storage
        if old is not BORROWED:
            self.allocator.drop(old)

    def define_new(self, slot: int, value: Value, sources: Sequence[int]) -> None:
        """Give a slot a value that a step made: with new storage, or that of the source whose memory it lies in."""
        shared = shared_with(value, [self.values[source] for source in sources])
        if shared is not None:
            self.define(slot, value, self.storages[sources[shared]])
        elif value is None:
            self.define(slot, None, BORROWED)
        else:
            self.define(slot, value, self.allocator.new(size_of(value)))

    def define_shape(self, slot: int, shape: Sequence[int]) -> None:
        """Give a slot a shape, which takes no storage."""
        self.define(slot, tuple(shape), BORROWED)

    def drop(self, slot: int) -> None:
        """The value is not read again."""
        storage = self.storages[slot]
        self.values[slot] = None
        self.storages[slot] = BORROWED
        if storage is not BORROWED:
            self.allocator.drop(storage)

    def truth(self, slot: int) -> int:
        """The one element of a condition or index, as an integer."""
        array: Array = np.asarray(self.values[slot])
        return int(array.reshape(-1)[0])
