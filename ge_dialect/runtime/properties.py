"""Reading tasks and steps: numbers and operand groups."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge_task.clauses import ints_of

Operands = Sequence[SSAValue]


def number(op: Operation, name: str, default: int = 0) -> int:
    """An integer property, `default` when it is not there."""
    value = op.properties.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else default


def numbers(op: Operation, name: str) -> tuple[int, ...]:
    """An integer list property, empty when it is not there."""
    value = op.properties.get(name)
    return ints_of(value) if value is not None else ()


def operand_groups(op: Operation) -> tuple[Operands, Operands, Operands]:
    """Inputs, outputs and workspaces; an op whose operands are in no groups has inputs only."""
    sizes = (*numbers(op, "operandSegmentSizes"), 0, 0)
    operands = op.operands
    if len(sizes) == 2:
        return operands, (), ()
    ins, outs = sizes[0], sizes[0] + sizes[1]
    return operands[:ins], operands[ins:outs], operands[outs : outs + sizes[2]]
