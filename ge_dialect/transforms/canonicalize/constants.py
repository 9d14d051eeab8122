"""The constants of one graph while it is swept: their values, and one op for equal ones."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, SSAValue

from ge_dialect.dialects.ge.nodes import ConstantOp
from ge_dialect.dialects.ge.weights import ELIDE_ABOVE_BYTES, StringElementsAttr, array_of
from ge_dialect.kernels import Array

_EDGE = 64


def _holds_bytes(value: Attribute) -> bool:
    """Whether a constant's content is here, neither left out of the text nor in a file that is not loaded."""
    return isinstance(value, DenseIntOrFPElementsAttr | StringElementsAttr)


def _key(value: Attribute, kind: Attribute) -> Hashable:
    """What equal constants have in common; cheap for large ones, so unequal ones may share it too."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        data = value.data.data
        size = len(data)
        if size <= ELIDE_ABOVE_BYTES:
            return kind, bytes(data)
        return (
            kind,
            size,
            bytes(data[:_EDGE]),
            bytes(data[size // 2 : size // 2 + _EDGE]),
            bytes(data[-_EDGE:]),
        )
    return kind, value


def _equal(one: Attribute, other: Attribute) -> bool:
    if isinstance(one, DenseIntOrFPElementsAttr) and isinstance(other, DenseIntOrFPElementsAttr):
        a, b = one.data.data, other.data.data
        return a is b or bool(
            np.array_equal(np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8))
        )
    return one == other


class ConstantTable:
    """Constants by value. Constants without their bytes (elided) are nobody's equal."""

    def __init__(self) -> None:
        self._ops: dict[SSAValue, ConstantOp] = {}
        self._arrays: dict[SSAValue, Array] = {}
        self._same: dict[Hashable, list[ConstantOp]] = {}

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._ops

    def has_bytes(self, value: SSAValue) -> bool:
        """Whether the constant that makes `value` holds its bytes."""
        return _holds_bytes(self._ops[value].value)

    def array(self, value: SSAValue) -> Array | None:
        """The elements of a value that a constant with bytes makes, else None."""
        if value not in self._ops or not self.has_bytes(value):
            return None
        if (found := self._arrays.get(value)) is None:
            found = self._arrays[value] = array_of(self._ops[value].value)
        return found

    def equal_to(self, value: Attribute, kind: Attribute) -> ConstantOp | None:
        """A constant of the graph with this content and this result type."""
        if not _holds_bytes(value):
            return None
        for op in self._same.get(_key(value, kind), ()):
            if _equal(op.value, value):
                return op
        return None

    def add(self, op: ConstantOp) -> None:
        """Enter a constant, which stands in front of all that may be replaced by it from now on."""
        result = op.results[0]
        self._ops[result] = op
        if self.has_bytes(result):
            self._same.setdefault(_key(op.value, result.type), []).append(op)
