"""The compiled kernel, where the wheel could build it; None otherwise, and Python does the same."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ge_dialect.analysis.packing.clocks import Chains
from ge_dialect.analysis.packing.kernel.build import library_path, source_digest
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.model import Model
from ge_dialect.analysis.packing.outcome import Limits, Outcome, Verdict

_INT = ctypes.c_int64
_POINTER = ctypes.c_void_p


def _ints(names: str) -> list[tuple[str, type[ctypes.c_int64]]]:
    return [(name, _INT) for name in names.split()]


_ARRAYS = (
    "size align fixed relative twin group near_start near member_start member "
    "in_section_start in_section sections_of_start sections_of"
)


class _Problem(ctypes.Structure):
    _fields_ = [
        *_ints("buffers sections capacity"),
        *((name, _POINTER) for name in _ARRAYS.split()),
    ]


class _Options(ctypes.Structure):
    _fields_ = [*_ints("nodes first_nodes features table_bits"), ("seconds", ctypes.c_double)]


class _Statistics(ctypes.Structure):
    _fields_ = _ints("nodes restarts known checks")


@dataclass(frozen=True, slots=True)
class Kernel:
    """The loaded library."""

    library: ctypes.CDLL

    def first_fit(self, model: Model, order: Ints, tightest: bool) -> tuple[Ints, int]:
        """Offsets and peak, in units. Raises ValueError when the order does not list every buffer."""
        if len(order) != model.count:
            raise ValueError(f"an order of {len(order)} for {model.count} buffers")
        offset = np.zeros(model.count, dtype=np.int64)
        order = np.ascontiguousarray(order, dtype=np.int64)
        problem, _kept = _problem(model, 0)
        peak = self.library.ge_pack_first_fit(
            ctypes.byref(problem), _address(order), _INT(int(tightest)), _address(offset)
        )
        if peak < 0:
            raise MemoryError
        return offset, int(peak)

    def search(self, model: Model, capacity: int, limits: Limits) -> Outcome:
        """Whether there is a plan within `capacity` units."""
        offset = np.zeros(model.count, dtype=np.int64)
        problem, _kept = _problem(model, capacity)
        options = _Options(
            limits.nodes,
            limits.first_nodes,
            limits.features,
            limits.table_bits,
            limits.seconds,
        )
        statistics = _Statistics()
        result = self.library.ge_pack_search(
            ctypes.byref(problem), ctypes.byref(options), _address(offset), ctypes.byref(statistics)
        )
        verdict = Verdict(result)
        return Outcome(
            verdict,
            offset if verdict is Verdict.FITS else None,
            statistics.nodes,
            statistics.restarts,
        )

    def antichain(self, chains: Chains, sizes: Ints, most_steps: int) -> Ints | None:
        """The buffers of the heaviest antichain, ascending; None when `most_steps` were not enough."""
        order = chains.order
        weight = np.ascontiguousarray(sizes[order])
        chain = np.ascontiguousarray(chains.chain[order])
        after = np.ascontiguousarray(chains.after[order])
        end = np.ascontiguousarray(chains.end)
        member = np.zeros(len(order), dtype=np.int64)
        arrays = [_address(array) for array in (weight, end, chain, after)]
        found = self.library.ge_pack_antichain(
            _INT(len(order)), _INT(chains.count), *arrays, _INT(most_steps), _address(member)
        )
        if found == -2:
            raise MemoryError
        return None if found < 0 else np.sort(order[member > 0])


def _address(array: Ints) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _problem(model: Model, capacity: int) -> tuple[_Problem, list[Ints]]:
    arrays = [
        model.size,
        model.align,
        model.fixed,
        model.relative,
        model.twin,
        model.group,
        model.near.start,
        model.near.items,
        model.members.start,
        model.members.items,
        model.sections.start,
        model.sections.items,
        model.sections_of.start,
        model.sections_of.items,
    ]
    kept = [np.ascontiguousarray(array, dtype=np.int64) for array in arrays]
    pointers = [_address(array) for array in kept]
    return _Problem(model.count, len(model.sections), capacity, *pointers), kept


@cache
def kernel() -> Kernel | None:
    """The kernel; None when it was not compiled, or from other sources than those that lie beside it."""
    return load(library_path())


def load(path: Path) -> Kernel | None:
    """A kernel from a file."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    library.ge_pack_digest.restype = ctypes.c_char_p
    if library.ge_pack_digest() != source_digest().encode():
        return None
    library.ge_pack_search.restype = ctypes.c_int
    library.ge_pack_first_fit.restype = _INT
    library.ge_pack_antichain.restype = _INT
    return Kernel(library)
