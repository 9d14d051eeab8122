"""What the pairwise rules leave: runs of inputs that still cannot lie end to end are given copies until they can.

The rules of spec/memory.md 10.3 look at two slots of one memory. They do not see a run that would be laid over a third
tensor's bytes, or three runs that disagree only together; the no-task passes never make such graphs, other marks can.
"""

from __future__ import annotations

from collections.abc import Iterator

from ge_dialect.analysis.memory.clusters import rules
from ge_dialect.analysis.memory.continuity import stride
from ge_dialect.analysis.memory.distances import Distances, Ranges, extent
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.transforms.layout.insertion import Copies
from ge_dialect.transforms.layout.rules import Before


def _run(node: Node) -> list[tuple[int, Output, int]]:
    """Slot, source and place from the first source of a run of inputs."""
    padded = node.is_padded_input
    found: list[tuple[int, Output, int]] = []
    at = 0
    for slot, source in enumerate(node.inputs):
        if source is None:
            continue
        found.append((slot, source, at))
        if len(node.inputs) > 1:
            at += stride(source, node, padded=padded)
    return found


class _Fit:
    """Tries one run behind its first source (or a copy of that) without changing anything."""

    def __init__(self, distances: Distances, base: Output, *, copied: bool) -> None:
        self.distances = distances
        self.local = Ranges()
        self.shifts: dict[int, int] = {}
        self.base: tuple[Ranges, int] | None = None
        self.fixed = False
        if copied:
            self.local.add([(0, self._size(base))])
        else:
            name, at = distances.find(base.uid)
            self.shifts[name] = -at
            self.base = (distances.ranges(name), at)
            self.fixed = name in distances.fixed

    def _size(self, output: Output) -> int:
        return extent(output, self.distances.end_to_end)

    def _is_free(self, ranges: Ranges | list[tuple[int, int]], shift: int) -> bool:
        if self.local.meets(ranges, shift):
            return False
        return self.base is None or not self.base[0].meets(ranges, shift + self.base[1])

    def take(self, source: Output, at: int) -> bool:
        """Lay the source itself; false when it cannot lie there."""
        name, own = self.distances.find(source.uid)
        shift = at - own
        if name in self.shifts:
            return self.shifts[name] == shift
        ranges = self.distances.ranges(name)
        if self.fixed or name in self.distances.fixed or not self._is_free(ranges, shift):
            return False
        self.shifts[name] = shift
        self.local.add(ranges, shift)
        return True

    def take_copy(self, source: Output, at: int) -> bool:
        """Lay a copy of the source; false when something is there."""
        piece = [(at, at + self._size(source))]
        if self.fixed or not self._is_free(piece, 0):
            return False
        self.local.add(piece)
        return True


def _slots_to_copy(distances: Distances, node: Node) -> list[int]:
    """The slots of a run in front of which copies make it fit: as few as this simple search finds."""
    run = _run(node)
    if any(source.node.marks.output_list is not None for _, source, _ in run):
        return []  # the producers say themselves where they lie
    for copied in (False, True):
        slots = _try(distances, run, copied=copied)
        if slots is not None:
            return slots
    return [slot for slot, _, _ in run]


def _try(
    distances: Distances, run: list[tuple[int, Output, int]], *, copied: bool
) -> list[int] | None:
    fit = _Fit(distances, run[0][1], copied=copied)
    slots = [run[0][0]] if copied else []
    for slot, source, at in run[1:]:
        if fit.take(source, at):
            continue
        if not fit.take_copy(source, at):
            return None
        slots.append(slot)
    return slots


def settle(graph: MemoryGraph, copies: Copies) -> Iterator[Node]:
    """Insert the copies that are missing; each as it is made."""
    distances = Distances(graph)
    for node in graph.nodes:
        if len(node.inputs) > 1 and (node.lays_inputs or node.is_padded_input):
            for slot in _slots_to_copy(distances, node) if any(node.inputs) else ():
                made = copies.insert(Before(node, slot))
                if made is not None:
                    distances.end_to_end.add(made.outputs[0].uid)
                    distances.add(made.outputs[0])
                    yield made
        for first, second, distance, _, _ in rules(node):
            distances.tie(first, second, distance)
