"""Device memory: byte arenas by space, and buffers as typed numpy views of them.

Nothing is copied to make a view, so what a task writes is what the next one reads: a wrong offset gives wrong numbers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.weights import GREATEST_RANK, array_of
from ge_dialect.dialects.ge_task import BufferOp
from ge_dialect.dialects.location import location_text
from ge_dialect.kernels import Array
from ge_dialect.runtime.errors import LoadError

Bytes = NDArray[np.uint8]

ALIGNMENT = 64
"""Arenas begin at multiples of this many bytes, as vector units like them."""

WEIGHT_SPACE = "weight"


def aligned_bytes(size: int, fill: int) -> Bytes:
    """`size` bytes of value `fill` at an address that is a multiple of `ALIGNMENT`.

    Raises LoadError for more bytes than this machine has.
    """
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        if size > machine:
            raise MemoryError
        memory = np.empty(size + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError):
        raise LoadError(
            f"the program wants {size} bytes in one memory space, this machine has {machine}"
        ) from None
    start = -memory.ctypes.data % ALIGNMENT
    arena = memory[start : start + size]
    arena.fill(fill)
    return arena


def bytes_of(array: Array) -> Bytes:
    """The bytes of an array, without a copy when it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@dataclass(frozen=True, slots=True)
class Extent:
    """The bytes `[start, stop)` of a memory space."""

    space: str
    start: int
    stop: int

    def overlaps(self, other: Extent) -> bool:
        """Whether some byte is in both."""
        return self.space == other.space and self.start < other.stop and other.start < self.stop

    def __str__(self) -> str:
        return f"{self.space} [{self.start}, {self.stop})"


def extent_of(buffer: BufferOp) -> Extent:
    """Where the buffer lies."""
    start = buffer.offset.value.data
    return Extent(buffer.space.data, start, start + buffer.size.value.data)


@dataclass(frozen=True, slots=True)
class TypedAs:
    """numpy's view of a tensor type; types that numpy lacks are seen as plain bytes (`dtype` uint8, one dimension)."""

    dtype: np.dtype
    shape: tuple[int, ...]


def typed_as(buffer: BufferOp) -> TypedAs:
    """How the content of `buffer` is seen. Raises LoadError for strings, unknown shapes and sizes that do not fit."""
    tensor = buffer.tensor
    size = buffer.size.value.data
    try:
        dtype = dtype_of(tensor.element_type)
    except KeyError:
        raise _refused(buffer, f"holds {tensor}, whose elements no device memory holds") from None
    if dtype.name == "STRING":
        raise _refused(buffer, "holds strings, which only a host program can")
    if not isinstance(tensor, TensorType) or DYNAMIC_INDEX in tensor.get_shape():
        raise _refused(buffer, f"holds {tensor}: a task list needs known shapes")
    shape = tuple(tensor.get_shape())
    if len(shape) > GREATEST_RANK:
        raise _refused(buffer, f"holds a tensor of rank {len(shape)}, more than {GREATEST_RANK}")
    needed = dtype.buffer_bytes(prod(shape))
    if size < needed:
        raise _refused(buffer, f"of {size} bytes is too small for {tensor}, which takes {needed}")
    if dtype.numpy is None:
        return TypedAs(np.dtype(np.uint8), (size,))
    return TypedAs(dtype.numpy, shape)


def _refused(buffer: BufferOp, problem: str) -> LoadError:
    return LoadError(f"{buffer.describe()} {problem}", location_text(buffer))


