"""The state of one run of a host program: values, storages, simulated clocks, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ge_dialect.dialects.ge_task import Placement
from ge_dialect.kernels import Array, Value
from ge_dialect.kernels.device_profile import COPIES, DeviceProfile
from ge_dialect.runtime.allocator import (
    BORROWED,
    FREED,
    HOST_POOL,
    Allocator,
    Storage,
    shared_with,
    size_of,
)
from ge_dialect.runtime.errors import RunawayError, RunError
from ge_dialect.runtime.timeline import Flow, Interval


@dataclass(slots=True)
class Clock:
    """Simulated microseconds: the host takes its steps one after the other, streams run beside it.

    `host_us` and `device_us` hold how long each kind of work took, of host and streams; `idle` is the time for which
    the host did nothing because it needed a stream's result.
    """

    profile: DeviceProfile
    streams: list[float]
    record: bool
    host: float = 0.0
    events: dict[int, tuple[float, Interval | None]] = field(
        default_factory=dict[int, tuple[float, "Interval | None"]]
    )
    intervals: list[Interval] = field(default_factory=list[Interval])
    flows: list[Flow] = field(default_factory=list[Flow])
    host_us: dict[str, float] = field(default_factory=dict[str, float])
    device_us: dict[str, float] = field(default_factory=dict[str, float])

    def on_host(
        self, kind: str, name: str, type: str = "", index: int = 0, size: int = 0
    ) -> Interval | None:
        """The host works."""
        duration = self.profile.host[kind].of(size)
        if self.record:
            return self.host_for(duration, kind, name, type, index)
        self.host += duration
        spent = self.host_us
        spent[kind] = spent.get(kind, 0.0) + duration
        return None

    def host_for(
        self, duration: float, kind: str, name: str, type: str = "", index: int = 0
    ) -> Interval | None:
        """The host works for so long."""
        start = self.host
        self.host = start + duration
        self.host_us[kind] = self.host_us.get(kind, 0.0) + duration
        if not self.record:
            return None
        interval = Interval("host", name, kind, type, index, start, self.host)
        self.intervals.append(interval)
        return interval

    def on_stream(
        self,
        stream: int,
        duration: float,
        kind: str,
        name: str,
        type: str = "",
        index: int = 0,
        issued: Interval | None = None,
    ) -> None:
        """A stream works, not before it has been told to (by `issued`, from which an arrow leads here)."""
        start = max(self.streams[stream], self.host)
        self.streams[stream] = start + duration
        self.device_us[kind] = self.device_us.get(kind, 0.0) + duration
        if self.record:
            track = f"stream {stream}"
            interval = Interval(track, name, kind, type, index, start, start + duration)
            self.intervals.append(interval)
            if issued is not None:
                flow = "copy" if kind in COPIES else "launch"
                self.flows.append(Flow(flow, issued, interval))

    def run_list(
        self,
        stream: int,
        duration: float,
        name: str,
        index: int,
        issued: Interval | None,
        tasks: Sequence[Interval],
        flows: Sequence[Flow],
        tracks: Mapping[str, str],
    ) -> None:
        """A stream runs a task list for so long. Its tasks are shown where they run: `tracks` says what the list's own
        streams are called here; their times count from the beginning of the list."""
        if not self.record or not tasks:
            self.on_stream(stream, duration, "execute", name, "", index, issued)
            return
        start = max(self.streams[stream], self.host)
        self.streams[stream] = start + duration
        self.device_us["execute"] = self.device_us.get("execute", 0.0) + duration
        placed = {
            id(x): replace(x, track=tracks[x.track], start=start + x.start, end=start + x.end)
            for x in tasks
        }
        self.intervals += placed.values()
        self.flows += [
            Flow(x.kind, placed[id(x.source)], placed[id(x.target)])
            for x in flows
            if id(x.source) in placed and id(x.target) in placed
        ]
        if issued is not None:
            first = min(placed.values(), key=lambda x: x.start)
            self.flows.append(Flow("launch", issued, first))

    def copy(self, kind: str, stream: int, size: int) -> None:
        """The host issues a copy between the memories, a stream makes it."""
        cost = self.profile.host[kind]
        issued = self.host_for(cost.issue_us, kind, kind)
        self.on_stream(stream, cost.of(size), kind, kind, issued=issued)

    def wait_for(self, stream: int) -> None:
        """The host does nothing until the stream is done."""
        if self.streams[stream] > self.host:
            self.host_for(self.streams[stream] - self.host, "idle", f"wait for stream {stream}")

    def sync(self, stream: int) -> None:
        """The host waits for the stream."""
        self.wait_for(stream)
        self.on_host("stream_sync", f"sync stream {stream}")

    def record_event(self, event: int, stream: int) -> None:
        """The event happens when the stream gets there."""
        issued = self.on_host("record", f"record {event}")
        at = max(self.streams[stream], self.host)
        if self.record:
            self.on_stream(stream, 0.0, "record", f"record {event}", issued=issued)
            issued = self.intervals[-1]
        self.events[event] = (at, issued)

    def wait_event(self, event: int, stream: int) -> bool:
        """The stream waits for the event; False when nothing has issued its record."""
        issued = self.on_host("wait", f"wait {event}")
        if event not in self.events:
            return False
        at, source = self.events.pop(event)
        self.streams[stream] = max(self.streams[stream], at)
        if self.record:
            self.on_stream(stream, 0.0, "wait", f"wait {event}", issued=issued)
            if source is not None:
                self.flows.append(Flow("event", source, self.intervals[-1]))
        return True

    @property
    def end(self) -> float:
        """When host and streams are done."""
        return max([self.host, *self.streams])


_LIMITED = frozenset({"launch", "host_call", "execute", "iteration", "skipped_launch"})


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
    avoided_launches: int = 0
    unmoved_bytes: int = 0
    outputs: dict[int, Value] = field(default_factory=dict[int, Value])

    def count(self, what: str) -> None:
        """One more step of the kind. Raises RunawayError beyond the limit (choice E14), for which what computes and the
        turns of loops count, not what is done around them."""
        self.counts[what] = self.counts.get(what, 0) + 1
        if what in _LIMITED:
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
        if old is not BORROWED and old is not FREED:
            self.allocator.drop(old)

    def new_storage(self, size: int, pool: int, explicit: bool = False) -> Storage:
        """Storage out of a pool; what the cache does not have costs the host more."""
        allocator = self.allocator
        missed = allocator.missed
        storage = allocator.new(size, pool, explicit)
        if allocator.missed != missed and pool != HOST_POOL:
            cost = self.clock.profile.host["malloc"].of(size)
            if cost:
                self.clock.host_for(cost, "malloc", "malloc")
        return storage

    def define_new(
        self, slot: int, value: Value, sources: Sequence[int], pool: int = HOST_POOL
    ) -> None:
        """Give a slot a value that a step made: with new storage, or that of the source whose memory it lies in."""
        shared = shared_with(value, [self.values[source] for source in sources])
        if shared is not None:
            self.define(slot, value, self.storages[sources[shared]])
        elif value is None:
            self.define(slot, None, BORROWED)
        else:
            self.define(slot, value, self.new_storage(size_of(value), pool))

    def define_shape(self, slot: int, shape: Sequence[int]) -> None:
        """Give a slot a shape, which takes no storage."""
        self.define(slot, tuple(shape), BORROWED)

    def drop(self, slot: int) -> None:
        """The value is not read again."""
        storage = self.storages[slot]
        self.values[slot] = None
        self.storages[slot] = BORROWED
        if storage is not BORROWED and storage is not FREED:
            self.allocator.drop(storage)

    def free(self, slot: int) -> None:
        """The program says that the value is not read again."""
        storage = self.storages[slot]
        self.values[slot] = None
        self.storages[slot] = FREED
        if storage is not BORROWED:
            self.allocator.free(storage)

    def finish(self) -> None:
        """All streams have drained: what the program did not free goes back as well."""
        for storage in self.storages:
            if storage is not BORROWED and storage is not FREED:
                self.allocator.release(storage)
        self.allocator.finish()

    def truth(self, slot: int) -> bool:
        """Whether the one element of a condition is other than zero: 0.5 and `not a number` are. Raises RunError."""
        return bool(self._one(slot, "condition") != 0)

    def index(self, slot: int) -> int:
        """The one element of an index. Raises RunError."""
        element = self._one(slot, "index")
        if element.dtype.kind not in "biu":
            raise RunError(f"an index is an integer, this one is of type {element.dtype}")
        return int(element)

    def _one(self, slot: int, what: str) -> np.generic:
        array: Array = np.asarray(self.values[slot])
        if array.size != 1 or array.dtype.kind in "OSU":
            found = f"{array.size} elements of type {array.dtype}"
            raise RunError(f"{what} is not one number but {found}")
        return array.reshape(-1)[0]
