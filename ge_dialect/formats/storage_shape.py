"""The storage shape of an origin shape (spec/formats.md section 3, "service A").

Unknown dimensions are -1 and stay unknown in whatever they go into.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, lcm
from types import MappingProxyType
from typing import TypeAlias

from ge_dialect.formats.cube import PLATFORM, CubeTable
from ge_dialect.formats.dtypes import DType
from ge_dialect.formats.errors import GeError
from ge_dialect.formats.format_table import (
    FORMATS,
    FULL_SIZE,
    LETTERS,
    ND,
    NZ_FAMILY,
    groups_of,
    is_public,
    primary,
)

Shape: TypeAlias = tuple[int, ...]
UNKNOWN_RANK = -2

STORAGE_AXES: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        **{name: tuple((letter,) for letter in letters) for name, letters in LETTERS.items()},
        "NC1HWC0": (("N",), ("C1",), ("H",), ("W",), ("C0",)),
        "NC1HWC0_C04": (("N",), ("C1",), ("H",), ("W",), ("C0",)),
        "NDC1HWC0": (("N",), ("D",), ("C1",), ("H",), ("W",), ("C0",)),
        "FRACTAL_Z": (("D", "C1", "H", "W"), ("N1",), ("N0",), ("C0",)),
        "FRACTAL_Z_3D": (("D", "C1", "H", "W"), ("N1",), ("N0",), ("C0",)),
        "FRACTAL_Z_3D_TRANSPOSE": (("D", "N1", "H", "W"), ("C1",), ("N0",), ("C0",)),
    }
)
"""The storage axes of formats that only pad, cut and permute, each as the parts that it merges, outermost first.

