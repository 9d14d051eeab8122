"""Which results are another value's memory under a new name."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.dialects.attrs import array_items, text_of
from ge_dialect.dialects.engine_table import ENGINES, GE_LOCAL
from ge_dialect.dialects.engine_types import VIEW_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    ge_attr,
    ge_type,
    get_text,
    is_absent,
    slot_attrs,
    source_op,
)
from ge_dialect.dialects.ge.graph import GateOp

_GE_LOCAL_LIB = ENGINES[GE_LOCAL].kernel_lib


def is_view(op: Operation) -> bool:
    """Whether a node makes no task and its output 0 is its input 0 seen with another shape (spec/engines.md 4.3).

    A node of such a type that another engine took is none: it copies.
    """
    if ge_type(op) not in VIEW_TYPES:
        return False
    source = source_op(op)
    if source is not None and source.domain != "ai.onnx":
        return False
    return get_text(op, "ge.kernel_lib") in (None, _GE_LOCAL_LIB)


def named_reference(op: Operation, output: int) -> int | None:
    """The input that has the same name as data output `output` (spec/no_task.md 3, rule 3), None without one.

    It holds for nodes with the attribute `reference` only. Names are those of the slots' dictionaries.
    """
    name = slot_attrs(op, "res", output).data.get("name")
    if name is None or (wanted := text_of(name)) is None:
        return None
    for slot, attrs in enumerate(array_items(op.attributes.get("ge.arg_attrs"))):
        if isinstance(attrs, DictionaryAttr) and text_of(attrs.data.get("name")) == wanted:
            return slot
    return None


def aliased_operand(result: OpResult) -> SSAValue | None:
    """The value whose memory a result is: of a view, of a `ge.gate`, of an output with `reuse_input`, of a
    reference by name; else None."""
    op = result.op
    if isinstance(op, GateOp):
        return op.value
    if result.index == 0 and op.operands and is_view(op):
        return None if is_absent(op.operands[0]) else op.operands[0]
    if "ge.res_attrs" in op.attributes:
        index = slot_attrs(op, "res", result.index).data.get("reuse_input")
        inputs = data_operands(op)
        if isinstance(index, IntegerAttr) and 0 <= index.value.data < len(inputs):
            return inputs[index.value.data]
        if ge_attr(op, "reference") is True:
            slot = named_reference(op, result.index)
            return inputs[slot] if slot is not None and slot < len(inputs) else None
    return None


def alias_roots(ops: list[Operation]) -> dict[SSAValue, SSAValue]:
    """For every result of the ops of a block, in block order: the value that owns its memory (itself, when it does)."""
    root: dict[SSAValue, SSAValue] = {}
    for op in ops:
        for result in op.results:
            source = aliased_operand(result)
            root[result] = result if source is None else root.get(source, source)
    return root
