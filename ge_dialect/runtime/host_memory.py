"""Steps of a host program on shapes, storage, placement and order, as functions on the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute

from ge_dialect.dialects.ge_task import PlacedTensorType, Placement
from ge_dialect.kernels import Array
from ge_dialect.kernels.spec import is_array
from ge_dialect.runtime.allocator import BORROWED, FREED, HOST_POOL, Storage, TensorList, size_of
from ge_dialect.runtime.errors import TaskError
from ge_dialect.runtime.host_state import HostState
from ge_dialect.runtime.memory import bytes_of

Step: TypeAlias = Callable[[HostState], None]


def _tensor(state: HostState, slot: int, what: str) -> Array:
    value = state.values[slot]
    if not is_array(value):
        raise TaskError(f"{what} takes a tensor, got a {type(value).__name__}")
    return value


def shape_of(source: int, result: int) -> Step:
    """The shape record of a tensor."""

    def step(state: HostState) -> None:
        state.count("shape_of")
        state.define_shape(result, _tensor(state, source, "shape_of").shape)

    return step


_SHAPE_BYTES = 8
_LARGEST = (1 << 63) - 1


def read_shape(sources: Sequence[int], results: Sequence[int], stream: int) -> Step:
    """The shapes that the kernel which wrote the tensors found, their own when it found none: one small copy."""

    def step(state: HostState) -> None:
        state.count("read_shape")
        rows = 0
        for source, result in zip(sources, results, strict=True):
            published = state.storages[source].published
            shape = _tensor(state, source, "read_shape").shape if published is None else published
            rows += 1 + len(shape)
            state.define_shape(result, shape)
        read_back(state, stream, _SHAPE_BYTES * rows)

    return step


def read_back(state: HostState, stream: int, size: int) -> None:
    """The host fetches a record of shapes behind a stream and waits for it."""
    state.count("d2h")
    state.moved += size
    state.clock.copy("d2h", stream, size)
    state.clock.wait_for(stream)


def alloc(
    shape: int | None,
    static: tuple[int, ...],
    dtype: np.dtype,
    fill: int,
    result: int,
    pool: int,
) -> Step:
    """New storage out of `pool`, filled with the byte `fill`."""

    def step(state: HostState) -> None:
        state.count("alloc")
        dims: tuple[int, ...] = static if shape is None else state.values[shape]
        try:
            value: Array = np.empty(dims, dtype)
        except (MemoryError, ValueError) as error:
            raise TaskError(f"alloc: {error}") from error
        if not dtype.hasobject:
            bytes_of(value).fill(fill)
        state.clock.on_host("alloc", "alloc")
        state.define(result, value, state.new_storage(size_of(value), pool, explicit=True))

    return step


def alloc_later(
    shape: int | None,
    static: tuple[int, ...],
    width: int,
    result: int,
    pool: int,
    name: str,
    index: int,
) -> Step:
    """Storage out of `pool` for a tensor with elements of `width` bytes that the next step to see it writes whole.

    Its bytes are then those of that step's result, so they are not made here. The step is called `name` and has the
    number `index`. Raises TaskError for more bytes than an address can count.
    """

    def step(state: HostState) -> None:
        state.count("alloc")
        dims: tuple[int, ...] = static if shape is None else state.values[shape]
        state.clock.on_host("alloc", name, "", index)
        size = prod(dims) * width
        if size > _LARGEST:
            raise TaskError(f"{name}: an output of shape {list(dims)} takes {size} bytes")
        state.define(result, None, state.new_storage(size, pool, explicit=True))

    return step


def free(source: int) -> Step:
    """The end of a value. Raises TaskError for one that has ended before."""

    def step(state: HostState) -> None:
        state.count("free")
        state.clock.on_host("free", "free")
        if state.storages[source] is FREED:
            raise TaskError("free: the storage was given back before")
        state.free(source)

    return step


def view(
    source: int, shape: int | None, static: tuple[int, ...], dtype: np.dtype, result: int
) -> Step:
    """The first bytes of a tensor's storage as another type or shape. Raises TaskError when they are too few."""

    def step(state: HostState) -> None:
        state.count("view")
        dims: tuple[int, ...] = static if shape is None else state.values[shape]
        value = _tensor(state, source, "view")
        needed = int(np.prod(dims, dtype=np.int64))
        if value.dtype == dtype and value.size == needed:
            seen = value.reshape(dims)
        else:
            data = bytes_of(value)
            if needed * dtype.itemsize > data.size:
                raise TaskError(f"view: {dtype} {list(dims)} does not fit into {data.size} bytes")
            seen = data[: needed * dtype.itemsize].view(dtype).reshape(dims)
        state.define(result, seen, state.storages[source])

    return step


