"""Is a memory plan right? A check of the marks on the nodes that shares only the rules of references with the planner.

The graph is replayed in block order on a map from bytes to the output that was written there last: whoever reads a
value must find all of its bytes still those of the nodes that made it. A node without task moves nothing: a concat of
that kind is its inputs' bytes, a piece of a split its input's. With several streams, whoever takes bytes over must also
come after everybody who used them, by edges and stream order alone. O(n log n) but for the closure over streams.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.memory.continuity import is_outside_pools
from ge_dialect.analysis.memory.distances import feeds_no_padding, interleaved, origins
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output, memory_graph
from ge_dialect.analysis.reach import HappensBefore
from ge_dialect.analysis.sizes import BLOCK_ALIGN, aligned, stored_size
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import get_ints
from ge_dialect.dialects.ge.graph import GraphOp

Place = tuple[str, int]
"""Memory space and byte offset."""


def place_of(op: Operation, index: int) -> Place | None:
    """Where data output `index` lies; None without memory or without a plan."""
    offsets = get_ints(op, "ge.offsets")
    if offsets is None or index >= len(offsets) or offsets[index] < 0:
        return None
    spaces = op.attributes.get("ge.spaces")
    space = "hbm"
    if isinstance(spaces, ArrayAttr):
        names = cast("ArrayAttr[Attribute]", spaces).data
        space = (text_of(names[index]) if index < len(names) else None) or space
    return space, offsets[index]


def arenas_of(graph: GraphOp) -> dict[str, int]:
    """Bytes of each memory space of a planned graph; empty without a plan."""
    sizes = graph.attributes.get("ge.arenas")
    if not isinstance(sizes, DictionaryAttr):
        return {}
    return {
        space: size.value.data
        for space, size in sizes.data.items()
        if isinstance(size, IntegerAttr)
    }


class ByteOwners:
    """Disjoint, ascending segments of one space, each with the value that owns its bytes."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.owners: list[object] = []

    def _range(self, start: int, end: int) -> tuple[int, int]:
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def owners_of(self, start: int, end: int) -> list[object]:
        """The owners of the segments that meet [start, end), from low to high."""
        low, high = self._range(start, end)
        return self.owners[low:high]

    def owned(self, start: int, end: int, owner: object) -> bool:
        """Whether all of [start, end) belongs to `owner`."""
        low, high = self._range(start, end)
        at = start
        for index in range(low, high):
            if self.owners[index] is not owner or self.starts[index] > at:
                return False
            at = self.ends[index]
        return at >= end

    def claim(self, start: int, end: int, owner: object) -> None:
        """Give [start, end) to `owner`; what sticks out of it on either side stays whose it was."""
        low, high = self._range(start, end)
        pieces: list[tuple[int, int, object]] = []
        if low < high and self.starts[low] < start:
            pieces.append((self.starts[low], start, self.owners[low]))
        pieces.append((start, end, owner))
        if low < high and self.ends[high - 1] > end:
            pieces.append((end, self.ends[high - 1], self.owners[high - 1]))
        self.starts[low:high] = [piece[0] for piece in pieces]
        self.ends[low:high] = [piece[1] for piece in pieces]
        self.owners[low:high] = [piece[2] for piece in pieces]