class Memory:
    """The memory of one device.

    Constants in the space `weight` are views of the module's own bytes, read-only and shared by all devices, as long
    as no task writes that space; otherwise, and in every other space, they are copied into the arena (choice E16).
    """

    def __init__(
        self,
        arenas: Mapping[str, int],
        buffers: Sequence[BufferOp],
        written: frozenset[str],
        fill: int,
    ) -> None:
        """Make the arenas of the given sizes in bytes and load the constants of `buffers`.

        `written` names the spaces that some task writes. Raises LoadError for buffers outside their arena.
        """
        self.sizes = dict(arenas)
        self._borrowed = _Borrowed(buffers) if WEIGHT_SPACE not in written else None
        if self._borrowed is not None and not self._borrowed.complete:
            self._borrowed = None
        self._arenas: dict[str, Bytes] = {
            space: aligned_bytes(size, 0 if space in (WEIGHT_SPACE, "var") else fill)
            for space, size in arenas.items()
            if space != WEIGHT_SPACE or self._borrowed is None
        }
        for buffer in buffers:
            self._check_bounds(buffer)
            if buffer.value is not None:
                if self._is_borrowed(buffer):
                    self.raw(buffer)  # bytes that were left out are found missing here
                else:
                    self._load(buffer, buffer.value)

    def raw(self, buffer: BufferOp) -> Bytes:
        """The bytes of `buffer`."""
        if self._borrowed is not None and self._is_borrowed(buffer):
            return self._borrowed.raw(buffer)
        extent = extent_of(buffer)
        if extent.start == extent.stop:
            return np.empty(0, np.uint8)
        return self._arenas[extent.space][extent.start : extent.stop]

    def view(self, buffer: BufferOp) -> Array:
        """The content of `buffer` as an array of its tensor type. Raises LoadError as `typed_as` does."""
        typed = typed_as(buffer)
        size = prod(typed.shape) * typed.dtype.itemsize
        return self.raw(buffer)[:size].view(typed.dtype).reshape(typed.shape)

    def _is_borrowed(self, buffer: BufferOp) -> bool:
        return self._borrowed is not None and buffer.space.data == WEIGHT_SPACE

    def _check_bounds(self, buffer: BufferOp) -> None:
        extent = extent_of(buffer)
        arena = self.sizes.get(extent.space, 0)
        if extent.stop > arena or extent.start < 0:
            raise _refused(buffer, f"lies outside arena '{extent.space}' of {arena} bytes")

    def _load(self, buffer: BufferOp, value: Attribute) -> None:
        data = _constant_bytes(buffer, value)
        self.raw(buffer)[: data.size] = data


class _Borrowed:
    """Constants that stay where the module has them.

    `complete` says whether that covers every buffer of the space: each one lies within one constant, and constants
    that overlap are the same bytes.
    """

    def __init__(self, buffers: Sequence[BufferOp]) -> None:
        found = [(extent_of(x), x) for x in buffers if x.space.data == WEIGHT_SPACE]
        constants: dict[int, tuple[Extent, BufferOp]] = {}
        rest: list[Extent] = []
        self.complete = True
        for extent, buffer in found:
            if buffer.value is None:
                rest.append(extent)
                continue
            extent_there, buffer_there = constants.setdefault(extent.start, (extent, buffer))
            if extent_there != extent or buffer_there.value is not buffer.value:
                self.complete = self.complete and _same_constant(buffer_there, buffer)
        self._starts = np.array(sorted(constants), np.int64)
        self._extents = [constants[start][0] for start in self._starts.tolist()]
        self._buffers = [constants[start][1] for start in self._starts.tolist()]
        self._data: dict[int, Bytes] = {}
        for left, right in zip(self._extents, self._extents[1:], strict=False):
            self.complete = self.complete and not left.overlaps(right)
        self.complete = self.complete and all(self._owner(extent) is not None for extent in rest)

    def _owner(self, extent: Extent) -> int | None:
        """The constant that `extent` lies in."""
        index = int(np.searchsorted(self._starts, extent.start, side="right")) - 1
        if index < 0 or self._extents[index].stop < extent.stop:
            return None
        return index

    def raw(self, buffer: BufferOp) -> Bytes:
        """The bytes of a buffer that lies in a constant."""
        extent = extent_of(buffer)
        index = self._owner(extent)
        assert index is not None
        data = self._data.get(index)
        if data is None:
            owner = self._buffers[index]
            assert owner.value is not None
            data = self._data[index] = _constant_bytes(owner, owner.value)
        start = extent.start - self._extents[index].start
        return data[start : start + extent.stop - extent.start]


def _same_constant(one: BufferOp, other: BufferOp) -> bool:
    return extent_of(one) == extent_of(other) and one.value == other.value


def _constant_bytes(buffer: BufferOp, value: Attribute) -> Bytes:
    """The bytes of a constant. Raises LoadError when they are not those of the buffer, WeightsError when not there.

    Bytes at an odd address (external data at any offset of a file) are copied once: numpy would copy them on each use.
    """
    name = text_of(buffer.io_name) or buffer.results[0].name_hint or "constant"
    array = array_of(value, name, location_text(buffer))
    size = buffer.size.value.data
    if array.nbytes > size:
        raise _refused(buffer, f"of {size} bytes cannot hold its value of {array.nbytes}")
    if not array.flags.aligned:
        array = array.copy()
    data = bytes_of(array)
    if data.size == size:
        return data
    padded = np.zeros(size, np.uint8)
    padded[: data.size] = data
    return padded