def move(kind: str, source: int, result: int, stream: int) -> Step:
    """A copy between the memories: to the device beside the host, to the host while the host waits."""
    to_host = kind == "d2h"
    pool = HOST_POOL if to_host else stream

    def step(state: HostState) -> None:
        value = state.values[source]
        size = size_of(value)
        state.count(kind)
        state.moved += size
        state.allocator.read_on(state.storages[source], stream)
        state.clock.copy(kind, stream, size)
        if to_host:
            state.clock.wait_for(stream)
        copied = value.copy() if is_array(value) else value
        state.define(result, copied, state.new_storage(size, pool))

    return step


def ensure(
    wanted: Placement, known: Placement, source: int, result: int, plain_input: bool
) -> Step:
    """A copy on stream 0 when the tensor is elsewhere; an input of the caller without a mark is on the host.

    To the host after a synchronisation, unless `plain_input`: nothing on the device can have written the tensor.
    """
    kind = "h2d" if wanted is Placement.DEVICE else "d2h"
    copy = move(kind, source, result, 0)

    def step(state: HostState) -> None:
        place = known
        if place is Placement.ANY:
            place = state.places.get(source, Placement.HOST)
        if place is wanted:
            state.define(result, state.values[source], state.storages[source])
            return
        if wanted is Placement.HOST and not plain_input:
            synchronise(state, 0)
        copy(state)

    return step


def synchronise(state: HostState, stream: int) -> None:
    """The host waits for a stream, behind which memory can be used again."""
    state.count("sync")
    state.clock.sync(stream)
    state.allocator.synchronised(stream)


def sync(stream: int) -> Step:
    """The host waits for a stream."""

    return lambda state: synchronise(state, stream)


def record(event: int, stream: int) -> Step:
    """The event happens when the stream gets there."""

    def step(state: HostState) -> None:
        state.count("record")
        state.clock.record_event(event, stream)

    return step


def wait(event: int, stream: int) -> Step:
    """The stream waits for the event. Raises TaskError when nothing has issued its record."""

    def step(state: HostState) -> None:
        state.count("wait")
        if not state.clock.wait_event(event, stream):
            raise TaskError(
                f"deadlock: stream {stream} waits for event {event}, which nothing has recorded"
            )

    return step


def list_new(result: int) -> Step:
    """An empty list."""

    def step(state: HostState) -> None:
        state.define(result, TensorList(), Storage(0))

    return step


def list_append(target: int, source: int) -> Step:
    """A tensor at the end of a list, which holds its storage from now on."""

    def step(state: HostState) -> None:
        state.count("list_append")
        found = state.values[target]
        assert isinstance(found, TensorList)
        storage = state.storages[source]
        found.items.append(_tensor(state, source, "list_append"))
        if storage is not BORROWED:
            storage.holders += 1
            state.storages[target].children.append(storage)

    return step


def list_stack(
    source: int,
    axis: int,
    reverse: bool,
    dtype: np.dtype,
    shape: tuple[int, ...],
    result: int,
    pool: int,
) -> Step:
    """The tensors of a list along a new dimension; an empty list gives 0 for what the type does not know."""

    def step(state: HostState) -> None:
        state.count("list_stack")
        found = state.values[source]
        assert isinstance(found, TensorList)
        items = found.items[::-1] if reverse else found.items
        if items:
            try:
                value = np.stack(items, axis)
            except ValueError as error:
                raise TaskError(f"list_stack: {error}") from error
        else:
            dims = [max(dim, 0) for dim in shape]
            # The rank is unknown when no iteration ever told it: as many dimensions as `axis` needs.
            dims += [0] * ((axis + 1 if axis >= 0 else -axis) - len(dims))
            dims[axis] = 0
            value = np.zeros(dims, dtype)
        state.define(result, value, state.new_storage(size_of(value), pool))

    return step


def hand_over(
    sources: Sequence[int],
    source_types: Sequence[Attribute],
    results: Sequence[int],
    ended: Sequence[int] = (),
) -> Step:
    """Give `results` the values of `sources`, all at once, and where they are; then drop the sources in `ended`."""
    placed = [
        type.placement.data if isinstance(type, PlacedTensorType) else None for type in source_types
    ]

    def step(state: HostState) -> None:
        held: list[tuple[Any, Storage, Placement | None]] = []
        for slot, place in zip(sources, placed, strict=True):
            if place is Placement.ANY:
                place = state.places.get(slot, Placement.HOST)
            held.append((state.values[slot], state.storages[slot], place))
        for result, (value, storage, place) in zip(results, held, strict=True):
            state.define(result, value, storage)
            if place is not None:
                state.places[result] = place
        for slot in ended:
            state.drop(slot)

    return step
