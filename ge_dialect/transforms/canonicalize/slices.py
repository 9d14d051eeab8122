"""Slices whose optional inputs are not wired: what their absence means, written out.

ONNX lets `Slice` go without axes and steps. GE's own importer of ONNX models fills such slots of StridedSliceV2 with
constants, and passes of GE rely on that: host execution keeps a node with an empty input slot on the device.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import data_operands, is_absent, source_op, static_shape
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.kernels import Array

SLICE = "StridedSliceV2"
_BEGIN, _AXES, _STRIDES = 1, 3, 4


def meant_by_absence(op: Operation, kind: str) -> list[tuple[int, Array]]:
    """The constants that a slice's absent slots stand for, by slot: axes 0, 1, ... and strides of one.

    Nothing for other nodes, and where the number of starts is not known.
    """
    if kind != SLICE or source_op(op) is not None:
        return []
    operands = data_operands(op)
    absent = [k for k in (_AXES, _STRIDES) if k < len(operands) and is_absent(operands[k])]
    if not absent:
        return []
    begin = operands[_BEGIN].type
    shape = static_shape(begin)
    if shape is None or len(shape) != 1:
        return []
    dtype = dtype_of(begin.element_type).numpy  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    if dtype is None:
        return []
    count = shape[0]
    made = {_AXES: np.arange(count, dtype=dtype), _STRIDES: np.ones(count, dtype)}
    return [(slot, made[slot]) for slot in absent]
