"""Data in one format moved to another, as a TransData node does it.

Everything goes through the origin view: storage -> origin -> storage. Padding is written as zeros and never read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ge_dialect.formats.cube import PLATFORM, CubeTable
from ge_dialect.formats.dtypes import DType, dtype_of_numpy
from ge_dialect.formats.format_table import (
    FIXED_C0,
    FULL_SIZE,
    LETTERS,
    ND,
    NZ_FAMILY,
    groups_of,
    is_public,
    primary,
)
from ge_dialect.formats.reshape_type import expand_dims, reshape_type_mask
from ge_dialect.formats.storage_shape import (
    FRACTAL_N0,
    STORAGE_AXES,
    FormatError,
    Shape,
    check_format,
    enlarge_factor,
    extent,
)

Array: TypeAlias = NDArray[Any]
_CANONICAL = ("N", "C", "D", "H", "W")
_ENDS_WITH_C0 = frozenset(STORAGE_AXES) - frozenset(LETTERS) | {"FRACTAL_Z_C04"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a tensor of `origin_shape` in `origin_format` lies in memory.

    `c0` and `m0` are the block sizes (storage_shape.py takes them from a cube table), `groups` those of FRACTAL_Z.
    `mask` is the reshape type mask of an origin shape with fewer axes than its format has letters; None: the default of
    spec/formats.md section 5.
    """

    storage_format: str
    origin_format: str
    origin_shape: Shape
    c0: int = 16
    m0: int = 16
    groups: int = 0
    mask: int | None = None

    @classmethod
    def of(
        cls,
        storage_format: str,
        origin_format: str,
        origin_shape: Sequence[int],
        dtype: DType,
        *,
        c0: int | None = None,
        table: CubeTable = PLATFORM,
    ) -> Layout:
        """The layout with the block sizes of an element type; `c0` is what the format value carries."""
        return cls(
            storage_format,
            origin_format,
            tuple(origin_shape),
            table.c0(storage_format, dtype, c0),
            table.of(dtype).m0,
            groups_of(storage_format),
        )

    def seen_in(self, storage_shape: Sequence[int]) -> Layout:
        """The layout with the block sizes that a storage shape shows, where its format shows them."""
        storage = primary(self.storage_format)
        if storage in NZ_FAMILY and len(storage_shape) >= 4:
            return replace(self, c0=storage_shape[-1], m0=storage_shape[-2])
        if storage in _ENDS_WITH_C0 and storage_shape:
            return replace(self, c0=storage_shape[-1])
        return self

    def axes(self) -> tuple[tuple[str, ...], Shape]:
        """Letters and lengths of the origin axes, the inserted ones included. Raises FormatError where the origin
        format has no letters or the rank is too high."""
        origin = primary(self.origin_format)
        letters = LETTERS["NCHW"] if origin == ND else LETTERS.get(origin)
        if letters is None:
            raise FormatError(f"format {self.origin_format} cannot be the origin of a layout")
        shape = self.origin_shape
        if len(shape) < len(letters) and origin != ND:
            mask = self.mask
            if not mask:
                mask = reshape_type_mask(origin, self.storage_format, len(shape))
            shape = expand_dims(origin, shape, mask)
        if len(shape) != len(letters):
            raise FormatError(
                f"a tensor of format {origin} and shape {list(self.origin_shape)} cannot be stored as "
                f"{self.storage_format}"
            )
        return letters, shape


def to_storage(array: Array, layout: Layout) -> Array:
    """The tensor (in origin format and shape) as it lies in memory. Raises FormatError for a storage format whose data
    layout is not known, or that cannot hold the tensor."""
    check_format(layout.storage_format)
    special = _special(layout)
    if special is not None:
        return special(array.reshape(layout.origin_shape), layout)
    parts, lengths = _plan(layout)
    letters, shape = layout.axes()
    inner = _canonical(array.reshape(shape), letters)
    inner = _padded(inner, _block_lengths(parts))
    order = [lengths.index(part) for part in _flat(layout)]
    absent = [i for i, part in enumerate(lengths) if part not in _flat(layout)]
    split = inner.reshape([parts[part] for part in lengths])
    return np.ascontiguousarray(split.transpose([*absent, *order])).reshape(
        _merged_shape(layout, parts)
    )


def from_storage(array: Array, layout: Layout) -> Array:
    """The inverse of `to_storage`: the tensor in origin format and shape out of its memory."""
    check_format(layout.storage_format)
    special = _special(layout)
    if special is not None:
        return _gathered(array, layout, special)
    parts, lengths = _plan(layout)
    letters, shape = layout.axes()
    flat = _flat(layout)
    absent = [part for part in lengths if part not in flat]
    stored = [*absent, *flat]
    expected = _merged_shape(layout, parts)
    if array.shape != expected:
        raise FormatError(
            f"storage of shape {list(array.shape)}, expected {list(expected)} for {layout.storage_format} of "
            f"{layout.origin_format} {list(layout.origin_shape)}"
        )
    split = array.reshape([parts[part] for part in stored])
    inner = split.transpose([stored.index(part) for part in lengths]).reshape(_block_lengths(parts))
    sizes = dict(zip(letters, shape, strict=True))
    cropped = inner[tuple(slice(sizes.get(letter, 1)) for letter in _CANONICAL)]
    own = [_CANONICAL.index(letter) for letter in letters]
    rest = [i for i in range(len(_CANONICAL)) if i not in own]
    return np.ascontiguousarray(cropped.transpose([*rest, *own])).reshape(layout.origin_shape)


