"""Better orders for first fit: whatever reaches the peak is moved before something that it lies on."""

from __future__ import annotations

import time
from random import Random

import numpy as np

from ge_dialect.analysis.packing.first_fit import first_fit
from ge_dialect.analysis.packing.kernel.binding import Kernel
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.model import Model


def climb(
    model: Model, order: Ints, kernel: Kernel | None, *, target: int, seconds: float, steps: int
) -> tuple[Ints, int]:
    """Offsets and peak, in units, of the best order found from `order` on; ends at `target`."""
    random = Random(0)
    offsets, peak = first_fit(model, order, kernel)
    best, best_peak = offsets, peak
    deadline = time.monotonic() + seconds
    for _ in range(steps):
        if best_peak <= target or time.monotonic() > deadline:
            break
        moved = _moved(model, order, offsets, peak, random)
        if moved is None:
            break
        new_offsets, new_peak = first_fit(model, moved, kernel)
        if new_peak <= peak or random.random() < 0.01:
            order, offsets, peak = moved, new_offsets, new_peak
        if new_peak < best_peak:
            best, best_peak = new_offsets, new_peak
    return best, best_peak


def _moved(model: Model, order: Ints, offsets: Ints, peak: int, random: Random) -> Ints | None:
    """The order with a buffer of the peak moved before a neighbour; None when all of those are fixed."""
    highest = np.flatnonzero((offsets + model.size == peak) & (model.fixed < 0))
    if not highest.size:
        return None
    buffer = int(highest[random.randrange(len(highest))])
    place = np.empty(model.count, dtype=np.int64)
    place[order] = np.arange(model.count)
    near = model.near[buffer]
    before = near[place[near] < place[buffer]]
    at = int(place[before[random.randrange(len(before))]]) if before.size else 0
    rest = np.delete(order, place[buffer])
    return np.insert(rest, at, buffer)
