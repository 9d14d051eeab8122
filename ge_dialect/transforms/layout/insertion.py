"""Putting copies into the graph: the IR and the model of it together (spec/memory.md 10.3, end)."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.memory.marks import NO_MARKS
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.dialects.attrs import UNIT, string, string_attr
from ge_dialect.dialects.engine_table import ENGINES, RTS
from ge_dialect.dialects.ge.access import data_operands, static_shape
from ge_dialect.dialects.ge.nodes import OpOp
from ge_dialect.transforms.layout.rules import Before, Point

_COPIES = frozenset({"Identity", "MemcpyAsync", "MemcpyAddrAsync"})
_LABELS = ("_stream_label", "_batch_label")


def _is_copy(output: Output) -> bool:
    """Whether an output is that of a copy which exists for a single reader."""
    return output.node.type in _COPIES and len(output.consumers) == 1


class Copies:
    """Makes the copies and counts them."""

    def __init__(self, graph: MemoryGraph) -> None:
        self._graph = graph
        self.made: list[Node] = []

    def insert(self, point: Point) -> Node | None:
        """Put a copy at a place; None where one stands already or the shape is not known."""
        if isinstance(point, Before):
            source = point.node.inputs[point.slot]
            readers = [(point.node, point.slot)]
        else:
            source = point.output
            readers = list(source.consumers)
        if source is None or not readers or _is_copy(source):
            return None
        if all(node.type in _COPIES for node, _ in readers) and len(source.consumers) == 1:
            return None
        if static_shape(source.value.type) is None:
            return None
        node = self._make(source, readers)
        self.made.append(node)
        return node

    def _make(self, source: Output, readers: list[tuple[Node, int]]) -> Node:
        first, slot = readers[0]
        name = f"identity_{slot}_{first.name}_MemLayoutConflict_{len(self.made)}"
        op = OpOp.make(
            [data_operands(first.op)[slot]],
            [source.value.type],
            _properties(first.op),
            _attributes(name, first.op),
        )
        before = min(readers, key=lambda item: item[0].id)[0].op
        block = before.parent
        assert block is not None
        block.insert_op_before(op, before)
        node = Node(op, first.id, "Identity", name, first.stream, NO_MARKS)
        node.inputs = [source]
        made = Output(len(self._graph.outputs), node, 0, op.results[0], source.exact, source.stored)
        node.outputs = [made]
        self._graph.outputs.append(made)
        self._graph.output_of[op.results[0]] = made
        for reader, at in readers:
            reader.op.operands[at] = op.results[0]
            reader.inputs[at] = made
            made.consumers.append((reader, at))
            for output in reader.outputs:
                if output.source is source and source not in reader.inputs:
                    output.source = made
        moved = {(reader.id, at) for reader, at in readers}
        source.consumers = [x for x in source.consumers if (x[0].id, x[1]) not in moved]
        source.consumers.append((node, 0))
        return node


def _properties(reader: Operation) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"type": string("Identity")}
    attrs = reader.properties.get("attrs")
    if isinstance(attrs, DictionaryAttr):
        kept = {key: attrs.data[key] for key in _LABELS if key in attrs.data}
        if kept:
            properties["attrs"] = DictionaryAttr(kept)
    return properties


def _attributes(name: str, reader: Operation) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {
        "ge.name": string_attr(name),
        "ge.engine": string(RTS),
        "ge.kernel_lib": string(ENGINES[RTS].kernel_lib),
        "ge.keep": UNIT,
    }
    if "ge.stream" in reader.attributes:
        found["ge.stream"] = reader.attributes["ge.stream"]
    return found
