"""The state of the search: how low each buffer can lie, what follows from that, and how to take it back."""

from __future__ import annotations

from collections.abc import Iterator

from ge_dialect.analysis.packing.model import Model

_RAISED, _PLACED, _PINNED = range(3)
_MASK = (1 << 64) - 1


def _mixed(x: int) -> int:
    """64 bits in which each depends on all bits of x."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31


def _code(buffer: int, low: int, is_pinned: bool) -> int:
    """128 bits for a buffer in its state, the kernel's two halves one above the other."""
    first = _mixed((buffer * 0x9E3779B97F4A7C15 + 2 * low + is_pinned) & _MASK)
    return first | _mixed(first ^ 0xABCDEF1234567) << 64


class SearchState:
    """Every unplaced buffer v lies at `low[v]` or above; `pin[v]` is its address when that is settled, else -1.

    Per section: `rest`, the units of its unplaced buffers, `left`, how many those are, and `weight`, how often it
    proved that there is no way on. `code` sums up the unplaced buffers with their `low` and `pin`, so that equal
    states of a part have equal sums. Its lowest 64 bits are the kernel's: both remember a state in the same place.
    """

    def __init__(self, model: Model, capacity: int, *, inference: bool) -> None:
        self.capacity = capacity
        self.inference = inference
        self.size: list[int] = model.size.tolist()
        self.align: list[int] = model.align.tolist()
        self.relative: list[int] = model.relative.tolist()
        self.group: list[int] = model.group.tolist()
        self.near = model.near.as_python()
        self.members = model.members.as_python()
        self.sections = model.sections.as_python()
        self.sections_of = model.sections_of.as_python()
        self.low = [self.relative[v] if self.group[v] >= 0 else 0 for v in range(len(self.size))]
        self.pin = [-1] * len(self.size)
        self.placed = [False] * len(self.size)
        self.offset = [0] * len(self.size)
        self.pins = 0
        self.rest = [sum(self.size[v] for v in section) for section in self.sections]
        self.left = [len(section) for section in self.sections]
        self.weight = [0] * len(self.sections)
        self.changes: list[tuple[int, int, int]] = []
        self._queue: list[int] = []
        self._queued = [False] * len(self.sections)
        self._codes: dict[tuple[int, int, bool], int] = {}
        self.code = sum(self.code_of(v) for v in range(len(self.size)))

    def code_of(self, v: int) -> int:
        """The share of one buffer in `code`."""
        key = (v, self.low[v], self.pin[v] >= 0)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = _code(*key)
        return code

    def queue_sections(self, v: int) -> None:
        """Have `propagate` look at the sections of a buffer."""
        for c in self.sections_of[v]:
            if not self._queued[c]:
                self._queued[c] = True
                self._queue.append(c)

    def queue_all(self) -> None:
        """Have `propagate` look at every section."""
        self._queue += [c for c, queued in enumerate(self._queued) if not queued]
        self._queued = [True] * len(self._queued)

    def clear_queue(self) -> bool:
        """Forget what was to be looked at; False, for the caller to return."""
        for c in self._queue:
            self._queued[c] = False
        self._queue.clear()
        return False

    def undo(self, mark: int) -> None:
        """Take back all changes after the first `mark`."""
        while len(self.changes) > mark:
            v, kind, old = self.changes.pop()
            if kind == _PLACED:
                self.placed[v] = False
                self.code += self.code_of(v)
                for c in self.sections_of[v]:
                    self.rest[c] += self.size[v]
                    self.left[c] += 1
                self.pins += self.pin[v] >= 0
                continue
            self.code -= self.code_of(v)
            if kind == _RAISED:
                self.low[v] = old
            else:
                self.pin[v] = -1
                self.pins -= 1
            self.code += self.code_of(v)

    def _set_low(self, v: int, low: int) -> None:
        self.changes.append((v, _RAISED, self.low[v]))
        self.code -= self.code_of(v)
        self.low[v] = low
        self.code += self.code_of(v)

    def _free_place(self, v: int, low: int, base: int) -> int:
        """The first aligned place from `low` on that no pinned neighbour takes."""
        align, size = self.align[v], self.size[v]
        while True:
            low = -((base - low) // align) * align + base
            before = low
            if self.pins and low + size <= self.capacity:
                for f in self.near[v]:
                    at = self.pin[f]
                    if at >= 0 and not self.placed[f] and at - size < low < at + self.size[f]:
                        low = at + self.size[f]
            if low == before:
                return low

    def raise_to(self, v: int, low: int) -> bool:
        """Buffer v lies at `low` or above: whether that can be. Members of its group are raised with it.

        In the kernel's order, each member before those behind it, but with a stack of its own: runs have thousands.
        """
        stack: list[
            tuple[Iterator[int], int, int]
        ] = []  # members to come, whose turn made them move, the base
        while True:
            if self.low[v] < low:
                if self.pin[v] >= 0:
                    return False
                group = self.group[v]
                base = self.relative[v] if group >= 0 else 0
                low = self._free_place(v, low, base)
                if low + self.size[v] > self.capacity:
                    return False
                self._set_low(v, low)
                self.queue_sections(v)
                if group >= 0:
                    stack.append((iter(self.members[group]), v, low - base))
            following: int | None = None
            while stack and following is None:
                members, own, base = stack[-1]
                following = next((k for k in members if k != own and not self.placed[k]), None)
                if following is None:
                    stack.pop()
                else:
                    v, low = following, base + self.relative[following]
            if following is None:
                return True

    def pin_to(self, v: int, at: int) -> bool:
        """Buffer v lies at `at` exactly, though it is not its turn yet: whether that can be."""
        if self.pin[v] >= 0:
            return self.pin[v] == at
        end = at + self.size[v]
        if self.low[v] > at or end > self.capacity:
            return False
        if self.low[v] < at:
            self._set_low(v, at)
        self.changes.append((v, _PINNED, 0))
        self.code -= self.code_of(v)
        self.pin[v] = at
        self.pins += 1
        self.code += self.code_of(v)
        self.queue_sections(v)
        return all(
            self.raise_to(u, end)
            for u in self.near[v]
            if not self.placed[u] and at - self.size[u] < self.low[u] < end
        )

    def propagate(self) -> bool:
        """Look at the queued sections: whether their buffers still fit.

        In a section whose lowest buffer begins at `latest` or before, because all the others lie above it, buffers
        that cannot begin so early are not the lowest; when only one can, they lie above that one.
        """
        while self._queue:
            c = self._queue.pop()
            self._queued[c] = False
            if not self.left[c]:
                continue
            places = [(self.low[v], self.size[v]) for v in self.sections[c] if not self.placed[v]]
            latest = self.capacity - self.rest[c]
            if min(places)[0] > latest:
                return self._failed(c)
            if not self.inference or max(places)[0] <= latest:
                continue
            places.sort()
            top = 0
            for low, size in places:
                top = max(top, low) + size
            if top > self.capacity:
                return self._failed(c)
            if len(places) < 2 or places[1][0] <= latest:
                continue
            floor = sum(places[0])
            for v in self.sections[c]:
                if not self.placed[v] and self.low[v] > latest and not self.raise_to(v, floor):
                    return self.clear_queue()
        return True

    def _failed(self, c: int) -> bool:
        self.weight[c] += 1
        return self.clear_queue()

    def place(self, u: int, at: int) -> bool:
        """Put u at `at`, the lowest level that is left: all unplaced neighbours lie above it. Whether that can be."""
        self.changes.append((u, _PLACED, 0))
        self.code -= self.code_of(u)
        self.placed[u] = True
        self.offset[u] = at
        self.pins -= self.pin[u] >= 0
        for c in self.sections_of[u]:
            self.rest[c] -= self.size[u]
            self.left[c] -= 1
        self.queue_sections(u)
        base, end = at - self.relative[u], at + self.size[u]
        members = self.members[self.group[u]] if self.group[u] >= 0 else ()
        for k in members:
            if not self.placed[k] and not self.pin_to(k, base + self.relative[k]):
                return self.clear_queue()
        for v in self.near[u]:
            if not self.placed[v] and not self.raise_to(v, end):
                return self.clear_queue()
        return self.propagate()
