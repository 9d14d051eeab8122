"""Outputs that are written over an operand which dies there, where that is proven.

The operator must allow it (`ge_dialect.kernels.in_place`), the operand must have as many bytes and elements as the
output, and everybody else who uses the operand's memory must be done before the node starts, whatever the streams do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ge_dialect.analysis.memory.distances import origins
from ge_dialect.analysis.memory.marks import NO_MARKS
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.analysis.reach import HappensBefore
from ge_dialect.dialects.attrs import UNIT, i64
from ge_dialect.dialects.ge.access import set_slot_attr, slot_attrs, source_op, static_shape
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.kernels.in_place import in_place_inputs


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Output 0 of `node` lies on its input `slot`."""

    node: Node
    slot: int

    def write(self) -> None:
        """Say so on the node."""
        set_slot_attr(self.node.op, "res", 0, "reuse_input", i64(self.slot))
        set_slot_attr(self.node.op, "res", 0, "in_place", UNIT)


def forget_overwrites(graph: GraphOp) -> None:
    """Take back what an earlier plan wrote in place: the order may have changed since."""
    for op in graph.block.ops:
        if "ge.res_attrs" in op.attributes and "in_place" in slot_attrs(op, "res", 0).data:
            set_slot_attr(op, "res", 0, "in_place", None)
            set_slot_attr(op, "res", 0, "reuse_input", None)


def _in_runs(graph: MemoryGraph, owners: Sequence[Output]) -> set[int]:
    """`uid`s of the owners of memory whose place a continuous run gives. What is not yet in one may get into it as the
    operand of a member that is written over it; what is in one is not written over."""
    found: set[int] = set()
    for node in graph.nodes:
        if node.lays_inputs or node.is_padded_input:
            found.update(owners[x.uid].uid for x in node.inputs if x is not None)
        if node.marks.no_padding_output or node.is_padded_output:
            found.update(owners[x.uid].uid for x in node.outputs)
            found.update(owners[x.uid].uid for x in node.inputs if x is not None)
    return found


def _same_size(node: Node, slot: int, source: Output, output: Output) -> bool:
    """Whether the operand has the bytes and elements of the output, seen by the node as its producer made it."""
    own, other = output.value.type, source.value.type
    if own is not other and own != other:
        mine, theirs = static_shape(own), static_shape(other)
        if mine is None or theirs is None or _elements(mine) != _elements(theirs):
            return False
        if source.exact != output.exact:
            return False
    if "ge.arg_attrs" in node.op.attributes and "type" in slot_attrs(node.op, "arg", slot).data:
        return False
    return True


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


class _Search:
    """`owners`: whose memory each output is, by `uid`. `members`: what holds an owner's bytes since they were last
    written over; who used them before is done before that. `last`: the greatest id of a user of an owner's memory."""

    def __init__(self, graph: MemoryGraph, order: HappensBefore | None) -> None:
        self.order = order
        self.owners = origins(graph)
        self.runs = _in_runs(graph, self.owners)
        self.members: dict[int, list[Output]] = {}
        self.last: dict[int, int] = {}
        for output in graph.outputs:
            owner = self.owners[output.uid].uid
            self.members.setdefault(owner, []).append(output)
            users = (x for x in (output.node, *(x for x, _ in output.consumers)) if not x.renames)
            last = max((x.id for x in users), default=-1)
            self.last[owner] = max(self.last.get(owner, -1), last)

    def choose(self, node: Node) -> int | None:
        """The first input that the node may write over."""
        if len(node.outputs) != 1 or node.marks is not NO_MARKS:
            return None
        output = node.outputs[0]
        if output.source is not None or output.exact <= 0:
            return None
        source_operator = source_op(node.op)
        if source_operator is None:
            allowed = in_place_inputs(node.type)
        else:
            allowed = in_place_inputs(source_operator.op, source_operator.domain)
        if not allowed or (self.order is not None and self.order.position(node.op)[0] is None):
            return None
        for slot, source in enumerate(node.inputs):
            if slot in allowed and source is not None and self._may_take(node, slot, source):
                return slot
        return None

    def _may_take(self, node: Node, slot: int, source: Output) -> bool:
        owner, output = self.owners[source.uid], node.outputs[0]
        if (
            self.last[owner.uid] != node.id
            or owner.uid in self.runs
            or owner.stored != output.stored
        ):
            return False
        if owner.exact != source.exact or not _same_size(node, slot, source, output):
            return False
        members = self.members[owner.uid]
        if any(x.node.is_data or x.node.is_fixed or x.node.marks.no_reuse for x in members):
            return False
        if any(x.node.marks.output_types for x in members):
            return False  # maybe no ordinary memory
        return all(self._done(node, member) for member in members)

    def _done(self, node: Node, member: Output) -> bool:
        """Whether everybody but `node` itself who writes or reads a value is done before `node` starts."""
        others = [reader for reader, _ in member.consumers if not reader.renames]
        if not member.node.renames:
            others.append(member.node)
        return all(
            other is node or (other.type != "NetOutput" and self._before(other, node))
            for other in others
        )

    def _before(self, first: Node, second: Node) -> bool:
        if self.order is None:
            return first.id < second.id
        return self.order.before(first.op, second.op)

    def take(self, node: Node, slot: int) -> None:
        """Note that the node writes over its input."""
        output, source = node.outputs[0], node.inputs[slot]
        assert source is not None
        owner = self.owners[source.uid]
        self.members[owner.uid] = self.members.pop(output.uid)
        self.last[owner.uid] = self.last[output.uid]
        for member in self.members[owner.uid]:
            self.owners[member.uid] = owner
        output.source = source
        if output.uid in self.runs:
            self.runs.add(owner.uid)


def overwrites(graph: MemoryGraph, order: HappensBefore | None) -> list[Overwrite]:
    """What is written over what, in order of nodes; the graph's model is changed accordingly, its IR is not.

    `order` is None where one queue runs everything. Linear in nodes and edges.
    """
    search = _Search(graph, order)
    found: list[Overwrite] = []
    for node in graph.nodes:
        slot = search.choose(node)
        if slot is not None:
            search.take(node, slot)
            found.append(Overwrite(node, slot))
    return found
