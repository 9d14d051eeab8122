"""What the checks are told about the node that they judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import NoneType
from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.analysis.order import consumers, positions
from ge_dialect.analysis.references import producer
from ge_dialect.dialects.ge.access import (
    TensorDesc,
    data_operands,
    data_results,
    ge_type,
    input_desc,
    output_desc,
    slot_attrs,
)
from ge_dialect.dialects.ge.graph import GateOp, GraphOp
from ge_dialect.formats.cube import CubeTable


class Readers:
    """Who reads what in one graph; each value is looked at once, as a value may have many readers."""

    def __init__(self, graph: GraphOp) -> None:
        self._place = positions(graph)
        self._readers: dict[SSAValue, list[tuple[Operation, int]]] = {}
        self._outputs: dict[SSAValue, bool] = {}

    def of(self, value: SSAValue) -> list[tuple[Operation, int]]:
        """The readers of a value, in GE's order, seen through `ge.gate`."""
        known = self._readers.get(value)
        if known is not None:
            return known
        found: list[tuple[Operation, int]] = []
        for op, index in consumers(value, self._place):
            if isinstance(op, GateOp):
                found += self.of(op.output)
            else:
                found.append((op, index))
        self._readers[value] = found
        return found

    def has_net_output(self, value: SSAValue) -> bool:
        """Whether a NetOutput is among the readers of a value."""
        found = self._outputs.get(value)
        if found is None:
            found = self._outputs[value] = any(
                ge_type(op) == "NetOutput" for op, _ in self.of(value)
            )
        return found


@dataclass(frozen=True, slots=True)
class Candidate:
    """One node, with what the checks need to look at its surroundings."""

    op: Operation
    graph: GraphOp
    model: ModelGraphs
    readers: Readers
    table: CubeTable

    @property
    def inputs(self) -> int:
        """Number of data inputs, wired or not."""
        return len(data_operands(self.op))

    def wired(self) -> Iterator[tuple[int, SSAValue]]:
        """The wired data inputs with their slots."""
        for index, value in enumerate(data_operands(self.op)):
            if producer(value) is not None:
                yield index, value

    def input(self, index: int) -> TensorDesc | None:
        """The descriptor of an input, None for an unwired one that has none."""
        value = data_operands(self.op)[index]
        if (
            isinstance(value.type, NoneType)
            and "type" not in slot_attrs(self.op, "arg", index).data
        ):
            return None
        return input_desc(self.op, index)

    def output(self, index: int) -> TensorDesc | None:
        """The descriptor of an output, None for an absent one."""
        if isinstance(data_results(self.op)[index].type, NoneType):
            return None
        return output_desc(self.op, index)


def shape_of(desc: TensorDesc | None) -> tuple[int, ...]:
    """The storage shape of a descriptor; -2 for an unknown rank, as GE writes it; empty for no descriptor."""
    if desc is None:
        return ()
    return (-2,) if desc.shape is None else desc.shape


def origin_of(desc: TensorDesc | None) -> tuple[int, ...]:
    """The origin shape, likewise."""
    if desc is None:
        return ()
    return (-2,) if desc.origin_shape is None else desc.origin_shape


def text(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    return "[" + ", ".join("?" if dim < 0 else str(dim) for dim in shape) + "]"
