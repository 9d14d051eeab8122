"""Tasks that an AI Core node makes beside its own kernel (spec/tasks.md 1.1, and rule 3 of section 1)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.task_count import PARTLY_SUPPORTED, own_memset, task_error
from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.engine_table import AI_CPU_ASCEND
from ge_dialect.dialects.ge_task import BufferOp, KernelOp
from ge_dialect.dialects.ge_task.task import KernelTaskOp

MEMSET = "MemSet"


def _overlap(one: SSAValue, other: SSAValue) -> bool:
    a, b = one.owner, other.owner
    if not isinstance(a, BufferOp) or not isinstance(b, BufferOp) or a.space != b.space:
        return False
    start, there = a.offset.value.data, b.offset.value.data
    return start < there + b.size.value.data and there < start + a.size.value.data


def memset_of(op: Operation, main: KernelTaskOp) -> KernelOp | None:
    """The kernel that zeroes the outputs of a node which zeroes its own memory, in front of its own kernel `main`.

    Raises TaskGenerationError for an output that is not there, or that lies on an input, which would be lost.
    """
    zeroed = own_memset(op)
    if not zeroed:
        return None
    outs: Sequence[SSAValue] = main.outs
    if any(not 0 <= index < len(outs) for index in zeroed):
        raise task_error(op, f"zeroes outputs {list(zeroed)}, it has {len(outs)}")
    chosen = [outs[index] for index in zeroed]
    for index, out in zip(zeroed, chosen, strict=True):
        if any(_overlap(out, value) for value in main.ins):
            raise task_error(op, f"zeroes output {index} first, which lies on one of its inputs")
    stream, number = main.stream.value.data, main.op_index
    made = KernelOp.make(
        MEMSET,
        (),
        chosen,
        stream=stream,
        op_index=None if number is None else number.value.data,
        attributes=main.attributes,
    )
    for name in ("engine", "kernel_type"):
        if name in main.properties:
            made.properties[name] = main.properties[name]
    return made


def fallback_of(main: KernelTaskOp, kernel_type: int) -> KernelOp:
    """The AI CPU variant of a partly supported node: the work of its AI Core kernel `main`, where that refuses it."""
    made = KernelOp.create(
        operands=tuple(main.operands),
        properties={
            **main.properties,
            "engine": string(AI_CPU_ASCEND),
            "kernel_type": i64(kernel_type),
            "payload": DictionaryAttr({PARTLY_SUPPORTED: UNIT}),
        },
        attributes=dict(main.attributes),
    )
    made.location = main.location
    return made
