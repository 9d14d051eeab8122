"""The slots that share one memory, and what each of them wants of it.

Source: spec/memory.md sections 1.6 and 10.2. The graph is changed while conflicts are resolved, so what belongs
together is asked of the graph as it stands (`Symbols.together`); only the list of candidates is made once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from ge_dialect.analysis.memory.marks import is_special
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.analysis.memory.refresh import input_refuses_refresh, refuses_refresh
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import ge_attr, slot_attrs

_SOURCE_VARIABLE = "ref_var_src_var_name"


class Kind(Enum):
    """What a slot wants (10.2). NORMAL and reference slots want nothing and are in no list."""

    USER_OUT = "memory of a model output"
    USER_IN = "memory of a model input"
    IMMUTABLE = "an address that never changes"
    UNREFRESH_IN = "an input address that stays"
    UNREFRESH_OUT = "an output address that stays"
    NOPAD_IN = "its inputs end to end without padding"
    NOPAD_OUT = "its outputs end to end without padding"
    CONT_IN = "its inputs end to end"
    CONT_OUT = "its outputs end to end"
    RTS_IN = "an input in special memory"
    RTS_OUT = "an output in special memory"


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """Input slot `slot` of a node (`output` None), or one of its outputs; `kinds` in the order of `Kind`."""

    node: Node
    slot: int
    output: Output | None
    kinds: tuple[Kind, ...]

    @property
    def is_input(self) -> bool:
        """Whether it is an input slot."""
        return self.output is None

    def value(self) -> Output | None:
        """The output whose memory the slot is now; None for an input that is not wired."""
        return self.output if self.output is not None else self.node.inputs[self.slot]

    def memory_type(self) -> int:
        """The memory type that the node's attributes give the slot."""
        marks = self.node.marks
        types = marks.input_types if self.output is None else marks.output_types
        return types[self.slot] if self.slot < len(types) else 0

    def __str__(self) -> str:
        side = "input" if self.output is None else "output"
        return f'{side} {self.slot} of "{self.node.name}"'


def root(output: Output) -> Output:
    """The output that owns the memory of `output`, through references."""
    while output.source is not None:
        output = output.source
    return output


def together(first: Anchor, second: Anchor) -> bool:
    """Whether two slots are one memory as the graph stands."""
    a, b = first.value(), second.value()
    return a is not None and b is not None and root(a) is root(b)


def one_variable(first: Anchor, second: Anchor) -> bool:
    """Whether two outputs are one variable, as one of them says (`ref_var_src_var_name` has the other's node); padded
    outputs never are."""
    if first.output is None or second.output is None or Kind.CONT_OUT in first.kinds + second.kinds:
        return False
    return _variable_of(first) == second.node.name or _variable_of(second) == first.node.name


def _variable_of(anchor: Anchor) -> str | None:
    op = anchor.node.op
    if "ge.res_attrs" in op.attributes:
        value = slot_attrs(op, "res", anchor.slot).data.get(_SOURCE_VARIABLE)
        if value is not None:
            return text_of(value)
    return ge_attr(op, _SOURCE_VARIABLE)


def _input_kinds(node: Node, slot: int) -> Iterator[Kind]:
    marks = node.marks
    if node.type == "NetOutput":
        yield Kind.USER_OUT
    if input_refuses_refresh(node, slot):
        yield Kind.UNREFRESH_IN
    if node.is_no_padding_input:
        yield Kind.NOPAD_IN
    if node.is_padded_input:
        yield Kind.CONT_IN
    if slot < len(marks.input_types) and is_special(marks.input_types[slot]):
        yield Kind.RTS_IN


def _output_kinds(node: Node, index: int) -> Iterator[Kind]:
    marks = node.marks
    if node.is_data:
        yield Kind.USER_IN
    if node.is_fixed:
        yield Kind.IMMUTABLE
    if refuses_refresh(node):
        yield Kind.UNREFRESH_OUT
    if node.is_no_padding_output:
        yield Kind.NOPAD_OUT
    if node.is_padded_output:
        yield Kind.CONT_OUT
    if index < len(marks.output_types) and is_special(marks.output_types[index]):
        yield Kind.RTS_OUT


@dataclass(slots=True)
class Symbol:
    """Slots that share one memory and want something of it, in order of nodes, inputs before outputs; `size` counts
    all slots of the memory."""

    name: str
    anchors: list[Anchor] = field(default_factory=list[Anchor])
    size: int = 0


def symbols(graph: MemoryGraph) -> list[Symbol]:
    """The symbols of which more than one slot wants something, by name."""
    found: dict[Output, Symbol] = {}

    def add(output: Output, anchor: Anchor) -> None:
        owner = root(output)
        symbol = found.get(owner)
        if symbol is None:
            symbol = found[owner] = Symbol(f"{owner.node.name}_out_{owner.index}")
        symbol.size += 1
        if anchor.kinds:
            symbol.anchors.append(anchor)

    for node in graph.nodes:
        for slot, source in enumerate(node.inputs):
            if source is not None:
                add(source, Anchor(node, slot, None, tuple(_input_kinds(node, slot))))
        for output in node.outputs:
            kinds = tuple(_output_kinds(node, output.index))
            add(output, Anchor(node, output.index, output, kinds))
    return sorted((x for x in found.values() if x.anchors), key=lambda symbol: symbol.name)
