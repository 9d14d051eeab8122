"""ONNX's Scan in a host program: a `while` over the slices of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Operation

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import data_results, dims_of, ge_attr, source_op
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.weights import ranked_tensor
from ge_dialect.dialects.ge_task import Placement
from ge_dialect.lowering.tasks.host_branches import joined, make_while
from ge_dialect.lowering.tasks.host_counting import (
    NUMBER,
    Collected,
    Counting,
    LoopParts,
    is_absent_value,
)
from ge_dialect.lowering.tasks.host_lowering import HostLowering
from ge_dialect.lowering.tasks.host_scope import HostValue
from ge_dialect.lowering.tasks.host_steps import call
from ge_dialect.lowering.tasks.host_types import INT64, SCALAR, as_tensor, with_axis


class ScanParts(LoopParts):
    """A Scan node: states, scan inputs with axis and direction each, scan outputs with axis and direction each."""

    def __init__(self, lowering: HostLowering, op: Operation) -> None:
        super().__init__(lowering, op)
        source = source_op(op)
        self.batched = source is not None and source.version < 9
        self.first = 1 if self.batched else 0
        scans = ge_attr(op, "num_scan_inputs", 0)
        if type(scans) is not int:
            lowering.builder.refuse(op, f"has num_scan_inputs {scans!r}, no integer")
        if scans < 1 or len(self.own) - scans < self.first:
            lowering.builder.refuse(op, f"has {len(self.own)} inputs, num_scan_inputs says {scans}")
        self.states = self.own[self.first : len(self.own) - scans]
        self.scanned = self.own[len(self.own) - scans :]
        count = len(self.states)
        self.collected = self.outputs[count:]
        if len(self.outputs) != len(data_results(op)) or len(self.outputs) < count:
            lowering.builder.refuse(
                op,
                f"has {count} states and {len(data_results(op))} outputs, its body gives {len(self.outputs)}",
            )
        backward = "directions" if self.batched else "scan_input_directions"
        self.input_axes = self._list("scan_input_axes", scans)
        self.backward = self._list(backward, scans)
        self.output_axes = self._list("scan_output_axes", len(self.collected))
        self.prepend = self._list("scan_output_directions", len(self.collected))

    def _list(self, name: str, count: int) -> list[int]:
        given = ge_attr(self.op, name)
        values = cast("list[Any]", [] if given is None else given)
        if type(values) is not list or any(type(x) is not int for x in values):
            self.lowering.builder.refuse(self.op, f"has {name} {values!r}, no list of integers")
        if values and len(values) != count:
            self.lowering.builder.refuse(
                self.op, f"needs {count} entries in {name}, got {len(values)}"
            )
        return values or [0] * count

    def output_axis(self, k: int) -> int:
        """The axis of scan output `k`, counted from the front."""
        axis, kind = self.output_axes[k], self.collected[k]
        if axis >= 0:
            return axis
        dims = dims_of(kind)
        if dims is None:
            self.lowering.builder.refuse(
                self.op,
                f"has scan_output_axes {axis} for an output of unknown rank; only axes >= 0 can be used there",
            )
        return axis + len(dims) + 1

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
            [SCALAR, *kinds],
            condition,
            body,
            frozenset((0,)),
        )
        return results[1:], lists


def lower_scan(lowering: HostLowering, op: Operation) -> None:
    parts = ScanParts(lowering, op)
    if parts.batched:
        _batched_scan(lowering, op, parts)
        return
    length = Counting(lowering.builder, op).dim(parts.scanned[0], parts.input_axes[0])
    states, lists = parts.scan(parts.states, parts.scanned, length)
    outputs = [
        collected.stack(parts.output_axis(k), bool(parts.prepend[k]))
        for k, collected in enumerate(lists)
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
    per_entry = [Collected(builder, op, with_axis(kind, 0)) for kind in parts.collected]

    def condition(values: Sequence[HostValue]) -> HostValue:
        return counting.less(values[0], batch)

    def body(values: Sequence[HostValue]) -> Sequence[HostValue]:
        entry = values[0]
        states = [counting.slice(value, entry, 0) for value in parts.states]
        scanned = [counting.slice(value, entry, 0) for value in parts.scanned]
        length = longest if is_absent_value(lengths) else _pick(counting, lengths, entry)
        ends, lists = parts.scan(states, scanned, length)
        for collected, value in zip(final, ends, strict=True):
            collected.append(value)
        for collected, inner in zip(per_entry, lists, strict=True):
            stack = inner.stack()
            if not is_absent_value(lengths):
                stack = _filled(counting, stack, counting.binary("Sub", longest, length))
            collected.append(stack)
        return [counting.next(entry)]

    make_while(lowering, op, [builder.number(0)], [SCALAR], condition, body, frozenset((0,)))
    parts.set_results([collected.stack() for collected in (*final, *per_entry)])


def _pick(counting: Counting, values: HostValue, index: HostValue) -> HostValue:
    """One number of a list on the host."""
    builder = counting.builder
    ins = [builder.get(x, Placement.HOST) for x in (values, index, builder.number(0))]
    return builder.value(SCALAR, call(builder, counting.op, "GatherV2", ins, [SCALAR])[0])


def _filled(counting: Counting, value: HostValue, missing: HostValue) -> HostValue:
    """The tensor with `missing` zeros at the end of axis 0."""
    builder, op = counting.builder, counting.op
    dims, tensor = dims_of(value.kind), as_tensor(value.kind)
    if dims is None or tensor is None:
        builder.refuse(op, "collects tensors of unknown rank over sequences of different lengths")
    rank = len(dims)
    ins = [builder.get(missing, Placement.HOST)]
    one = call(builder, op, "Unsqueeze", ins, [NUMBER], {"axes": from_python([0])})
    before, after = (
        [builder.get(builder.number([0] * count), Placement.HOST)] if count else []
        for count in (rank, rank - 1)
    )
    pads_type = ranked_tensor(INT64, (2 * rank,))
    attrs = {"concat_dim": i64(0), "N": i64(1 + len(before) + len(after))}
    pads = call(builder, op, "ConcatD", [*before, *one, *after], [pads_type], attrs)
    kind = ranked_tensor(tensor.element_type, [-1, *dims[1:]])
    return counting.compute(
        "Pad", (value, builder.value(pads_type, pads[0])), kind, "ai.onnx::Pad@13"
    )
