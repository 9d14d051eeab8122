"""Constructive plans: buffers in some order, each at the lowest free place or in the smallest hole that holds it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ge_dialect.analysis.packing.kernel.binding import Kernel
from ge_dialect.analysis.packing.lists import Ints
from ge_dialect.analysis.packing.model import Model


def first_fit(
    model: Model, order: Ints, kernel: Kernel | None, *, tightest: bool = False
) -> tuple[Ints, int]:
    """Offsets and peak, in units. Fixed buffers come first; a group counts where its first member stands."""
    if kernel is not None:
        return kernel.first_fit(model, order, tightest)
    return FirstFit(model).run(order, tightest=tightest)


class FirstFit:
    """The same in Python."""

    def __init__(self, model: Model) -> None:
        self.near = model.near.as_python()
        self.size: list[int] = model.size.tolist()
        self.align: list[int] = model.align.tolist()
        self.fixed: list[int] = model.fixed.tolist()
        self.relative: list[int] = model.relative.tolist()
        self.group: list[int] = model.group.tolist()
        self.members = model.members.as_python()
        self.offset: list[int] = []

    def run(self, order: Ints, *, tightest: bool) -> tuple[Ints, int]:
        """Offsets and peak, in units."""
        self.offset = list(self.fixed)
        buffers: list[int] = order.tolist()
        for buffer in buffers:
            if self.offset[buffer] >= 0:
                continue
            group = self.group[buffer]
            if group < 0:
                self.offset[buffer] = self._lowest(buffer, 0, 0, tightest)
                continue
            members = self.members[group]
            base = self._base(members)
            for member in members:
                self.offset[member] = base + self.relative[member]
        ends = (at + size for at, size in zip(self.offset, self.size, strict=True))
        return np.array(self.offset, dtype=np.int64), max(ends, default=0)

    def _lowest(self, buffer: int, at: int, shift: int, tightest: bool) -> int:
        """The place for one buffer at `at` or above; it is aligned when less `shift`."""
        size, align, offset = self.size[buffer], self.align[buffer], self.offset
        taken = sorted(
            (offset[u], offset[u] + self.size[u]) for u in self.near[buffer] if offset[u] >= 0
        )
        best, least = -1, 0
        for start, end in taken:
            spare = start - at - size
            if spare >= 0 and (best < 0 or spare < least):
                if not tightest:
                    return at
                best, least = at, spare
            if end > at:
                at = -((shift - end) // align) * align + shift
        return at if best < 0 else best

    def _base(self, members: list[int]) -> int:
        base = 0
        while True:
            before = base
            for member in members:
                shift = self.relative[member]
                base = self._lowest(member, base + shift, shift, False) - shift
            if base == before:
                return base


def orders(model: Model) -> Iterator[tuple[str, Ints]]:
    """Orders worth trying, by name: what is hard to place goes first."""
    size, wide = model.size, model.sections_of.lengths()
    first = np.zeros(model.count, dtype=np.int64)
    some = wide > 0
    first[some] = model.sections_of.items[model.sections_of.start[:-1][some]]
    totals = np.bincount(
        model.sections.owners(),
        weights=model.size[model.sections.items],
        minlength=len(model.sections),
    )
    pressure = np.zeros(model.count)
    np.maximum.at(pressure, model.sections.items, totals[model.sections.owners()])
    yield "size", np.lexsort((first, -wide, -size))
    yield "area", np.lexsort((first, -size * wide))
    yield "life", np.lexsort((first, -size, -wide))
    yield "start", np.lexsort((-size, first))
    yield "pressure", np.lexsort((-size * wide, -pressure))
    yield "end", np.lexsort((-size, -(first + wide)))
