"""A graph as the memory stage sees it: nodes with dense ids, outputs with sizes, consumers in GE's order.

`ge.gate` and `ge.token` are no nodes here: edges lead through them. Nothing of the IR is changed; whoever changes the
graph makes a new model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, NoneType, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge_dialect.analysis.aliases import is_view
from ge_dialect.analysis.liveness import stream_of
from ge_dialect.analysis.memory.marks import NO_MARKS, Marks, marks_of
from ge_dialect.analysis.memory.references import reference_input
from ge_dialect.analysis.sizes import stored_size, value_bytes
from ge_dialect.dialects.attrs import array_items, text_of
from ge_dialect.dialects.engine_types import CONSTANT_TYPES, DATA_TYPES, VARIABLE_TYPES
from ge_dialect.dialects.ge.access import (
    control_operands,
    data_operands,
    data_results,
    ge_type,
    get_ints,
    node_name,
    slot_attrs,
    static_shape,
)
from ge_dialect.dialects.ge.element_types import elements_bytes
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp, GraphOp, TokenOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError

NO_STREAM = -1


HAND_THROUGH = frozenset({"LabelSet", "LabelSwitchByIndex"})
"""Types that make a task and whose outputs, if any, are input memory that the task does not touch."""


class LayoutError(GeError):
    """The memory of a node cannot be laid out as its attributes ask."""


@dataclass(slots=True, eq=False, repr=False)
class Output:
    """Data output `index` of a node. `uid` is dense over the graph; `exact` and `stored` are bytes (section 1.2), both
    0 for an absent output; `source` is the output whose memory it is by a reference rule (spec/no_task.md 3)."""

    uid: int
    node: Node
    index: int
    value: OpResult
    exact: int
    stored: int
    consumers: list[tuple[Node, int]] = field(default_factory=list["tuple[Node, int]"])
    source: Output | None = None

    def __str__(self) -> str:
        return f'"{self.node.name}":{self.index}'


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A node; `id` is its place in the order of issue, `stream` -1 when it has none, `before` its control inputs."""

    op: Operation
    id: int
    type: str
    name: str
    stream: int
    marks: Marks = NO_MARKS
    inputs: list[Output | None] = field(default_factory=list["Output | None"])
    outputs: list[Output] = field(default_factory=list["Output"])
    before: list[Node] = field(default_factory=list["Node"])
    workspaces: tuple[int, ...] = ()
    renames: bool = False
    """Makes no task and moves no bytes: its outputs are its inputs' memory."""

    @property
    def moves_nothing(self) -> bool:
        """Writes no bytes of its outputs: it renames, or sets a label or jumps and hands values through."""
        return self.renames or self.type in HAND_THROUGH

    @property
    def is_padded_input(self) -> bool:
        """Padded continuous input (section 7.1)."""
        return self.marks.continuous_input and len(self.inputs) > 1

    @property
    def is_padded_output(self) -> bool:
        """Padded continuous output (section 7.1)."""
        return self.marks.continuous_output and len(self.outputs) > 1

    @property
    def is_no_padding_input(self) -> bool:
        """Inputs end to end without padding; with a single one it is just a reference (section 6)."""
        return self.marks.no_padding_input and len(self.inputs) > 1

    @property
    def lays_inputs(self) -> bool:
        """No-padding input as a type bit: with the output on input 0, whatever the number of inputs (section 7.1)."""
        return self.marks.no_padding_input and (
            len(self.inputs) > 1 or (self.marks.output_reuse_input and bool(self.inputs))
        )

    @property
    def is_no_padding_output(self) -> bool:
        """Outputs end to end without padding, on the input's memory."""
        return self.marks.no_padding_output and len(self.outputs) > 1

    @property
    def is_data(self) -> bool:
        """A graph input."""
        return self.type in DATA_TYPES

    @property
    def is_fixed(self) -> bool:
        """A constant or variable, whose memory is outside every pool."""
        return self.type in CONSTANT_TYPES or self.type in VARIABLE_TYPES

    def error(self, problem: str) -> LayoutError:
        """An error about this node."""
        return LayoutError(
            f'node "{self.name}" of type {self.type} {problem}', location_text(self.op)
        )


@dataclass(slots=True)
class MemoryGraph:
    """All nodes in order and all outputs by `uid`."""

    nodes: list[Node]
    outputs: list[Output]
    output_of: dict[SSAValue, Output]
    streams: int
    """How many different streams the nodes have."""


