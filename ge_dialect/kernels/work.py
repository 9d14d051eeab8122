"""What one run of a kernel does: operations and bytes, from `work_table` and the arrays it runs on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

from ge_dialect.kernels import work_table as table
from ge_dialect.kernels.spec import OpSpec, Value, is_array


class Work(NamedTuple):
    """Operations (of the matrix unit when `cube`, else of the vector unit) and bytes read and written."""

    flops: float
    bytes: int
    cube: bool = False


Counter: TypeAlias = Callable[[Sequence[Value], Sequence[Value]], Work]
"""The work for given inputs and outputs; values that are no arrays count nothing."""


def counter_of(spec: OpSpec) -> Counter:
    """How the work of a node is counted: one look at the table for all runs."""
    kind = spec.type
    if kind in table.TOUCHES_NOTHING:
        return lambda inputs, outputs: Work(0, 0)
    if kind in table.SHAPE_ONLY:
        return lambda inputs, outputs: Work(0, touched(outputs))
    if kind in table.READS_WHAT_IT_WRITES:
        return lambda inputs, outputs: Work(0, touched(inputs[1:]) + 2 * touched(outputs))
    if kind in table.MOVES_ONLY:
        return lambda inputs, outputs: Work(0, touched(inputs) + touched(outputs))
    flops, cube = _arithmetic(spec)

    def count(inputs: Sequence[Value], outputs: Sequence[Value]) -> Work:
        return Work(flops(inputs, outputs), touched(inputs) + touched(outputs), cube)

    return count


def touched(values: Sequence[Value]) -> int:
    """Bytes of all arrays among the values."""
    size = 0
    for value in values:
        if is_array(value):
            size += value.nbytes
    return size


_Flops: TypeAlias = Callable[[Sequence[Value], Sequence[Value]], float]


def _arithmetic(spec: OpSpec) -> tuple[_Flops, bool]:
    """How operations are counted, and whether the matrix unit does them."""
    kind = spec.type
    if kind in table.PRODUCTS:
        transposed = spec.flag("adj_x1") or spec.flag("transpose_x1") or spec.flag("transA")
        return (lambda ins, outs: 2.0 * _size(outs) * _summed(ins, transposed)), True
    if kind in table.CONVOLUTIONS:
        return (lambda ins, outs: 2.0 * _size(outs) * prod(_shape(ins, 1)[1:])), True
    if kind in table.TRANSPOSED_CONVOLUTIONS:
        return (lambda ins, outs: 2.0 * _size(ins) * prod(_shape(ins, 1)[1:])), True
    if kind in table.RECURRENT:
        return _recurrent, True
    if kind in table.WINDOWED:
        window = float(prod(spec.ints("kernel_shape") or [1]))
        return (lambda ins, outs: window * _size(outs)), False
    if (each := table.PER_INPUT_ELEMENT.get(kind)) is not None:
        return (lambda ins, outs: float(each * _size(ins))), False
    own = table.PER_OUTPUT_ELEMENT.get(kind, 1)
    return (lambda ins, outs: float(own * _size(outs))), False


def _size(values: Sequence[Value]) -> int:
    return values[0].size if values and is_array(values[0]) else 0


def _shape(values: Sequence[Value], index: int) -> tuple[int, ...]:
    value: Any = values[index] if index < len(values) else None
    return tuple(value.shape) if is_array(value) else ()


def _summed(inputs: Sequence[Value], transposed: bool) -> int:
    """The dimension that a matrix product sums over."""
    shape = _shape(inputs, 0)
    rank = len(shape)
    if rank == 0:
        return 1
    return shape[rank - 2] if transposed and rank > 1 else shape[rank - 1]


def _recurrent(inputs: Sequence[Value], outputs: Sequence[Value]) -> float:
    steps, batch = (*_shape(inputs, 0)[:2], 1, 1)[:2]
    return 2.0 * steps * batch * (_size(inputs[1:2]) + _size(inputs[2:3]))
