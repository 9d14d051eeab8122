"""Storage of a host program's values: who holds it, when it is given back, how much there was at once.

Memory is unlimited and numpy's (choice E30); what is emulated is the bookkeeping. A storage is given back when the last
value that refers to it is dropped, or when a `free` step says so if an `alloc` step made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ge_dialect.kernels import Array, Value
from ge_dialect.kernels.spec import is_array


@dataclass(slots=True, eq=False)
class Storage:
    """Bytes that one or several values refer to.

    `explicit`: lives from `alloc` to `free`; `published`: see `read_shape`; `children`: storages that this one keeps.
    """

    size: int
    explicit: bool = False
    holders: int = 0
    released: bool = False
    published: tuple[int, ...] | None = None
    children: list[Storage] = field(default_factory=list["Storage"])


@dataclass(slots=True, eq=False)
class TensorList:
    """The value of a list; the storages of its tensors are the `children` of its own."""

    items: list[Array] = field(default_factory=list[Array])


class Allocator:
    """Counts storages and bytes of one run."""

    def __init__(self) -> None:
        self.allocations = 0
        self.live = 0
        self.peak = 0

    def new(self, size: int, explicit: bool = False) -> Storage:
        """A storage of `size` bytes that nothing holds yet."""
        self.allocations += 1
        self.live += size
        self.peak = max(self.peak, self.live)
        return Storage(size, explicit)

    def release(self, storage: Storage) -> None:
        """The storage is given back."""
        if not storage.released:
            storage.released = True
            self.live -= storage.size
            for child in storage.children:
                self.drop(child)

    def drop(self, storage: Storage) -> None:
        """A value that refers to the storage is gone."""
        storage.holders -= 1
        if storage.holders == 0 and not storage.explicit:
            self.release(storage)


BORROWED = Storage(0, explicit=True)
"""Stands for storage that is not the program's to count: inputs of the caller, absent slots, shapes."""


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
