"""Slices of tensors by the number of the turn."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ge_dialect.dialects.ge.access import desc_of_type
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.transforms.control_flow.flat_graph import FlatGraph, shape_of
from ge_dialect.transforms.control_flow.loop import Update


def read_slice(
    flat: FlatGraph, owner: Operation, value: SSAValue, index: SSAValue, axis: int
) -> SSAValue:
    """Slice `index` of `value` along `axis`, which the result does not have."""
    shape = shape_of(value)
    kind = tensor_type(desc_of_type(value.type).dtype, (*shape[:axis], *shape[axis + 1 :]))
    return flat.node(owner, "GatherV2", [value, index, flat.number(axis)], kind)


class SliceWriter:
    """The output `result` of a loop, joined from one slice a turn along `axis`.

    Slices are written into memory in which they lie one after the other; for another axis than 0 that is transposed
    behind the loop.
    """

    def __init__(
        self,
        flat: FlatGraph,
        owner: Operation,
        result: OpResult,
        slice_type: Attribute,
        axis: int = 0,
        backward: bool = False,
    ) -> None:
        desc = desc_of_type(slice_type)
        self.result = result
        self.axis = axis
        self.backward = backward
        self._flat = flat
        self._owner = owner
        self._dtype = desc.dtype
        self._shape = (shape_of(result)[axis], *(desc.shape or ()))

    def memory(self) -> SSAValue:
        """The memory before the first turn, full of zeros."""
        dims = self._flat.constant(np.array(self._shape, np.int64))
        zero = self._flat.constant(np.zeros((), self._dtype.numpy))
        kind = tensor_type(self._dtype, self._shape)
        return self._flat.node(self._owner, "Fill", [dims, zero], kind)

    def at(self, index: SSAValue, value: SSAValue) -> Update:
        """Writes `value` as slice `index`."""

        def write(memory: SSAValue) -> SSAValue:
            operands = [memory, index, value]
            return self._flat.node(
                self._owner, "ScatterUpdate", operands, memory.type, reuse_input=0
            )

        return write

    def finished(self, memory: SSAValue) -> SSAValue:
        """The output, out of the memory behind the last turn."""
        if self.axis == 0:
            return memory
        rank = len(self._shape)
        order = [*range(1, rank)]
        order.insert(self.axis, 0)
        return self._flat.node(
            self._owner, "TransposeD", [memory], self.result.type, {"perm": order}
        )
