"""What loops of a host program are made of: a loop node's parts, counting on the host, lists that are collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import NoneType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge import DataOp
from ge_dialect.dialects.ge.access import (
    data_results,
    dims_of,
    get_int,
    get_text,
    subgraph_names,
)
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.weights import ranked_tensor
from ge_dialect.dialects.ge_task import (
    ListAppendOp,
    ListNewOp,
    ListStackOp,
    ListType,
    PlacedTensorType,
    Placement,
)
from ge_dialect.lowering.tasks.host_branches import graph_outputs
from ge_dialect.lowering.tasks.host_lowering import HostLowering
from ge_dialect.lowering.tasks.host_scope import HostBuilder, HostValue
from ge_dialect.lowering.tasks.host_steps import call, launch_steps, made_node
from ge_dialect.lowering.tasks.host_types import (
    BOOL,
    FLAG,
    INT64,
    SCALAR,
    as_tensor,
    host_type,
    is_host_only,
    with_axis,
    without_axis,
)

CAPTURED = "captured"
"""`ge.formal` of a `ge.data` of a body that stands for an outer value."""

NUMBER = ranked_tensor(INT64, (1,))
"""A list of one number."""

_SHAPE_DTYPE = {"dtype": i64(9)}


def is_absent_value(value: HostValue) -> bool:
    """Whether a slot is not wired."""
    return isinstance(value.kind, NoneType)


class LoopParts:
    """What a loop node says: its body, its own inputs, and the outer values that the body uses behind them."""

    def __init__(self, lowering: HostLowering, op: Operation) -> None:
        names = subgraph_names(op)
        if len(names) != 1:
            lowering.builder.refuse(op, f"needs one graph, its body, got {len(names)}")
        self.lowering = lowering
        self.op = op
        self.body: GraphOp = lowering.subgraph(op, names[0])
        self.inputs = lowering.operands(op)
        self.own = self.inputs[: self._own_count()]
        self.outputs = graph_outputs(self.body)

    def _own_count(self) -> int:
        """Where the outer values begin: at the first input that a `ge.data` marked `captured` stands for."""
        first = len(self.inputs)
        last = -1
        for op in self.body.block.ops:
            index = get_int(op, "ge.parent_node_index") if isinstance(op, DataOp) else None
            if index is not None and get_text(op, "ge.formal") == CAPTURED:
                first = min(first, index)
            elif index is not None:
                last = max(last, index)
        if last >= first:
            self.lowering.builder.refuse(
                self.op,
                f"has a body whose own input {last} comes behind the captured input {first}",
            )
        return first

    def run_body(
        self, formals: Mapping[int, HostValue], named: Mapping[str, HostValue] | None = None
    ) -> list[HostValue]:
        """Append the body's steps; `formals` by the number of the node's input, `named` by `ge.formal`."""
        for op in self.body.block.ops:
            if isinstance(op, DataOp) and named and (formal := get_text(op, "ge.formal")) in named:
                self.lowering.values[data_results(op)[0]] = named[formal or ""]
        captured = dict(enumerate(self.inputs[len(self.own) :], len(self.own)))
        values = self.lowering.lower_graph(self.body, {**captured, **formals})
        if len(values) != len(self.outputs):
            self.lowering.builder.refuse(self.op, "has a body without outputs")
        return values

    def set_results(self, values: Sequence[HostValue]) -> None:
        """Give the node's outputs their values."""
        for result, value in zip(data_results(self.op), values, strict=True):
            if value.ssa is not None:
                value.ssa.name_hint = result.name_hint
            self.lowering.values[result] = value


class Counting:
    """Arithmetic on host scalars for one loop node."""

    def __init__(self, builder: HostBuilder, op: Operation) -> None:
        self.builder = builder
        self.op = op

    def binary(
        self, kind: str, one: HostValue, other: HostValue, result: Attribute = SCALAR
    ) -> HostValue:
        """`kind` of two scalars."""
        ins = [self.builder.get(one, Placement.HOST), self.builder.get(other, Placement.HOST)]
        made = call(self.builder, self.op, kind, ins, [result])
        return self.builder.value(result, made[0])

    def next(self, counter: HostValue) -> HostValue:
        """The counter, one on."""
        return self.binary("Add", counter, self.builder.number(1))

    def less(self, one: HostValue, other: HostValue) -> HostValue:
        """Whether one scalar is below the other."""
        return self.binary("Less", one, other, _flag_type(one, other))

    def both(self, one: HostValue, other: HostValue) -> HostValue:
        """Whether both flags are set."""
        return self.binary("LogicalAnd", one, other, _flag_type(one, other))

    def dim(self, value: HostValue, axis: int) -> HostValue:
        """One dimension of a tensor, as a scalar; negative axes count from the end."""
        attrs = {**_SHAPE_DTYPE, "start": i64(axis)}
        if axis != -1:
            attrs["end"] = i64(axis + 1)
        ins = [self.builder.get(value, Placement.ANY)]
        shape = call(self.builder, self.op, "Shape", ins, [NUMBER], attrs)
        flat = call(self.builder, self.op, "Squeeze", shape, [SCALAR], {"axis": from_python([0])})
        return self.builder.value(SCALAR, flat[0])

    def slice(self, value: HostValue, index: HostValue, axis: int) -> HostValue:
        """The slice of a tensor at one position of an axis, without that axis."""
        where = self.builder.number(axis)
        return self.compute("GatherV2", (value, index, where), without_axis(value.kind, axis))

    def compute(
        self, kind: str, inputs: Sequence[HostValue], result: Attribute, source: str | None = None
    ) -> HostValue:
        """An operator on tensors that the loop cuts or fills up: on the device, on texts on the host."""
        builder = self.builder
        if is_host_only(result):
            ins = [builder.get(x, Placement.HOST) for x in inputs]
            results = call(builder, self.op, kind, ins, [result], source=source)
            return builder.value(result, results[0])
        node = made_node(self.op, kind, 1, source=source)
        (made,), launch = launch_steps(builder, node, inputs, [result], 0)
        return builder.value(result, made, launch)


def _flag_type(one: HostValue, other: HostValue) -> Attribute:
    """The type of a comparison: a scalar, unless an operand came as a tensor of one element."""
    scalars = dims_of(one.kind) == () and dims_of(other.kind) == ()
    return FLAG if scalars else UnrankedTensorType(BOOL)


class Collected:
    """A list that a loop fills and that becomes one tensor behind it."""

    def __init__(self, builder: HostBuilder, op: Operation, kind: Attribute) -> None:
        tensor = as_tensor(kind)
        if tensor is None:
            builder.refuse(op, f"collects values of type {kind}; only tensors can be collected")
        self.builder = builder
        self.kind = kind
        self.list: SSAValue = builder.append(ListNewOp.make(ListType(tensor))).results[0]

    def append(self, value: HostValue) -> None:
        """Add a tensor at the end."""
        self.builder.append(ListAppendOp.make(self.list, self.builder.get(value, Placement.ANY)))

    def stack(self, axis: int = 0, reverse: bool = False) -> HostValue:
        """The tensors along a new dimension at `axis` >= 0."""
        kind = with_axis(self.kind, axis)
        placed = host_type(kind, Placement.DEVICE)
        assert isinstance(placed, PlacedTensorType)
        made = self.builder.append(ListStackOp.make(placed, self.list, axis=axis, reverse=reverse))
        self.builder.own(made.results[0], 0)
        return self.builder.value(kind, made.results[0])