def transform(
    array: Array,
    source: str,
    target: str,
    *,
    origin_shape: Sequence[int] | None = None,
    origin_format: str | None = None,
    c0: int | None = None,
    table: CubeTable = PLATFORM,
) -> Array:
    """Data in format `source` as data in format `target`.

    The origin format is the public one of the two unless it is given; the origin shape is that of `array` when `array`
    is in origin format, else it is needed. `c0` is what the target's format value carries; that of the source shows in
    its shape. Raises FormatError.
    """
    if origin_format is None:
        origin_format = next((name for name in (source, target) if is_public(primary(name))), None)
        if origin_format is None:
            raise FormatError(f"from {source} to {target}: the origin format is not known")
    if origin_shape is None:
        if primary(source) != primary(origin_format):
            raise FormatError(f"from {source} to {target}: the origin shape is not known")
        origin_shape = array.shape
    dtype = dtype_of_numpy(array.dtype)
    before = Layout.of(source, origin_format, origin_shape, dtype, table=table)
    after = Layout.of(target, origin_format, origin_shape, dtype, c0=c0, table=table)
    return to_storage(from_storage(array, before.seen_in(array.shape)), after)


# --- formats that pad, cut and permute axes ------------------------------------------------------------------------


def _plan(layout: Layout) -> tuple[dict[str, int], list[str]]:
    """Length of each part of the cut axes, and the parts in the order of the canonical axes."""
    storage = primary(layout.storage_format)
    if storage not in STORAGE_AXES:
        raise FormatError(f"the data layout of format {storage} is not known")
    letters, shape = layout.axes()
    sizes = {**dict.fromkeys(_CANONICAL, 1), **dict(zip(letters, shape, strict=True))}
    flat = _flat(layout)
    names: list[str] = []
    for letter in _CANONICAL:
        cut = f"{letter}1" in flat
        names += [f"{letter}1", f"{letter}0"] if cut else [letter]
        if not cut and letter not in flat and sizes[letter] != 1:
            raise FormatError(
                f"{layout.storage_format} has no axis {letter}, which has length {sizes[letter]}"
            )
    c0 = FIXED_C0.get(storage, layout.c0)
    return {name: extent(name, sizes, c0) for name in names}, names


def _flat(layout: Layout) -> list[str]:
    merged = STORAGE_AXES[primary(layout.storage_format)]
    return [part for parts in merged for part in parts]


def _merged_shape(layout: Layout, parts: Mapping[str, int]) -> Shape:
    merged = STORAGE_AXES[primary(layout.storage_format)]
    return tuple(prod(parts[part] for part in group) for group in merged)


def _block_lengths(parts: Mapping[str, int]) -> list[int]:
    """Lengths of the canonical axes with their padding."""
    return [
        parts[letter] if letter in parts else parts[f"{letter}1"] * parts[f"{letter}0"]
        for letter in _CANONICAL
    ]


def _canonical(array: Array, letters: Sequence[str]) -> Array:
    """The array with axes N, C, D, H, W."""
    present = [letter for letter in _CANONICAL if letter in letters]
    moved = array.transpose([letters.index(letter) for letter in present])
    sizes = dict(zip(present, moved.shape, strict=True))
    return moved.reshape([sizes.get(letter, 1) for letter in _CANONICAL])


def _padded(array: Array, lengths: Sequence[int]) -> Array:
    if array.shape == tuple(lengths):
        return array
    result: Array = np.zeros(lengths, array.dtype)
    result[tuple(slice(size) for size in array.shape)] = array
    return result


# --- formats with a rule of their own ------------------------------------------------------------------------------

_Special: TypeAlias = Callable[[Array, Layout], Array]


def _special(layout: Layout) -> _Special | None:
    storage, origin = primary(layout.storage_format), primary(layout.origin_format)
    if storage == origin or (storage == ND and is_public(origin)) or not layout.origin_shape:
        return _same
    if origin == ND and is_public(storage):
        return _same
    if storage in NZ_FAMILY:
        return _nz
    if storage == "FRACTAL_Z" and len(layout.origin_shape) == 2 and origin in FULL_SIZE:
        return _matrix_z
    if storage in ("FRACTAL_Z", "FRACTAL_Z_3D"):
        groups = layout.groups or groups_of(layout.storage_format)
        letters, shape = layout.axes()
        return _grouped if groups > 1 and shape[letters.index("N")] >= groups else None
    return _BY_NAME.get(storage)


