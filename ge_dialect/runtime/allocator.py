"""Storage of a host program's values: who holds it, when it is given back, how much there was at once.

The bytes are numpy's; what is emulated is the bookkeeping of a stream-ordered allocator that keeps what was given back.
A storage is given back when the last value that refers to it has ended: by a `free` step, or, for what no `alloc` step
made, behind its last reader. That is when the reader has been *issued*, so the block may be used again at once by work
on the same stream, which runs behind that reader. A reader on another stream may still be running: then the block waits
until the host has synchronised with that stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ge_dialect.kernels import Array, Value
from ge_dialect.kernels.spec import is_array

HOST_POOL = -1
"""The pool of blocks in host memory; pools of device memory go by stream."""

BLOCK = 512
"""Blocks are multiples of this many bytes (spec/memory.md 1.2)."""

_EXACT = 16 * BLOCK


def block_bytes(size: int) -> int:
    """Bytes of the block for a storage of `size` bytes.

    Up to 8 KiB a multiple of 512, above that the next of eight sizes a power of two: a block is at most an eighth
    larger than asked for, and blocks of neighbouring sizes can take each other's place.
    """
    if size <= _EXACT:
        return (size + BLOCK - 1) // BLOCK * BLOCK
    step = 1 << ((size - 1).bit_length() - 4)
    return (size + step - 1) // step * step


@dataclass(slots=True, eq=False)
class Storage:
    """Bytes that one or several values refer to.

    `explicit`: made by `alloc` and no `free` was there yet; `published`: see `read_shape`; `children`: storages that
    this one keeps; `foreign`: streams other than the pool's own that have read it.
    """

    size: int
    explicit: bool = False
    holders: int = 0
    released: bool = False
    published: tuple[int, ...] | None = None
    children: list[Storage] = field(default_factory=list["Storage"])
    pool: int = HOST_POOL
    foreign: set[int] | None = None


@dataclass(slots=True, eq=False)
class TensorList:
    """The value of a list; the storages of its tensors are the `children` of its own."""

    items: list[Array] = field(default_factory=list[Array])


@dataclass(slots=True)
class Cache:
    """Blocks that were given back, by pool and size. It outlives a run, as the memory of a process does."""

    free: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    reserved: int = 0
    reserved_host: int = 0


class Allocator:
    """Counts storages and bytes of one run.

    `peak` and `host_peak` are the most bytes in use at once on the device and on the host, `missed` the allocations
    that no block in the cache could serve.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self.cache = Cache() if cache is None else cache
        self.allocations = 0
        self.missed = 0
        self.live = 0
        self.peak = 0
        self.host_live = 0
        self.host_peak = 0
        self._waiting: list[Storage] = []

    def new(self, size: int, pool: int = HOST_POOL, explicit: bool = False) -> Storage:
        """A storage of `size` bytes that nothing holds yet."""
        self.allocations += 1
        if pool == HOST_POOL:
            self.host_live += size
            if self.host_live > self.host_peak:
                self.host_peak = self.host_live
        else:
            self.live += size
            if self.live > self.peak:
                self.peak = self.live
        if size:
            cache = self.cache
            key = (pool, block_bytes(size))
            found = cache.free.get(key, 0)
            if found:
                cache.free[key] = found - 1
            else:
                self.missed += 1
                if pool == HOST_POOL:
                    cache.reserved_host += key[1]
                else:
                    cache.reserved += key[1]
        return Storage(size, explicit, pool=pool)

    def release(self, storage: Storage) -> None:
        """The storage is given back."""
        if storage.released:
            return
        storage.released = True
        if storage.pool == HOST_POOL:
            self.host_live -= storage.size
        else:
            self.live -= storage.size
        if storage.size:
            if storage.foreign:
                self._waiting.append(storage)
            else:
                self._keep(storage)
        for child in storage.children:
            self.drop(child)

    def _keep(self, storage: Storage) -> None:
        key = (storage.pool, block_bytes(storage.size))
        self.cache.free[key] = self.cache.free.get(key, 0) + 1

    def read_on(self, storage: Storage, stream: int) -> None:
        """Work on `stream` reads the storage."""
        if storage.pool not in (stream, HOST_POOL):
            if storage.foreign is None:
                storage.foreign = set()
            storage.foreign.add(stream)

    def synchronised(self, stream: int) -> None:
        """All work on `stream` is done: blocks that waited for it alone can be used again."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for storage in waiting:
            assert storage.foreign is not None
            storage.foreign.discard(stream)
            if storage.foreign:
                self._waiting.append(storage)
            else:
                self._keep(storage)

    def finish(self) -> None:
        """The run is over and every stream has drained."""
        for storage in self._waiting:
            self._keep(storage)
        self._waiting = []

    def free(self, storage: Storage) -> None:
        """A `free` step has ended a value that refers to the storage."""
        storage.explicit = False
        self.drop(storage)

    def drop(self, storage: Storage) -> None:
        """A value that refers to the storage is gone."""
        storage.holders -= 1
        if storage.holders == 0 and not storage.explicit:
            self.release(storage)


BORROWED = Storage(0, explicit=True)
"""Stands for storage that is not the program's to count: inputs of the caller, absent slots, shapes."""

FREED = Storage(0, explicit=True)
"""Stands for the storage of a value that a `free` step has ended."""


def size_of(value: Value) -> int:
    """Bytes of a value; a string counts the sixteen bytes that GE's string head takes."""
    if is_array(value):
        array = value
        return array.size * (16 if array.dtype.kind == "O" else array.dtype.itemsize)
    if isinstance(value, list):
        return sum(size_of(item) for item in cast("list[Any]", value))
    if isinstance(value, dict):
        return sum(size_of(item) for item in cast("dict[Any, Any]", value).values())
    return 0


def shared_with(value: Value, candidates: Sequence[Value]) -> int | None:
    """The position of the value whose memory `value` lies in, None when it has memory of its own."""
    if not is_array(value):
        return next((i for i, other in enumerate(candidates) if other is value), None)
    array = value
    for index, other in enumerate(candidates):
        if other is array or (
            array.base is not None and is_array(other) and np.may_share_memory(array, other)
        ):
            return index
    return None