class _TypeSizes:
    """Bytes of a type, each type object looked at once (hashing one costs more)."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Attribute, int | None]] = {}

    def exact(self, kind: Attribute) -> int | None:
        found = self._known.get(id(kind))
        if found is None:
            found = self._known[id(kind)] = (kind, value_bytes(kind))
        return found[1]


def _base(value: SSAValue, before: list[Operation]) -> SSAValue:
    """The value behind gates; the control inputs of these go into `before`."""
    while isinstance(gate := value.owner, GateOp):
        for control in gate.controls:
            before.append(_control_source(control))
        value = gate.value
    return value


def _control_source(control: SSAValue) -> Operation:
    owner = control.owner
    assert isinstance(owner, Operation), "graphs have no block arguments"
    if isinstance(owner, TokenOp):
        base = _base(owner.value, [])
        assert isinstance(base.owner, Operation)
        return base.owner
    return owner


def nopadding_bytes(output: Output, dim: int) -> int | None:
    """Bytes of a tensor with the dimensions before `dim` taken as 1 (section 1.2); None when `dim` is no dimension."""
    if dim == 0:
        return output.exact
    kind = output.value.type
    shape = static_shape(kind)
    if shape is None or not 0 <= dim < len(shape):
        return None
    count = 1
    for size in shape[dim:]:
        count *= size
    return elements_bytes(cast("TensorType[Any]", kind).element_type, count)


def memory_graph(graph: GraphOp) -> MemoryGraph:
    """The memory stage's view of a graph. Linear in nodes and edges."""
    made = MemoryGraph([], [], {}, 0)
    node_of: dict[Operation, Node] = {}
    sizes = _TypeSizes()
    streams: set[int] = set()
    for op in graph.block.ops:
        if isinstance(op, AbsentOp | GateOp | TokenOp):
            continue
        stream = stream_of(op)
        node = Node(
            op,
            len(made.nodes),
            ge_type(op),
            node_name(op) or op.name,
            NO_STREAM if stream is None else stream,
            marks_of(op),
        )
        if stream is not None:
            streams.add(stream)
        made.nodes.append(node)
        node_of[op] = node
        _wire(node, made, node_of)
        _add_outputs(node, made, sizes)
        if "ge.workspace_bytes" in op.attributes:
            node.workspaces = tuple(get_ints(op, "ge.workspace_bytes") or ())
    made.streams = len(streams)
    for node in made.nodes:
        if "ge.consumers" in node.op.attributes:
            _reorder(node)
    return made


def _wire(node: Node, made: MemoryGraph, node_of: dict[Operation, Node]) -> None:
    before: list[Operation] = []
    for slot, value in enumerate(data_operands(node.op)):
        output = made.output_of.get(_base(value, before))
        node.inputs.append(output)
        if output is not None:
            output.consumers.append((node, slot))
    before.extend(_control_source(value) for value in control_operands(node.op))
    node.before = [node_of[op] for op in before if op in node_of]


def _add_outputs(node: Node, made: MemoryGraph, sizes: _TypeSizes) -> None:
    op = node.op
    results = data_results(op)
    renames = bool(results)
    for index, result in enumerate(results):
        exact = None if isinstance(result.type, NoneType) else sizes.exact(result.type)
        stored = 0 if exact is None else stored_size(exact)
        if "ge.res_attrs" in op.attributes:
            given = slot_attrs(op, "res", index).data.get("size")
            if isinstance(given, IntegerAttr):
                stored = given.value.data
        output = Output(len(made.outputs), node, index, result, exact or 0, stored)
        slot = reference_input(op, node.type, node.marks, index, len(node.inputs))
        if slot is not None:
            output.source = node.inputs[slot]
        made.outputs.append(output)
        made.output_of[result] = output
        node.outputs.append(output)
        renames = renames and output.source is not None
    node.renames = renames and _makes_no_task(node)


def _makes_no_task(node: Node) -> bool:
    marks = node.marks
    virtual = marks.output_reuse_input and (marks.no_padding_input or marks.no_padding_output)
    return marks.no_task or virtual or is_view(node.op)


def _reorder(node: Node) -> None:
    """Put the consumers into the order that `ge.consumers` gives (`output:reader:input`)."""
    rank: dict[tuple[int, str, int], int] = {}
    for text in _texts(array_items(node.op.attributes["ge.consumers"])):
        index, _, rest = text.partition(":")
        name, _, slot = rest.rpartition(":")
        if index.isdigit() and slot.isdigit():
            rank.setdefault((int(index), name, int(slot)), len(rank))
    last = len(rank)
    for output in node.outputs:
        output.consumers.sort(
            key=lambda item: rank.get((output.index, item[0].name, item[1]), last)
        )


def _texts(items: Iterable[Attribute]) -> list[str]:
    return [text for item in items if (text := text_of(item)) is not None]
