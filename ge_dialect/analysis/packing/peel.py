"""Buffers that always find a place, whatever is done with the others: the search need not look at them.

A neighbour v keeps u from lying at size[v] + size[u] - 1 addresses at most. When all neighbours together keep it from
fewer addresses than there are within the capacity, u can wait until they are placed. Without u its neighbours have
less to fear, so this goes on; what remains is the hard core.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ge_dialect.analysis.packing.first_fit import first_fit
from ge_dialect.analysis.packing.kernel.binding import Kernel
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.model import Model


@dataclass(frozen=True, slots=True)
class Peeled:
    """The buffers of the core, and the others in the order in which they can be placed behind it."""

    core: NDArray[np.bool_]
    behind: Ints


def peel(model: Model, capacity: int) -> Peeled:
    """Split a model for a capacity in units. Fixed and grouped buffers stay in the core."""
    owners, others = model.near.owners(), model.near.items
    blocked = -(-(model.size[others] + model.size[owners] - 1) // model.align[owners])
    total = np.bincount(owners, weights=blocked, minlength=model.count).astype(np.int64)
    room = (capacity - model.size) // model.align + 1
    core = np.ones(model.count, dtype=np.bool_)
    bound = (model.fixed >= 0) | (model.group >= 0)
    rounds: list[Ints] = []
    while (gone := core & ~bound & (total < room)).any():
        rounds.append(np.flatnonzero(gone))
        core &= ~gone
        leaving = gone[others]
        total -= np.bincount(
            owners[leaving], weights=blocked[leaving], minlength=model.count
        ).astype(np.int64)
    behind = np.concatenate([*reversed(rounds), np.zeros(0, dtype=np.int64)])
    return Peeled(core, behind)


def put_back(model: Model, peeled: Peeled, offsets: Ints, kernel: Kernel | None) -> Ints:
    """Offsets of all buffers from those of the core."""
    fixed = np.full(model.count, -1, dtype=np.int64)
    fixed[peeled.core] = offsets
    settled = replace(model, fixed=fixed)
    order = np.concatenate([np.flatnonzero(peeled.core), peeled.behind])
    return first_fit(settled, order, kernel)[0]
