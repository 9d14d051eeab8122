"""A GE node as the rows of the operator table ask about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ge_dialect.dialects.ge import ConstantOp
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    dims_of,
    ge_attrs,
    ge_type,
    is_absent,
)
from ge_dialect.dialects.ge.weights import array_of


class ExportView:
    """Implements `ge_dialect.lowering.onnx.twins.form.GeNodeView`."""

    __slots__ = ("_operands", "attrs", "n_inputs", "n_outputs", "type", "version")

    def __init__(self, op: Operation, version: int) -> None:
        self._operands = data_operands(op)
        self.type = ge_type(op)
        self.version = version
        self.n_inputs = len(self._operands)
        self.n_outputs = len(data_results(op))
        self.attrs: Mapping[str, Any] = ge_attrs(op)

    def wired(self, index: int) -> bool:
        """Whether the input slot has a value."""
        return index < self.n_inputs and not is_absent(self._operands[index])

    def const(self, index: int) -> np.ndarray | None:
        """The elements of an input that is a constant, else None."""
        if index >= self.n_inputs:
            return None
        owner = self._operands[index].owner
        return array_of(owner.value) if isinstance(owner, ConstantOp) else None

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input, -1 an unknown dimension; None for an unknown rank."""
        return dims_of(self._operands[index].type) if index < self.n_inputs else None
