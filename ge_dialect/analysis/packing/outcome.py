"""What a search is given and what it says, in Python as in the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from ge_dialect.analysis.packing.lists import Ints


class Verdict(IntEnum):
    """What a search found out; the numbers are the kernel's."""

    NONE = 0
    """There is no plan within the capacity."""
    FITS = 1
    LIMIT = 2
    """Not decided within the limits."""


class Feature(IntFlag):
    """Techniques of the search that can be switched off to see what they bring; the numbers are the kernel's."""

    TABLE = 1
    """States that were shown to fail are remembered."""
    DOMINANCE = 2
    """Choices after which something could still drop are left out, those that harm nobody are made at once."""
    INFERENCE = 4
    """Sections are checked by where each buffer can begin, and tell which buffer must be their lowest."""
    SPLIT = 8
    """Parts that have come apart are solved one by one."""
    RESTART = 16
    """After some nodes the search begins again with another strategy."""
    ALL = 31


@dataclass(frozen=True, slots=True)
class Limits:
    """`nodes` and `seconds` at most; the first strategy gets `first_nodes`, later ones more. `table_bits`: how many
    failed states are remembered, as a power of two; at 20 the kernel's table is 16 MB, of which what is written to is
    taken.
    """

    seconds: float
    nodes: int = 1 << 60
    first_nodes: int = 1000
    features: Feature = Feature.ALL
    table_bits: int = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """Offsets in units when the verdict is FITS."""

    verdict: Verdict
    offsets: Ints | None
    nodes: int
    restarts: int
