"""A union-find over outputs that keeps the byte distance between any two of a set, and who lies where in it.

Two rules of distance that disagree are found when the second one comes, and so are two producers that would share
bytes. Sets are merged small into large, so all of it takes O(n log n) steps.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from ge_dialect.analysis.memory.continuity import continuous_consumer, is_outside_pools
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.analysis.memory.streams import MERGE_TYPES

Range = tuple[int, int]
"""First byte and the one behind the last."""


class Ranges:
    """Disjoint byte ranges in ascending order."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._ranges: list[Range] = sorted(ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def __iter__(self) -> Iterator[Range]:
        return iter(self._ranges)

    def meets(self, ranges: Iterable[Range], shift: int = 0) -> bool:
        """Whether one of `ranges`, moved by `shift`, shares a byte with these."""
        own = self._ranges
        if not own:
            return False
        for start, end in ranges:
            index = bisect_left(own, end + shift, key=_start) - 1
            if index >= 0 and own[index][1] > start + shift:
                return True
        return False

    def add(self, ranges: Iterable[Range], shift: int = 0) -> None:
        """Take over ranges, which meet none of these, moved by `shift`."""
        for start, end in ranges:
            insort(self._ranges, (start + shift, end + shift))


def _start(item: Range) -> int:
    return item[0]


def extent(output: Output, end_to_end: set[int]) -> int:
    """Bytes that an output needs: its stored size, but the exact one inside a run without padding (section 11.6)."""
    return output.exact if output.uid in end_to_end else output.stored


def origin(output: Output) -> Output:
    """The output that owns the memory of `output`, through references."""
    while output.source is not None:
        output = output.source
    return output


def origins(graph: MemoryGraph) -> list[Output]:
    """`origin` of every output, by `uid`. Linear, however long chains of references are."""
    found: list[Output] = []
    for output in graph.outputs:
        source = output.source
        if source is None:
            found.append(output)
        else:  # what is referred to comes first, but where a loop leads back
            found.append(found[source.uid] if source.uid < len(found) else origin(source))
    return found


def feeds_no_padding(graph: MemoryGraph) -> set[int]:
    """`uid`s of the outputs that are an input of a run without padding, themselves or through references."""
    found: set[int] = set()
    for node in graph.nodes:
        if node.is_no_padding_input:
            for source in node.inputs:
                at = source
                while at is not None and at.uid not in found:
                    found.add(at.uid)
                    at = at.source
    return found


def merged(node: Node) -> list[Output]:
    """The outputs that share one place since `node` goes on with whichever of them was made (section 5.5).

    That is so for a merging node whose inputs come from different streams. Left out are inputs whose place something
    else gives: graph inputs, constants, variables, references and parts of runs. Empty when fewer than two remain.
    """
    if node.type not in MERGE_TYPES:
        return []
    sources = list(dict.fromkeys(x for x in node.inputs if x is not None))
    if len({x.node.stream for x in sources}) < 2:
        return []
    found = [x for x in sources if _has_own_place(x)]
    return found if len(found) > 1 else []


def _has_own_place(output: Output) -> bool:
    node = output.node
    if output.source is not None or output.stored <= 0 or node.is_data or node.is_fixed:
        return False
    if node.is_padded_output or node.is_no_padding_output or is_outside_pools(output):
        return False
    return all(continuous_consumer(x, slot) is None for x, slot in output.consumers)


def interleaved(graph: MemoryGraph) -> dict[int, int]:
    """`uid`s of producers whose bytes lie between others' on purpose: with strides given by the producers, with offset
    lists, one piece a batch (section 1.2), or in the place of another that a merging node reads instead (section 5.5).
    The value is the same for all of one run."""
    found: dict[int, int] = {}
    for node in graph.nodes:
        if shared := merged(node):
            _weave(found, [x.uid for x in shared])
        if not node.lays_inputs:
            continue
        sources = [x for x in node.inputs if x is not None]
        woven = bool(node.marks.dim_index) or any(
            x.node.marks.fusion_strides or x.node.marks.output_list is not None for x in sources
        )
        if not woven:
            continue
        _weave(found, [origin(x).uid for x in sources])
    return found


def _weave(found: dict[int, int], producers: list[int]) -> None:
    """Make one run of these and of the runs that they are in already."""
    run = min((found[uid] for uid in producers if uid in found), default=min(producers))
    replaced = {found[uid] for uid in producers if uid in found} - {run}
    if replaced:
        found.update({uid: run for uid, of in found.items() if of in replaced})
    found.update(dict.fromkeys(producers, run))


class Distances:
    """Sets of outputs at fixed distances. `end_to_end` as of `feeds_no_padding`, `woven` as of `interleaved`."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.end_to_end = feeds_no_padding(graph)
        self.woven = interleaved(graph)
        self._parent: list[int] = []
        self._offset: list[int] = []
        self._size: list[int] = []
        self._ranges: dict[int, Ranges] = {}
        self.fixed: set[int] = set()
        for output in graph.outputs:
            self.add(output)

    def add(self, output: Output) -> None:
        """Take an output in, alone; they come in order of `uid`."""
        uid = output.uid
        self._parent.append(uid)
        self._offset.append(0)
        self._size.append(1)
        if output.source is None:
            size = extent(output, self.end_to_end)
            if size > 0 and uid not in self.woven:
                self._ranges[uid] = Ranges([(0, size)])
            if output.node.is_fixed:
                self.fixed.add(uid)

    def find(self, uid: int) -> tuple[int, int]:
        """The set's name and the distance from its zero; paths are made short."""
        path: list[int] = []
        while self._parent[uid] != uid:
            path.append(uid)
            uid = self._parent[uid]
        total = 0
        for at in reversed(path):
            total += self._offset[at]
            self._parent[at], self._offset[at] = uid, total
        return uid, total

    def ranges(self, name: int) -> Ranges:
        """The bytes that producers of a set take, from its zero."""
        found = self._ranges.get(name)
        return Ranges() if found is None else found

    def tie(self, first: Output, second: Output, distance: int) -> str | None:
        """Let `second` start `distance` bytes behind `first`; why not, when it cannot."""
        a, at_a = self.find(first.uid)
        b, at_b = self.find(second.uid)
        shift = at_a + distance - at_b
        if a == b:
            return None if shift == 0 else f"other nodes put it {at_b - at_a} bytes behind"
        if (a in self.fixed and self._writes(b)) or (b in self.fixed and self._writes(a)):
            return "the memory of a constant or variable has its place already"
        own, other = self.ranges(a), self.ranges(b)
        few, many, moved = (other, own, shift) if len(other) <= len(own) else (own, other, -shift)
        if many.meets(few, moved):
            return "the bytes there are another's"
        if self._size[a] < self._size[b]:
            a, b, shift, own, other = b, a, -shift, other, own
        self._parent[b], self._offset[b] = a, shift
        self._size[a] += self._size[b]
        if b in self.fixed:
            self.fixed.add(a)
        if len(other):
            if not len(own):
                self._ranges[a] = own = Ranges()
            own.add(other, shift)
        self._ranges.pop(b, None)
        return None

    def _writes(self, name: int) -> bool:
        return bool(len(self.ranges(name))) or name in self.fixed or name in self.woven
