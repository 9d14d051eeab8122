"""Inputs for a program when the user gives none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ge_dialect.formats.errors import GeError
from ge_dialect.runtime import TensorSlot


def random_inputs(slots: Sequence[TensorSlot], seed: int) -> dict[str, np.ndarray]:
    """An array for each slot, the same for the same seed.

    Floats are normal, integers 0 or 1 (safe as indices, masks and counts), booleans and strings drawn from two values.
    Raises GeError for slots of unknown shape or that are no tensors.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for slot in slots:
        try:
            found[slot.name] = _random(slot, rng)
        except (ValueError, MemoryError) as error:
            raise GeError(f"no random values for input {slot}: {error}") from error
    return found


def _random(slot: TensorSlot, rng: np.random.Generator) -> np.ndarray:
    dtype, shape = slot.dtype, slot.shape
    if dtype is None or shape is None or -1 in shape:
        raise GeError(f"no random values for input {slot}; give it with --inputs")
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "O":
        words = np.array(["left", "right"], object)
        return words[rng.integers(0, 2, shape)]
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        return rng.standard_normal(shape).astype(dtype)
    # ml_dtypes: integers of few bits and small floats, which numpy does not count as its own kinds.
    try:
        with np.errstate(all="ignore"):
            return rng.integers(0, 2, shape).astype(dtype)
    except TypeError as error:
        raise GeError(f"no random values for input {slot}; give it with --inputs") from error