def _gathered(array: Array, layout: Layout, store: _Special) -> Array:
    """Invert a layout by storing the elements' numbers in it; 0 is padding."""
    count = prod(layout.origin_shape)
    numbers = store(np.arange(1, count + 1).reshape(layout.origin_shape), layout)
    if numbers.shape != array.shape:
        raise FormatError(
            f"storage of shape {list(array.shape)}, expected {list(numbers.shape)} for {layout.storage_format} of "
            f"{layout.origin_format} {list(layout.origin_shape)}"
        )
    result: Array = np.empty(count, array.dtype)
    filled = numbers > 0
    result[numbers[filled] - 1] = array[filled]
    return result.reshape(layout.origin_shape)


def _same(array: Array, layout: Layout) -> Array:
    return array


def _nz(array: Array, layout: Layout) -> Array:
    if array.ndim == 1:
        array = array[:, None]
    *outer, rows, columns = array.shape
    c0, m0 = FIXED_C0.get(primary(layout.storage_format), layout.c0), layout.m0
    high, wide = -(-rows // m0), -(-columns // c0)
    cut = _padded(array, (*outer, high * m0, wide * c0)).reshape(*outer, high, m0, wide, c0)
    r = len(outer)
    return np.ascontiguousarray(cut.transpose(*range(r), r + 2, r, r + 1, r + 3))


def _matrix_z(array: Array, layout: Layout) -> Array:
    """A matrix [K, N]: blocks of C0 rows and 16 columns, each stored column by column."""
    rows, columns = array.shape
    c0 = layout.c0
    high, wide = -(-rows // c0), -(-columns // FRACTAL_N0)
    cut = _padded(array, (high * c0, wide * FRACTAL_N0)).reshape(high, c0, wide, FRACTAL_N0)
    return np.ascontiguousarray(cut.transpose(0, 2, 3, 1))


def _grouped(array: Array, layout: Layout) -> Array:
    """Weights of a convolution with groups: `factor` groups lie on the diagonal of one block (spec/formats.md 3)."""
    letters, shape = layout.axes()
    inner = _canonical(array.reshape(shape), letters)
    total, channels, *window = inner.shape
    groups, c0 = layout.groups or groups_of(layout.storage_format), layout.c0
    columns = total // groups
    if columns * groups != total:
        raise FormatError(f"{total} output channels are no multiple of {groups} groups")
    factor = enlarge_factor(channels, columns, c0, groups)
    if factor == 0:
        return np.zeros((0, 0, FRACTAL_N0, c0), array.dtype)
    outer = -(-groups // factor)
    deep, wide = -(-channels * factor // c0), -(-columns * factor // FRACTAL_N0)
    full: Array = np.zeros((outer, wide * FRACTAL_N0, deep * c0, *window), array.dtype)
    for group in range(groups):
        block, place = divmod(group, factor)
        full[
            block,
            place * columns : (place + 1) * columns,
            place * channels : (place + 1) * channels,
        ] = inner[group * columns : (group + 1) * columns]
    cut = full.reshape(outer, wide, FRACTAL_N0, deep, c0, *window)
    # G, D, C1, H, W, then N1, N0, C0
    stored = np.ascontiguousarray(cut.transpose(0, 5, 3, 6, 7, 1, 2, 4))
    return stored.reshape(outer * deep * prod(window), wide, FRACTAL_N0, c0)


def _c04(array: Array, layout: Layout) -> Array:
    """Weights of at most four channels: rows are (H, W, 4 channels), then blocks of C0 rows and 16 columns."""
    letters, shape = layout.axes()
    inner = _canonical(array.reshape(shape), letters)
    columns, channels, depth, height, width = inner.shape
    if channels > 4 or depth != 1:
        raise FormatError(f"FRACTAL_Z_C04 holds at most 4 channels, not {channels} x {depth}")
    padded = _padded(inner[:, :, 0], (columns, 4, height, width))
    rows = padded.transpose(2, 3, 1, 0).reshape(height * width * 4, columns)
    return _matrix_z(rows, layout)


def _lstm(array: Array, layout: Layout) -> Array:
    """Weights [input + hidden, 4 gates of hidden]: input rows, hidden rows and each gate are padded on their own."""
    letters, shape = layout.axes()
    inner = _canonical(array.reshape(shape), letters)
    columns, rows, *window = inner.shape
    hidden = columns // 4
    if prod(window) != 1 or columns != 4 * hidden or rows < hidden:
        raise FormatError(
            f"FRACTAL_ZN_LSTM holds [input + h, 4 h] weights, not {list(layout.origin_shape)}"
        )
    matrix = inner.reshape(columns, rows).T
    block = FRACTAL_N0
    given, high = rows - hidden, -(-hidden // block)
    gates = [
        _padded(matrix[:, gate * hidden : (gate + 1) * hidden], (rows, high * block))
        for gate in range(4)
    ]
    wide = np.concatenate(gates, axis=1)
    low = -(-given // block)
    top = _padded(wide[:given], (low * block, wide.shape[1]))
    bottom = _padded(wide[given:], (high * block, wide.shape[1]))
    return _matrix_z(np.concatenate([top, bottom]), replace(layout, c0=block))


_BY_NAME: Mapping[str, _Special] = MappingProxyType(
    {"FRACTAL_Z_C04": _c04, "FRACTAL_ZN_LSTM": _lstm}
)
