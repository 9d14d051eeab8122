"""ONNX's Loop, Scan and SequenceMap in a host program: a `while` with a counter, and lists for what is collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import i64, string_attr
from ge_dialect.dialects.ge import DataOp
from ge_dialect.dialects.ge.access import (
    data_results,
    ge_attr,
    get_int,
    get_text,
    node_name,
    source_op,
    subgraph_names,
)
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.types import SequenceType
from ge_dialect.dialects.ge.weights import elements_attr
from ge_dialect.dialects.ge_task import (
    LaunchOp,
    ListAppendOp,
    ListNewOp,
    ListStackOp,
    ListType,
    PlacedTensorType,
    Placement,
)
from ge_dialect.lowering.tasks.host_branches import graph_outputs, joined, make_while
from ge_dialect.lowering.tasks.host_scope import HostBuilder, HostValue
from ge_dialect.lowering.tasks.host_types import (
    BOOL,
    HOST_SCALAR,
    INT64,
    host_type,
    is_host_only,
    is_tensor,
    stacked,
)

if TYPE_CHECKING:
    from ge_dialect.lowering.tasks.host import HostLowering

CAPTURED = "captured"
"""`ge.formal` of a `ge.data` of a body that stands for an outer value."""

_SCALAR = TensorType(INT64, ())
_FLAG = TensorType(BOOL, ())
_SHAPE_DTYPE = {"dtype": i64(9)}


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
                self.op, f"has a body whose own input {last} comes behind the captured input {first}"
            )
        return first

    def run_body(self, formals: Mapping[int, HostValue], named: Mapping[str, HostValue] | None = None) -> list[HostValue]:
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


# --- steps of counting --------------------------------------------------------------------------------------------


class Counting:
    """Arithmetic on host scalars for one loop node."""

    def __init__(self, builder: HostBuilder, op: Operation) -> None:
        self.builder = builder
        self.op = op

    def binary(self, kind: str, one: HostValue, other: HostValue, result: Attribute = _SCALAR) -> HostValue:
        """`kind` of two scalars."""
        ins = [self.builder.get(one, Placement.HOST), self.builder.get(other, Placement.HOST)]
        made = self.builder.call(self.op, kind, ins, [host_type(result, Placement.HOST)])
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
        one = PlacedTensorType(TensorType(INT64, (1,)), Placement.HOST)
        shape = self.builder.call(self.op, "Shape", ins, [one], attrs)
        flat = self.builder.call(self.op, "Squeeze", shape, [HOST_SCALAR], {"axis": from_python([0])})
        return self.builder.value(_SCALAR, flat[0])

    def slice(self, value: HostValue, index: HostValue, axis: int) -> HostValue:
        """The slice of a tensor at one position of an axis, without that axis."""
        kind = _without_axis(value.kind, axis)
        where = self.builder.number(axis)
        if is_host_only(value.kind):
            ins = [self.builder.get(x, Placement.HOST) for x in (value, index, where)]
            made = self.builder.call(self.op, "GatherV2", ins, [host_type(kind, Placement.HOST)])
            return self.builder.value(kind, made[0])
        ins = [self.builder.get(x, Placement.DEVICE) for x in (value, index, where)]
        launch = LaunchOp.make(
            "GatherV2",
            ins,
            [host_type(kind, Placement.DEVICE)],
            stream=0,
            attributes={"ge.name": string_attr(node_name(self.op))},
        )
        self.builder.append(launch)
        return self.builder.value(kind, launch.results[0], launch)


def _flag_type(one: HostValue, other: HostValue) -> Attribute:
    """The type of a comparison: a scalar, unless an operand came as a tensor of one element."""
    if all(isinstance(x.kind, TensorType) and not x.kind.get_shape() for x in (one, other)):
        return _FLAG
    return UnrankedTensorType(BOOL)


def _without_axis(kind: Attribute, axis: int) -> Attribute:
    if not isinstance(kind, TensorType):
        return kind
    shape = list(kind.get_shape())
    if not -len(shape) <= axis < len(shape):
        return UnrankedTensorType(kind.element_type)
    del shape[axis]
    return TensorType(kind.element_type, shape)


class Collected:
    """A list that a loop fills and that becomes one tensor behind it."""

    def __init__(self, builder: HostBuilder, op: Operation, kind: Attribute) -> None:
        if not isinstance(kind, TensorType | UnrankedTensorType):
            builder.refuse(op, f"collects values of type {kind}; only tensors can be collected")
        self.builder = builder
        self.kind = kind
        self.list: SSAValue = builder.append(ListNewOp.make(ListType(kind))).results[0]

    def append(self, value: HostValue) -> None:
        """Add a tensor at the end."""
        self.builder.append(ListAppendOp.make(self.list, self.builder.get(value, Placement.ANY)))

    def stack(self, axis: int = 0, reverse: bool = False) -> HostValue:
        """The tensors along a new dimension at `axis` >= 0."""
        kind = stacked(self.kind, axis)
        placed = host_type(kind, Placement.DEVICE)
        assert isinstance(placed, PlacedTensorType)
        made = self.builder.append(ListStackOp.make(placed, self.list, axis=axis, reverse=reverse))
        return self.builder.value(kind, made.results[0])


# --- Loop -------------------------------------------------------------------------------------------------------


def _loop(lowering: HostLowering, op: Operation) -> None:
    """Loop: M and the condition (each may be absent), then the carried values; the body gives the next condition, the
    next carried values, and one value to collect for each further output."""
    parts = LoopParts(lowering, op)
    builder = lowering.builder
    if len(parts.own) < 2:
        builder.refuse(op, f"needs a trip count and a condition (or absent slots), got {len(parts.own)} inputs")
    limit, given, carried = parts.own[0], parts.own[1], parts.own[2:]
    count = len(carried)
    if len(parts.outputs) != 1 + len(data_results(op)) or len(parts.outputs) < 1 + count:
        builder.refuse(
            op,
            f"carries {count} values and has {len(data_results(op))} outputs, its body gives {len(parts.outputs)}",
        )
    counting = Counting(builder, op)
    lists = [Collected(builder, op, kind) for kind in parts.outputs[1 + count :]]
    start = builder.constant(elements_attr(np.array(True))) if _absent(given) else given
    kinds = [
        _SCALAR,
        joined(lowering, op, "the condition", [start.kind, parts.outputs[0]]),
        *(
            joined(lowering, op, f"carried value {k}", [value.kind, parts.outputs[1 + k]])
            for k, value in enumerate(carried)
        ),
    ]

    def condition(values: Sequence[HostValue]) -> HostValue:
        if _absent(limit):
            return values[1]
        return counting.both(values[1], counting.less(values[0], limit))

    def body(values: Sequence[HostValue]) -> Sequence[HostValue]:
        formals = {2 + k: value for k, value in enumerate(values[2:])}
        outputs = parts.run_body(formals, {"iteration": values[0], "condition": values[1]})
        for collected, value in zip(lists, outputs[1 + count :], strict=True):
            collected.append(value)
        return [counting.next(values[0]), *outputs[: 1 + count]]

    initial = [builder.number(0), start, *carried]
    results = make_while(lowering, op, initial, kinds, condition, body, frozenset((0, 1)))
    parts.set_results([*results[2:], *(collected.stack() for collected in lists)])


def _absent(value: HostValue) -> bool:
    return isinstance(value.kind, NoneType)


# --- Scan -------------------------------------------------------------------------------------------------------


class ScanParts(LoopParts):
    """A Scan node: states, scan inputs with axis and direction each, scan outputs with axis and direction each."""

    def __init__(self, lowering: HostLowering, op: Operation) -> None:
        super().__init__(lowering, op)
        source = source_op(op)
        self.batched = source is not None and source.version < 9
        self.first = 1 if self.batched else 0
        scans = ge_attr(op, "num_scan_inputs", 0)
        self.states = self.own[self.first : len(self.own) - scans]
        self.scanned = self.own[len(self.own) - scans :]
        if scans < 1 or len(self.own) - scans < self.first:
            lowering.builder.refuse(op, f"has {len(self.own)} inputs, num_scan_inputs says {scans}")
        count = len(self.states)
        self.collected = self.outputs[count:]
        if len(self.outputs) != len(data_results(op)) or len(self.outputs) < count:
            lowering.builder.refuse(
                op, f"has {count} states and {len(data_results(op))} outputs, its body gives {len(self.outputs)}"
            )
        backward = "directions" if self.batched else "scan_input_directions"
        self.input_axes = self._list("scan_input_axes", scans)
        self.backward = self._list(backward, scans)
        self.output_axes = self._list("scan_output_axes", len(self.collected))
        self.prepend = self._list("scan_output_directions", len(self.collected))

    def _list(self, name: str, count: int) -> list[int]:
        values = ge_attr(self.op, name) or [0] * count
        if len(values) != count:
            self.lowering.builder.refuse(self.op, f"needs {count} entries in {name}, got {len(values)}")
        return values

    def output_axis(self, k: int) -> int:
        """The axis of scan output `k`, counted from the front."""
        axis, kind = self.output_axes[k], self.collected[k]
        if axis >= 0:
            return axis
        if not isinstance(kind, TensorType):
            self.lowering.builder.refuse(
                self.op, f"has scan_output_axes {axis} for an output of unknown rank; only axes >= 0 can be used there"
            )
        return axis + kind.get_num_dims() + 1

    def scan(
        self, states: Sequence[HostValue], scanned: Sequence[HostValue], length: HostValue
    ) -> tuple[list[HostValue], list[Collected]]:
        """Append the loop over one sequence of `length` slices: the last states, and what was collected."""
        builder = self.lowering.builder
        counting = Counting(builder, self.op)
        lists = [Collected(builder, self.op, kind) for kind in self.collected]
        last = counting.binary("Sub", length, builder.number(1)) if any(self.backward) else length
        count = len(states)
        kinds = [
            joined(self.lowering, self.op, f"state {k}", [value.kind, kind])
            for k, (value, kind) in enumerate(zip(states, self.outputs, strict=False))
        ]

        def condition(values: Sequence[HostValue]) -> HostValue:
            return counting.less(values[0], length)

        def body(values: Sequence[HostValue]) -> Sequence[HostValue]:
            back = counting.binary("Sub", last, values[0]) if any(self.backward) else values[0]
            formals = {self.first + k: value for k, value in enumerate(values[1:])}
            for k, (value, axis) in enumerate(zip(scanned, self.input_axes, strict=True)):
                index = back if self.backward[k] else values[0]
                formals[self.first + count + k] = counting.slice(value, index, axis)
            outputs = self.run_body(formals)
            for collected, value in zip(lists, outputs[count:], strict=True):
                collected.append(value)
            return [counting.next(values[0]), *outputs[:count]]

        results = make_while(
            self.lowering,
            self.op,
            [builder.number(0), *states],
            [_SCALAR, *kinds],
            condition,
            body,
            frozenset((0,)),
        )
        return results[1:], lists


def _scan(lowering: HostLowering, op: Operation) -> None:
    parts = ScanParts(lowering, op)
    if parts.batched:
        _batched_scan(lowering, op, parts)
        return
    length = Counting(lowering.builder, op).dim(parts.scanned[0], parts.input_axes[0])
    states, lists = parts.scan(parts.states, parts.scanned, length)
    outputs = [
        collected.stack(parts.output_axis(k), bool(parts.prepend[k])) for k, collected in enumerate(lists)
    ]
    parts.set_results([*states, *outputs])


def _batched_scan(lowering: HostLowering, op: Operation, parts: ScanParts) -> None:
    """Scan of opset 8: a loop over the batch around the loop over the sequence.

    States are [batch, ...], scan inputs and outputs [batch, sequence, ...]. With sequence lengths a batch entry stops
    at its own length; what it did not produce is filled with zeros.
    """
    builder = lowering.builder
    counting = Counting(builder, op)
    batch = counting.dim(parts.scanned[0], 0)
    longest = counting.dim(parts.scanned[0], 1)
    lengths = parts.own[0]
    final = [Collected(builder, op, kind) for kind in parts.outputs[: len(parts.states)]]
    per_entry = [Collected(builder, op, stacked(kind, 0)) for kind in parts.collected]

    def condition(values: Sequence[HostValue]) -> HostValue:
        return counting.less(values[0], batch)

    def body(values: Sequence[HostValue]) -> Sequence[HostValue]:
        entry = values[0]
        states = [counting.slice(value, entry, 0) for value in parts.states]
        scanned = [counting.slice(value, entry, 0) for value in parts.scanned]
        length = longest if _absent(lengths) else _pick(counting, lengths, entry)
        ends, lists = parts.scan(states, scanned, length)
        for collected, value in zip(final, ends, strict=True):
            collected.append(value)
        for collected, inner in zip(per_entry, lists, strict=True):
            stack = inner.stack()
            if not _absent(lengths):
                stack = _filled(counting, stack, counting.binary("Sub", longest, length))
            collected.append(stack)
        return [counting.next(entry)]

    make_while(lowering, op, [builder.number(0)], [_SCALAR], condition, body, frozenset((0,)))
    parts.set_results([collected.stack() for collected in (*final, *per_entry)])


def _pick(counting: Counting, values: HostValue, index: HostValue) -> HostValue:
    """One number of a list on the host."""
    builder = counting.builder
    ins = [builder.get(x, Placement.HOST) for x in (values, index, builder.number(0))]
    return builder.value(_SCALAR, builder.call(counting.op, "GatherV2", ins, [HOST_SCALAR])[0])


def _filled(counting: Counting, value: HostValue, missing: HostValue) -> HostValue:
    """The tensor with `missing` zeros at the end of axis 0."""
    builder, op = counting.builder, counting.op
    if not isinstance(value.kind, TensorType):
        builder.refuse(op, "collects tensors of unknown rank over sequences of different lengths")
    rank = value.kind.get_num_dims()
    row = PlacedTensorType(TensorType(INT64, (1,)), Placement.HOST)
    ins = [builder.get(missing, Placement.HOST)]
    one = builder.call(op, "Unsqueeze", ins, [row], {"axes": from_python([0])})
    zeros = [builder.get(builder.number([0] * count), Placement.HOST) for count in (rank, rank - 1) if count]
    joined_type = PlacedTensorType(TensorType(INT64, (2 * rank,)), Placement.HOST)
    attrs = {"concat_dim": i64(0), "N": i64(1 + len(zeros))}
    pads = builder.call(op, "ConcatD", [zeros[0], one[0], *zeros[1:]], [joined_type], attrs)
    kind = TensorType(value.kind.element_type, [-1, *value.kind.get_shape()[1:]])
    on_host = is_host_only(kind)
    place = Placement.HOST if on_host else Placement.DEVICE
    operands = [builder.get(x, place) for x in (value, builder.value(TensorType(INT64, (2 * rank,)), pads[0]))]
    if on_host:
        made = builder.call(op, "Pad", operands, [host_type(kind, place)], source="ai.onnx::Pad@13")
        return builder.value(kind, made[0])
    launch = LaunchOp.make(
        "Pad",
        operands,
        [host_type(kind, place)],
        stream=0,
        source="ai.onnx::Pad@13",
        attributes={"ge.name": string_attr(node_name(op))},
    )
    builder.append(launch)
    return builder.value(kind, launch.results[0], launch)


# --- SequenceMap ------------------------------------------------------------------------------------------------


def _sequence_map(lowering: HostLowering, op: Operation) -> None:
    """SequenceMap: the body on the elements of the first sequence; further inputs are sequences of the same length,
    taken element by element, or tensors, which every turn sees."""
    parts = LoopParts(lowering, op)
    builder = lowering.builder
    counting = Counting(builder, op)
    results = data_results(op)
    if not parts.own or is_tensor(parts.own[0].kind):
        builder.refuse(op, "needs a sequence as first input")
    if len(parts.outputs) != len(results):
        builder.refuse(op, f"has {len(results)} outputs, its body gives {len(parts.outputs)}")
    sequence = builder.get(parts.own[0], Placement.HOST)
    source = "ai.onnx::SequenceLength@11"
    length = builder.value(_SCALAR, builder.call(op, "SequenceLength", [sequence], [HOST_SCALAR], source=source)[0])
    kinds = [SequenceType(kind) for kind in parts.outputs]
    empty = [
        builder.value(kind, builder.call(op, "SequenceConstruct", [], [host_type(kind, Placement.HOST)], source=_CONSTRUCT)[0])
        for kind in kinds
    ]

    def condition(values: Sequence[HostValue]) -> HostValue:
        return counting.less(values[0], length)

    def body(values: Sequence[HostValue]) -> Sequence[HostValue]:
        formals = {
            k: value if is_tensor(value.kind) else _element(counting, value, values[0])
            for k, value in enumerate(parts.own)
        }
        outputs = parts.run_body(formals)
        grown = [
            _inserted(counting, sequence, value, kind)
            for sequence, value, kind in zip(values[1:], outputs, kinds, strict=True)
        ]
        return [counting.next(values[0]), *grown]

    initial = [builder.number(0), *empty]
    ends = make_while(lowering, op, initial, [_SCALAR, *kinds], condition, body, frozenset((0,)))
    parts.set_results(ends[1:])


_CONSTRUCT = "ai.onnx::SequenceConstruct@11"


def _element(counting: Counting, sequence: HostValue, index: HostValue) -> HostValue:
    builder = counting.builder
    kind = sequence.kind.element if isinstance(sequence.kind, SequenceType) else sequence.kind
    ins = [builder.get(sequence, Placement.HOST), builder.get(index, Placement.HOST)]
    result = host_type(kind, Placement.HOST)
    made = builder.call(counting.op, "SequenceAt", ins, [result], source="ai.onnx::SequenceAt@11")
    return builder.value(kind, made[0])


def _inserted(counting: Counting, sequence: HostValue, value: HostValue, kind: Attribute) -> HostValue:
    builder = counting.builder
    ins = [builder.get(sequence, Placement.HOST), builder.get(value, Placement.HOST)]
    result = host_type(kind, Placement.HOST)
    made = builder.call(counting.op, "SequenceInsert", ins, [result], source="ai.onnx::SequenceInsert@11")
    return builder.value(kind, made[0])


LOOPS: Mapping[str, Callable[[HostLowering, Operation], None]] = MappingProxyType(
    {"Loop": _loop, "Scan": _scan, "SequenceMap": _sequence_map}
)
"""How each ONNX loop is lowered."""
