"""From shapes of lower rank to the full letters of their format (spec/formats.md section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ge_dialect.formats.errors import GeError
from ge_dialect.formats.format_table import FULL_SIZE, LETTERS, ND, NZ_FAMILY, primary

FORBIDDEN = "FORBIDDEN"
_SIZE_SHIFT = 56

DEFAULTS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "NCHW": {0: "", 1: "C", 2: "CH", 3: "CHW"},
        "NHWC": {0: "", 1: "C", 2: "HW", 3: "HWC"},
        "HWCN": {0: "", 1: "C", 2: "CN", 3: "WCN"},
        "CHWN": {0: "", 1: "C", 2: "WN", 3: "HWN"},
        "NDHWC": {0: "", 1: "C", 2: "WC", 3: "HWC", 4: "DHWC"},
        "NCDHW": {0: "", 1: "C", 2: "HW", 3: "DHW", 4: "CDHW"},
        "DHWCN": {0: "", 1: "C", 2: "CN", 3: "WCN", 4: "HWCN"},
        "DHWNC": {0: "", 1: "C", 2: "NC", 3: "WNC", 4: "HWNC"},
    }
)
"""The letters that a shape of some rank is taken to have when nothing says otherwise."""


class ReshapeTypeError(GeError):
    """A reshape type that does not go with the rank of the shape."""


def is_valid(reshape_type: str, origin_format: str, rank: int) -> bool:
    """Whether a reshape type is a subsequence of the format's letters; the empty one is for rank 0 only."""
    if not reshape_type:
        return rank == 0
    at = -1
    letters = LETTERS.get(primary(origin_format), ())
    for letter in reshape_type:
        if letter not in letters or letters.index(letter) <= at:
            return False
        at = letters.index(letter)
    return True


def reshape_type_mask(
    origin_format: str, storage_format: str, rank: int, reshape_type: str = ""
) -> int:
    """The mask of inserted letters: bit i is letter i of the origin format, the top byte the number of letters.

    0 where nothing is inserted. Raises ReshapeTypeError when the rank is greater than the number of letters given.
    """
    origin, storage = primary(origin_format), primary(storage_format)
    full = FULL_SIZE.get(origin)
    if full is None or rank >= full or reshape_type == FORBIDDEN:
        return 0
    if storage == ND or storage in NZ_FAMILY or storage in ("ND_RNN_BIAS", "FRACTAL_ZN_RNN"):
        return 0
    if origin == ND:
        # FRACTAL_Z is named by the rules; ND has no letters to insert for the others either.
        return 0
    if not is_valid(reshape_type, origin, rank):
        reshape_type = DEFAULTS[origin][rank]
    if rank > len(reshape_type):
        raise ReshapeTypeError(
            f"reshape type {reshape_type} has {len(reshape_type)} letters, the shape has rank {rank}"
        )
    kept = reshape_type[:rank]
    mask = full << _SIZE_SHIFT
    for place, letter in enumerate(LETTERS[origin]):
        if letter not in kept:
            mask |= 1 << place
    return mask


def expand_dims(origin_format: str, shape: Sequence[int], mask: int) -> tuple[int, ...]:
    """The shape with ones at the letters that the mask inserts; unchanged for the mask 0.

    Raises ReshapeTypeError when mask and rank do not go together.
    """
    if mask == 0:
        return tuple(shape)
    full = FULL_SIZE[primary(origin_format)]
    inserted = [bool(mask >> place & 1) for place in range(full)]
    if inserted.count(False) != len(shape):
        raise ReshapeTypeError(
            f"the mask {mask:#x} keeps {inserted.count(False)} letters, the shape has rank {len(shape)}"
        )
    rest = iter(shape)
    return tuple(1 if insert else next(rest) for insert in inserted)