class _Scratch:
    """A workspace, as owner of bytes."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __str__(self) -> str:
        return f'workspace of "{self.node.name}"'


_Owner = Output | _Scratch


class _Check:
    def __init__(self, graph: GraphOp) -> None:
        self.graph: MemoryGraph = memory_graph(graph)
        self.arenas = arenas_of(graph)
        self.spaces: dict[str, ByteOwners] = {space: ByteOwners() for space in self.arenas}
        self.problems: list[str] = []
        self.users: dict[int, list[Node]] = {}  # by id of an owner
        self.end_to_end = feeds_no_padding(self.graph)
        self.owners = origins(self.graph)
        self.woven = interleaved(self.graph)
        self.order = HappensBefore(list(graph.block.ops)) if self.graph.streams > 1 else None
        self.parts: dict[int, list[Output]] = {}
        self.kept: list[_Owner] = []  # so that no id is given twice

    def run(self) -> list[str]:
        there_before = [node for node in self.graph.nodes if node.is_data or node.is_fixed]
        for node in there_before:  # there before the first node runs
            self._write(node)
        outputs: list[Node] = []
        for node in self.graph.nodes:
            if node.type == "NetOutput":
                outputs.append(node)
            elif not node.renames:
                for value in node.inputs:
                    if value is not None:
                        self._read(node, value)
            if not (node.is_data or node.is_fixed):
                self._write(node)
        for node in outputs:  # the user reads them after the last node
            for value in node.inputs:
                if value is not None:
                    self._read(node, value)
        return self.problems

    def _writers(self, output: Output) -> list[Output]:
        """The outputs whose bytes a value is: itself, its input's, or all inputs' of a concat without task."""
        found = self.parts.get(output.uid)
        if found is None:
            if output.source is None:
                found = [self._owner(output)]
            elif not output.node.moves_nothing:
                found = [output]  # written anew, where its input was
            elif output.node.is_no_padding_input:
                parts = [
                    part for x in output.node.inputs if x is not None for part in self._writers(x)
                ]
                found = list(dict.fromkeys(parts))
            else:
                found = self._writers(output.source)
            self.parts[output.uid] = found
        return found

    def _owner(self, output: Output) -> Output:
        """Who stands for the bytes of a producer: one of a run whose members' bytes lie between each other."""
        return self.graph.outputs[self.woven.get(output.uid, output.uid)]

    def _extent(self, output: Output) -> tuple[str, int, int] | None:
        """Space, first and last + 1 byte: by the stored size, in a run without padding by the exact one."""
        place = place_of(output.node.op, output.index)
        if place is None or output.stored <= 0:
            return None
        exact = self.owners[output.uid].uid in self.end_to_end or _is_run(output)
        size = output.exact if exact else stored_size(output.exact)
        return place[0], place[1], place[1] + size

    def _read(self, node: Node, output: Output) -> None:
        extent = self._extent(output)
        if extent is None or extent[0] not in self.spaces:
            return
        space, start, end = extent
        writers = self._writers(output)
        others: dict[str, None] = {}
        complete = True
        for writer in writers:
            low, high = self._part(writer, writers, start, end)
            if low < high:
                self.users.setdefault(id(writer), []).append(node)
            if low < high and not self.spaces[space].owned(low, high, writer):
                complete = False
                owners = self.spaces[space].owners_of(low, high)
                others.update((str(x), None) for x in owners if x is not writer)
        if not complete:
            self.problems.append(
                f'"{node.name}" reads {output} in {space}[{start}, {end}), '
                f"written over by {', '.join(others) or 'nobody: it was never written'}"
            )

    def _part(
        self, writer: Output, writers: Sequence[Output], start: int, end: int
    ) -> tuple[int, int]:
        """The bytes of [start, end) that one of the writers of a value made; an empty range for none."""
        if len(writers) == 1:
            return start, end
        own = self._extent(writer)
        return (start, start) if own is None else (max(start, own[1]), min(end, own[2]))

    def _write(self, node: Node) -> None:
        for output in node.outputs:
            if output.stored <= 0 or is_outside_pools(output):
                continue
            extent = self._extent(output)
            if extent is None:
                self.problems.append(f"{output} has no place")
                continue
            if output.source is not None:
                self._same_memory(output, extent)
            if output.source is None or not node.moves_nothing:
                self._claim(node, extent, self._owner(output))
        for index, size in enumerate(node.workspaces):
            offsets = get_ints(node.op, "ge.workspace_offsets") or []
            if index >= len(offsets):
                self.problems.append(f'workspace {index} of "{node.name}" has no place')
            else:
                place = ("hbm", offsets[index], offsets[index] + size)
                self._claim(node, place, _Scratch(node))

    def _same_memory(self, output: Output, extent: tuple[str, int, int]) -> None:
        """A reference lies where its input does, a piece of a split inside that, and a concat around its inputs."""
        source = output.source
        assert source is not None
        place = self._extent(source)
        if _is_piece(output):
            if place is None or not (
                place[0] == extent[0] and place[1] <= extent[1] and extent[2] <= place[2]
            ):
                self.problems.append(f"{output} is not inside {source}")
            return
        if place is None or place[:2] != extent[:2]:
            self.problems.append(f"{output} is not at the place of {source}")
            return
        if output.node.is_no_padding_input and output.node.renames:
            self._inside(output, extent)

    def _inside(self, output: Output, extent: tuple[str, int, int]) -> None:
        for value in output.node.inputs:
            place = None if value is None else self._extent(value)
            if value is not None and (
                place is None
                or place[0] != extent[0]
                or place[1] < extent[1]
                or place[1] + value.exact > extent[2]
            ):
                self.problems.append(f"{value} is not inside {output}, which is its bytes")

    def _claim(self, node: Node, extent: tuple[str, int, int], owner: _Owner) -> None:
        space, start, end = extent
        in_run = isinstance(owner, Output) and (
            owner.uid in self.end_to_end or owner.uid in self.woven
        )
        if start % BLOCK_ALIGN and not in_run:
            self.problems.append(
                f"{owner} at {space}[{start}] is not aligned to {BLOCK_ALIGN} bytes"
            )
        if aligned(end) > self.arenas.get(space, 0):
            self.problems.append(
                f"{owner} in {space}[{start}, {end}) lies outside the {self.arenas.get(space, 0)} bytes"
            )
            return
        previous = {id(x): cast("_Owner", x) for x in self.spaces[space].owners_of(start, end)}
        self._own_inputs(node, owner, previous.values(), extent)
        if self.order is not None:
            self._follows(node, owner, previous.values())
        self.spaces[space].claim(start, end, owner)
        if not (node.is_data or node.is_fixed):  # these are done before anything runs
            self.users.setdefault(id(owner), []).append(node)
        self.kept.append(owner)

    def _own_inputs(
        self, node: Node, owner: _Owner, previous: Iterable[_Owner], extent: tuple[str, int, int]
    ) -> None:
        """A node must not write where it still reads, nor two of its outputs to one place."""
        space, start, end = extent
        read: set[int] = set()
        for value in node.inputs:
            own = None if value is None else self._extent(value)
            if value is None or own is None or own[0] != space:
                continue
            writers = self._writers(value)
            for writer in writers:
                low, high = self._part(writer, writers, own[1], own[2])
                if low < end and start < high:
                    read.add(id(writer))
        for other in previous:
            if other is owner:
                continue
            if node.is_data or node.is_fixed:
                self.problems.append(f"{owner} and {other}, both there from the start, share bytes")
            if id(other) in read and not _in_place(owner, other):
                self.problems.append(f"{owner} is written over its own input {other}")
            if other.node is node:
                self.problems.append(f"{owner} and {other} of one node share bytes")

    def _follows(self, node: Node, owner: _Owner, previous: Iterable[_Owner]) -> None:
        assert self.order is not None
        for other in previous:
            if other is owner:
                continue
            for user in self.users.get(id(other), ()):
                if user is not node and not self.order.before(user.op, node.op):
                    self.problems.append(
                        f"{owner} takes the bytes of {other}, but nothing orders it behind "
                        f'"{user.name}"'
                    )


def _in_place(owner: _Owner, other: _Owner) -> bool:
    """Whether an output is by a reference rule what its node writes over."""
    at = owner.source if isinstance(owner, Output) else None
    while at is not None and at is not other:
        at = at.source
    return at is not None


def _is_piece(output: Output) -> bool:
    marks = output.node.marks
    return marks.no_padding_output and marks.output_reuse_input


def _is_run(output: Output) -> bool:
    """Whether the output is the run itself: a concat without task, or a piece of a split."""
    return output.node.renames and (output.node.marks.no_padding_input or _is_piece(output))


def check_plan(graph: GraphOp) -> list[str]:
    """What is wrong with the places on the nodes of a planned graph, in block order; nothing when it is right.

    Checked: every sized output has a place inside its arena, aligned to 512 bytes unless it is part of a run without
    padding; a reference lies where its input does, pieces of a run inside it; nobody reads bytes that were written
    over, a model output included; no node writes where it reads; inputs, constants and variables share nothing.
    """
    return _Check(graph).run()