N, C, D, H, W are the origin's axes; C is cut into C1 blocks of C0, N into N1 blocks of N0.
"""

_SHAPE_ONLY: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        # From N, not C: as the reference has it.
        "C1HWC0": (("N by C0",), ("H",), ("W",), ("C0",)),
        "C1HWNCoC0": (("C1",), ("H",), ("W",), ("N1",), ("C0",), ("C0",)),
        "FRACTAL_Z_WINO": (("C1",), ("N1",), ("2",), ("H", "W"), ("8",), ("C0",)),
        "FRACTAL_Z_C04": (("4HW by C0",), ("N1",), ("N0",), ("C0",)),
    }
)

_FIVE_AXES = frozenset({"NDHWC", "NCDHW", "DHWCN", "DHWNC", "FRACTAL_Z_3D", "FRACTAL_Z_3D_TRANSPOSE"})  # fmt: skip
FRACTAL_N0 = 16
"""Width of the blocks of N in all fractal formats of weights."""


class FormatError(GeError):
    """A format, or a pair of formats, that nothing is known about."""


def ceil_div(value: int, block: int) -> int:
    """Blocks needed for `value`: 0 for blocks of nothing, -1 for an unknown value."""
    if block == 0:
        return 0
    return -1 if value < 0 else (value + block - 1) // block


def product(factors: Sequence[int]) -> int:
    """The product; -1 when a factor is unknown."""
    result = 1
    for factor in factors:
        if factor < 0:
            return -1
        result *= factor
    return result


def check_format(name: str) -> None:
    """Raises FormatError for a name that is no format."""
    if primary(name) not in FORMATS:
        raise FormatError(f"'{name}' is no format")


def storage_shape(
    shape: Sequence[int],
    origin_format: str,
    storage_format: str,
    dtype: DType,
    *,
    table: CubeTable = PLATFORM,
    c0: int | None = None,
    groups: int = 0,
    pair: bool = False,
) -> Shape:
    """The shape in storage format of a tensor of `shape` in origin format.

    `c0` is the C0 that the format value carries, `groups` the number of groups of FRACTAL_Z and FRACTAL_Z_3D (or write
    `FRACTAL_Z:8`). `pair` selects the reference's second entry point, which differs at the edges. A shape of too low a
    rank comes back unchanged: expand it first (`reshape_type`). Raises FormatError for a name that is no format, an
    element type without width, or a storage format without a formula.
    """
    check_format(origin_format)
    check_format(storage_format)
    if dtype.bits == 0:
        raise FormatError(f"elements of type {dtype.name} have no storage")
    origin, storage = primary(origin_format), primary(storage_format)
    dims = tuple(shape)
    if not dims or UNKNOWN_RANK in dims or (origin == ND and is_public(storage)):
        return dims
    width = table.c0(storage, dtype, c0)
    if storage in NZ_FAMILY:
        return nz_shape(dims, width, table.of(dtype).m0)
    if storage == "FRACTAL_Z" and len(dims) == 2 and is_public(origin):
        return (ceil_div(dims[0], width), ceil_div(dims[1], FRACTAL_N0), FRACTAL_N0, width)
    if storage == "NYUV_A":
        return _nyuv_a(dims)
    axes = axis_values(dims, origin, storage, pair)
    if axes is None or storage == ND:
        return dims
    return _by_letters(storage, axes, width, groups or groups_of(storage_format), pair)


def _by_letters(storage: str, axes: Mapping[str, int], c0: int, groups: int, pair: bool) -> Shape:
    if storage == "FRACTAL_ZN_LSTM":
        return _lstm_shape(axes)
    if storage == "FRACTAL_Z" and pair:
        axes = {**axes, "D": 1}
    if storage in ("FRACTAL_Z", "FRACTAL_Z_3D") and groups > 1 and axes["N"] >= groups:
        return _grouped_shape(axes, c0, groups)
    merged = STORAGE_AXES.get(storage) or _SHAPE_ONLY.get(storage)
    if merged is None:
        raise FormatError(f"no storage shape is known for format {storage}")
    return tuple(product([extent(part, axes, c0) for part in parts]) for parts in merged)


def extent(part: str, axes: Mapping[str, int], c0: int) -> int:
    """The length of one part of a storage axis."""
    match part:
        case "C1":
            return ceil_div(axes["C"], c0)
        case "C0":
            return c0
        case "N1":
            return ceil_div(axes["N"], FRACTAL_N0)
        case "N0":
            return FRACTAL_N0
        case "N by C0":
            return ceil_div(axes["N"], c0)
        case "4HW by C0":
            return ceil_div(product((4, axes["H"], axes["W"])), c0)
        case "2" | "8":
            return int(part)
        case _:
            return axes[part]


def nz_shape(dims: Shape, c0: int, m0: int) -> Shape:
    """The shape of a matrix (or a stack of them) in the FRACTAL_NZ family; a vector [a] counts as [a, 1]."""
    if len(dims) == 1:
        dims = (*dims, 1)
    return (*dims[:-2], ceil_div(dims[-1], c0), ceil_div(dims[-2], m0), m0, c0)


def _nyuv_a(dims: Shape) -> Shape:
    if len(dims) not in (3, 4):
        return dims
    rounded = list(dims)
    for place, block in ((-2, 64), (-3, 16)):
        if rounded[place] >= 0:
            rounded[place] = ceil_div(rounded[place], block) * block
    return tuple(rounded)


def enlarge_factor(channels: int, columns: int, c0: int, groups: int) -> int:
    """How many groups of `channels` x `columns` share a block, so that little of it is padding; 0 for empty groups."""
    if channels == 0 or columns == 0:
        return 0
    return min(lcm(c0 // gcd(channels, c0), FRACTAL_N0 // gcd(columns, FRACTAL_N0)), groups)


def _grouped_shape(axes: Mapping[str, int], c0: int, groups: int) -> Shape:
    if axes["C"] < 0:
        return (-1, -1, FRACTAL_N0, c0)
    columns = axes["N"] // groups
    factor = enlarge_factor(axes["C"], columns, c0, groups)
    outer = [
        ceil_div(groups, factor),
        ceil_div(axes["C"] * factor, c0),
        *(axes[letter] for letter in "DHW"),
    ]
    return (product(outer), ceil_div(columns * factor, FRACTAL_N0), FRACTAL_N0, c0)


def _lstm_shape(axes: Mapping[str, int]) -> Shape:
    if axes["N"] < 0 or axes["C"] < 0:
        return (-1, -1, FRACTAL_N0, FRACTAL_N0)
    hidden = axes["N"] // 4
    given = axes["C"] - hidden
    blocks = ceil_div(hidden, 16)
    return (ceil_div(given, 16) + blocks, 4 * blocks, 16, 16)


# --- reading the origin shape by letter ------------------------------------------------------------------------------

_ONES = MappingProxyType(dict.fromkeys("NCDHW", 1))
_READABLE_IN_PLACE = frozenset(LETTERS) - {"CHWN"}


def axis_values(
    dims: Shape, origin: str, storage: str, pair: bool = False
) -> Mapping[str, int] | None:
    """Length of each letter in the origin shape, 1 for a letter it does not have; None where the shape cannot be read
    and hence stays as it is."""
    if pair:
        return _axis_values_pair(dims, origin, storage)
    if origin == ND:
        # Read as NCHW; of any other rank nothing is read.
        return {**_ONES, **dict(zip("NCHW", dims, strict=True))} if len(dims) == 4 else _ONES
    if origin == "NC1HWC0":
        return _of_five(dims) if len(dims) >= 4 else None
    if origin == "C1HWNCoC0":
        return _of_six(dims) if len(dims) >= 6 else None
    if origin not in _READABLE_IN_PLACE or len(dims) < FULL_SIZE[origin]:
        return None
    return {**_ONES, **dict(zip(LETTERS[origin], dims, strict=False))}


def _axis_values_pair(dims: Shape, origin: str, storage: str) -> Mapping[str, int] | None:
    if len(dims) < (5 if storage in _FIVE_AXES else 4):
        return None
    letters = ("N", "C", "H", "W", "D") if origin == ND else LETTERS.get(origin)
    if letters is None:
        return None
    return {**_ONES, **dict(zip(letters, dims, strict=False))}


def _of_five(dims: Shape) -> Mapping[str, int]:
    channels = product((dims[1], dims[4])) if len(dims) == 5 else dims[1]
    return {**_ONES, "N": dims[0], "C": channels, "H": dims[2], "W": dims[3]}


def _of_six(dims: Shape) -> Mapping[str, int]:
    return {
        **_ONES,
        "C": product((dims[0], dims[5])),
        "H": dims[1],
        "W": dims[2],
        "N": dims[3],
    }
