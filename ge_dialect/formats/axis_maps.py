"""Which storage axis an origin axis becomes, and in what units (spec/formats.md section 4, "service B").

This is what the no-task checks reason with. It knows fewer storage formats than the shape formulas and always takes C0
from the element type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from ge_dialect.formats.cube import Cube
from ge_dialect.formats.format_table import FULL_SIZE, LETTERS, ND, NZ_FAMILY, primary

AxisMap: TypeAlias = tuple[tuple[int, ...], ...]
"""One entry an axis: the axes of the other side that it becomes; -1 = none."""

STORAGE_LETTERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **LETTERS,
        "NC1HWC0": ("N", "C1", "H", "W", "C0"),
        "NDC1HWC0": ("N", "D", "C1", "H", "W", "C0"),
        "FRACTAL_Z": ("C1HW", "N1", "N0", "C0"),
    }
)
"""Letters of the storage axes; formats that are not here have no maps."""

_CHANNEL_SPLIT = MappingProxyType({"C": ("C1", "C0"), "C1": ("C",), "C0": ("C",)})
SPLITS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "NC1HWC0": _CHANNEL_SPLIT,
        "NDC1HWC0": _CHANNEL_SPLIT,
        "FRACTAL_Z": MappingProxyType(
            {
                "N": ("N1", "N0"),
                "C": ("C1HW", "C0"),
                "H": ("C1HW",),
                "W": ("C1HW",),
                "C1HW": ("C", "H", "W"),
                "N1": ("N",),
                "N0": ("N",),
                "C0": ("C",),
            }
        ),
    }
)
"""By storage format: a letter -> the letters on the other side, in order."""

_NO_SPLIT: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def _kept(origin_format: str, rank: int, mask: int) -> tuple[int, ...] | None:
    """Which letters of the origin format the shape has, by place; None when format and rank do not go together."""
    full = FULL_SIZE[origin_format]
    if rank == full:
        return tuple(range(full))
    if rank > full or mask <= 0:
        return None
    return tuple(i for i in range(full) if not mask >> i & 1) or None


def aligned_shape(
    origin_format: str,
    storage_format: str,
    origin_shape: Sequence[int],
    cube: Cube,
    reshape_type_mask: int = 0,
) -> tuple[int, ...] | None:
    """For each origin axis the unit in which it can be cut without cutting a storage block; None: not supported.

    `cube` holds the numbers of the element type. With fewer axes than the origin format has letters,
    `reshape_type_mask` says which letters were inserted.
    """
    origin, storage = primary(origin_format), primary(storage_format)
    rank = len(origin_shape)
    if origin == storage:
        return (1,) * rank
    if origin == ND or storage in NZ_FAMILY:
        if storage not in NZ_FAMILY or rank < 2:
            return None
        return (*(1,) * (rank - 2), cube.m0, cube.k0)
    if origin not in LETTERS or (kept := _kept(origin, rank, reshape_type_mask)) is None:
        return None
    splits = SPLITS.get(storage, _NO_SPLIT)
    units = {"N": cube.n0, "C": cube.k0}
    letters = [LETTERS[origin][i] for i in kept]
    return tuple(
        units.get(letter, 1) if len(splits.get(letter, ())) > 1 else 1 for letter in letters
    )


def transfer_dims(
    origin_format: str,
    storage_format: str,
    origin_shape: Sequence[int],
    reshape_type_mask: int = 0,
) -> tuple[AxisMap, AxisMap] | None:
    """Maps from origin axes to storage axes and back; None: not supported."""
    origin, storage = primary(origin_format), primary(storage_format)
    rank = len(origin_shape)
    if origin == storage:
        same = tuple((i,) for i in range(rank))
        return same, same
    if origin == ND or storage in NZ_FAMILY:
        if storage not in NZ_FAMILY or rank < 2:
            return None
        swapped = (*((i,) for i in range(rank - 2)), (rank - 1,), (rank - 2,))
        return swapped, (*swapped, (-1,), (-1,))
    if origin not in LETTERS or storage not in STORAGE_LETTERS:
        return None
    kept = _kept(origin, rank, reshape_type_mask)
    if kept is None:
        return None
    splits = SPLITS.get(storage, _NO_SPLIT)
    letters = LETTERS[origin]
    storage_place = {letter: i for i, letter in enumerate(STORAGE_LETTERS[storage])}
    origin_place = {letters[i]: place for place, i in enumerate(kept)}
    to_storage = tuple(_places(letters[i], splits, storage_place) for i in kept)
    to_origin = tuple(_places(letter, splits, origin_place) for letter in STORAGE_LETTERS[storage])
    return to_storage, to_origin


def _places(
    letter: str, splits: Mapping[str, tuple[str, ...]], place: Mapping[str, int]
) -> tuple[int, ...]:
    return tuple(place.get(other, -1) for other in splits.get(letter, (letter,)))
