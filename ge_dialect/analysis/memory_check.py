"""Is a memory plan right? A check of the marks on the nodes that shares nothing with the planner but sizes and aliases.

The graph is replayed in block order on a map from bytes to the value that was written there last: whoever reads a value
must find all of its bytes still its own. With several streams, whoever takes bytes over must also come after
everybody who used them, by edges and stream order alone. O(n log n) but for the closure over streams.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge_dialect.analysis.aliases import alias_roots, aliased_operand, is_view
from ge_dialect.analysis.liveness import stream_of
from ge_dialect.analysis.reach import HappensBefore
from ge_dialect.analysis.sizes import BLOCK_ALIGN, aligned, stored_size, value_bytes
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.engine_types import CONSTANT_TYPES, DATA_TYPES, VARIABLE_TYPES
from ge_dialect.dialects.ge.access import data_operands, data_results, ge_type, get_ints, node_name
from ge_dialect.dialects.ge.graph import GateOp, GraphOp

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


def _writer(owner: object) -> Operation | None:
    """The node that makes a value; None for a workspace."""
    return cast("OpResult[Any]", owner).op if isinstance(owner, OpResult) else None


class _Check:
    def __init__(self, graph: GraphOp) -> None:
        self.ops: Sequence[Operation] = list(graph.block.ops)
        self.roots: Mapping[SSAValue, SSAValue] = alias_roots(list(self.ops))
        self.arenas = arenas_of(graph)
        self.spaces: dict[str, ByteOwners] = {space: ByteOwners() for space in self.arenas}
        self.problems: list[str] = []
        self.users: dict[object, list[Operation]] = {}
        streams = {stream_of(op) for op in self.ops} - {None}
        self.order = HappensBefore(self.ops) if len(streams) > 1 else None

    def run(self) -> list[str]:
        outputs: list[tuple[Operation, SSAValue]] = []
        for op in self.ops:
            if ge_type(op) in DATA_TYPES | CONSTANT_TYPES | VARIABLE_TYPES:
                self._write(op)  # there before the first node runs
        for op in self.ops:
            if ge_type(op) == "NetOutput":
                outputs += [(op, value) for value in data_operands(op)]
            else:
                for operand in op.operands:
                    self._read(op, operand)
            if ge_type(op) not in DATA_TYPES | CONSTANT_TYPES | VARIABLE_TYPES:
                self._write(op)
        for op, value in outputs:  # the user reads them after the last node
            self._read(op, value)
        return self.problems

    def _name(self, value: object) -> str:
        if not isinstance(value, OpResult):
            return str(value)
        result = cast("OpResult[Any]", value)
        return f'"{node_name(result.op) or result.op.name}":{result.index}'

    def _extent(self, value: SSAValue) -> tuple[str, int, int] | None:
        """Space, first and last + 1 byte of a value by its stored size."""
        exact = value_bytes(value.type)
        if exact is None or not isinstance(value, OpResult):
            return None
        place = place_of(value.op, value.index)
        if place is None:
            return None
        return place[0], place[1], place[1] + stored_size(exact)

    def _read(self, op: Operation, value: SSAValue) -> None:
        extent = self._extent(value)
        if extent is None or extent[0] not in self.spaces:
            return
        space, start, end = extent
        root = self.roots.get(value, value)
        if not (isinstance(op, GateOp) or is_view(op)):  # these rename, they do not read
            self.users.setdefault(root, []).append(op)
        if not self.spaces[space].owned(start, end, root):
            others = [
                self._name(x) for x in self.spaces[space].owners_of(start, end) if x is not root
            ]
            self.problems.append(
                f'"{node_name(op) or op.name}" reads {self._name(value)} in {space}[{start}, {end}), '
                f"written over by {', '.join(others) or 'nobody: it was never written'}"
            )

    def _write(self, op: Operation) -> None:
        for result in data_results(op):
            if value_bytes(result.type) is None:
                continue
            extent = self._extent(result)
            if extent is None:
                self.problems.append(f"{self._name(result)} has no place")
                continue
            source = aliased_operand(result)
            if source is not None and isinstance(source, OpResult):
                if place_of(source.op, source.index) != extent[:2]:
                    self.problems.append(
                        f"{self._name(result)} is not at the place of {self._name(source)}"
                    )
                continue
            self._claim(op, extent, result)
        for index, size in enumerate(get_ints(op, "ge.workspace_bytes") or ()):
            offsets = get_ints(op, "ge.workspace_offsets") or []
            if index >= len(offsets):
                self.problems.append(f'workspace {index} of "{node_name(op)}" has no place')
            else:
                self._claim(
                    op,
                    ("hbm", offsets[index], offsets[index] + size),
                    f'workspace of "{node_name(op)}"',
                )

    def _claim(self, op: Operation, extent: tuple[str, int, int], owner: object) -> None:
        space, start, end = extent
        if start % BLOCK_ALIGN:
            self.problems.append(
                f"{self._name(owner)} at {space}[{start}] is not aligned to {BLOCK_ALIGN} bytes"
            )
        if aligned(end) > self.arenas.get(space, 0):
            self.problems.append(
                f"{self._name(owner)} in {space}[{start}, {end}) lies outside the {self.arenas.get(space, 0)} bytes"
            )
            return
        previous = {id(x): x for x in self.spaces[space].owners_of(start, end)}
        self._own_inputs(op, owner, previous)
        if self.order is not None:
            self._follows(op, owner, list(previous.values()))
        self.spaces[space].claim(start, end, owner)
        self.users.setdefault(owner, []).append(op)

    def _own_inputs(self, op: Operation, owner: object, previous: Mapping[int, object]) -> None:
        """A node must not write where it still reads, nor two of its outputs to one place."""
        for operand in op.operands:
            if id(self.roots.get(operand, operand)) in previous:
                self.problems.append(
                    f"{self._name(owner)} is written over its own input {self._name(operand)}"
                )
        for other in previous.values():
            if _writer(other) is op:
                self.problems.append(
                    f"{self._name(owner)} and {self._name(other)} of one node share bytes"
                )

    def _follows(self, op: Operation, owner: object, previous: Sequence[object]) -> None:
        assert self.order is not None
        for other in previous:
            for user in self.users.get(other, ()):
                if user is not op and not self.order.before(user, op):
                    self.problems.append(
                        f'{self._name(owner)} takes the bytes of {self._name(other)}, but nothing orders it behind "'
                        f'{node_name(user) or user.name}"'
                    )


def check_plan(graph: GraphOp) -> list[str]:
    """What is wrong with the places on the nodes of a planned graph, in block order; nothing when it is right.

    Checked: every sized output has a place, aligned to 512 bytes and inside its arena; a view lies where its input
    does; nobody reads bytes that were written over, a model output included; no node writes where it reads.
    """
    return _Check(graph).run()
