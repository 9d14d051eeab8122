"""ONNX's Loop and SequenceMap in a host program: a `while` with a counter, and lists for what is collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.ge.access import data_results
from ge_dialect.dialects.ge.types import SequenceType
from ge_dialect.dialects.ge.weights import elements_attr
from ge_dialect.dialects.ge_task import Placement
from ge_dialect.lowering.tasks.host_branches import joined, make_while
from ge_dialect.lowering.tasks.host_counting import Collected, Counting, LoopParts, is_absent_value
from ge_dialect.lowering.tasks.host_lowering import HostLowering
from ge_dialect.lowering.tasks.host_scan import lower_scan
from ge_dialect.lowering.tasks.host_scope import HostValue
from ge_dialect.lowering.tasks.host_steps import call
from ge_dialect.lowering.tasks.host_types import SCALAR, is_tensor


def _loop(lowering: HostLowering, op: Operation) -> None:
    """Loop: M and the condition (each may be absent), then the carried values; the body gives the next condition, the
    next carried values, and one value to collect for each further output."""
    parts = LoopParts(lowering, op)
    builder = lowering.builder
    if len(parts.own) < 2:
        builder.refuse(
            op, f"needs a trip count and a condition (or absent slots), got {len(parts.own)} inputs"
        )
    limit, given, carried = parts.own[0], parts.own[1], parts.own[2:]
    count = len(carried)
    if len(parts.outputs) != 1 + len(data_results(op)) or len(parts.outputs) < 1 + count:
        builder.refuse(
            op,
            f"carries {count} values and has {len(data_results(op))} outputs, its body gives {len(parts.outputs)}",
        )
    counting = Counting(builder, op)
    lists = [Collected(builder, op, kind) for kind in parts.outputs[1 + count :]]
    start = builder.constant(elements_attr(np.array(True))) if is_absent_value(given) else given
    kinds = [
        SCALAR,
        joined(lowering, op, "the condition", [start.kind, parts.outputs[0]]),
        *(
            joined(lowering, op, f"carried value {k}", [value.kind, parts.outputs[1 + k]])
            for k, value in enumerate(carried)
        ),
    ]

    def condition(values: Sequence[HostValue]) -> HostValue:
        if is_absent_value(limit):
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
    (length_value,) = call(builder, op, "SequenceLength", [sequence], [SCALAR], source=source)
    length = builder.value(SCALAR, length_value)
    kinds = [SequenceType(kind) for kind in parts.outputs]
    empty = [
        builder.value(
            kind, call(builder, op, "SequenceConstruct", [], [kind], source=_CONSTRUCT)[0]
        )
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
    ends = make_while(lowering, op, initial, [SCALAR, *kinds], condition, body, frozenset((0,)))
    parts.set_results(ends[1:])


_CONSTRUCT = "ai.onnx::SequenceConstruct@11"


def _element(counting: Counting, sequence: HostValue, index: HostValue) -> HostValue:
    builder = counting.builder
    kind = sequence.kind.element if isinstance(sequence.kind, SequenceType) else sequence.kind
    ins = [builder.get(sequence, Placement.HOST), builder.get(index, Placement.HOST)]
    made = call(builder, counting.op, "SequenceAt", ins, [kind], source="ai.onnx::SequenceAt@11")
    return builder.value(kind, made[0])


def _inserted(
    counting: Counting, sequence: HostValue, value: HostValue, kind: Attribute
) -> HostValue:
    builder = counting.builder
    ins = [builder.get(sequence, Placement.HOST), builder.get(value, Placement.HOST)]
    made = call(
        builder, counting.op, "SequenceInsert", ins, [kind], source="ai.onnx::SequenceInsert@11"
    )
    return builder.value(kind, made[0])


LOOPS: Mapping[str, Callable[[HostLowering, Operation], None]] = MappingProxyType(
    {"Loop": _loop, "Scan": lower_scan, "SequenceMap": _sequence_map}
)
"""How each ONNX loop is lowered."""
