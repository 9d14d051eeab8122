"""What a kernel is told about a node: operator, attributes, number of outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ge_dialect.dialects.attrs import integers, text_of
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attrs,
    ge_type,
    slot_attrs,
    source_op,
)
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.dialects.ge_task.types import BufferType
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.layouts import Layouts, has_descriptor, layouts_of_types

Array: TypeAlias = NDArray[Any]
"""A tensor; strings are arrays of `object` that hold `str`."""

Value: TypeAlias = Any
"""Array, list (a sequence), dict (a map) or None (an absent slot or an empty optional)."""


@dataclass(frozen=True)
class OpSpec:
    """A node without its edges.

    `type` and `attrs` are GE's, unless `source` is given: then they are the source operator's name and attributes.
    Attribute values are python natives (int, float, bool, str, bytes, lists of them) or arrays (tensor attributes).
    `layouts` is given when a tensor's storage format is not its origin format.
    """

    type: str
    attrs: Mapping[str, Any]
    n_outputs: int
    source: SourceOp | None = None
    layouts: Layouts | None = None

    @property
    def version(self) -> int:
        """Version of the source operator; 0 for GE's own operators."""
        return 0 if self.source is None else self.source.version

    def has(self, name: str) -> bool:
        """Is the attribute given?"""
        return self.attrs.get(name) is not None

    def int(self, name: str, default: int | None = None) -> int:
        """An integer attribute; without default it is required (KernelInputError)."""
        value = self.attrs.get(name)
        if value is None:
            if default is None:
                raise KernelInputError(f"{self.type}: attribute {name} is missing")
            return default
        return int(value)

    def float(self, name: str, default: float) -> float:
        """A float attribute."""
        value = self.attrs.get(name)
        return default if value is None else float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean attribute, also one that is spelled as an integer."""
        value = self.attrs.get(name)
        return default if value is None else bool(value)

    def string(self, name: str, default: str) -> str:
        """A string attribute."""
        value = self.attrs.get(name)
        if value is None:
            return default
        return value.decode() if isinstance(value, bytes) else str(value)

    def ints(self, name: str) -> list[int] | None:
        """A list of integers (a single integer is a list of one); None when it is not given."""
        value = self.attrs.get(name)
        if value is None:
            return None
        if not isinstance(value, Iterable):
            return [int(value)]
        return [int(item) for item in cast("Sequence[Any]", value)]

    def strings(self, name: str, default: Sequence[str]) -> list[str]:
        """A list of strings."""
        value = self.attrs.get(name)
        if value is None:
            return list(default)
        items = cast("Sequence[Any]", value)
        return [item.decode() if isinstance(item, bytes) else str(item) for item in items]

    def floats(self, name: str) -> list[float] | None:
        """A list of floats; None when it is not given."""
        value = self.attrs.get(name)
        return None if value is None else [float(item) for item in cast("Sequence[Any]", value)]


def spec_of(op: Operation, n_outputs: int | None = None) -> OpSpec:
    """What kernels and shape functions are told about a node of a graph, or about an op of another dialect with the
    properties `type`, `attrs` and `source`; such an op says with `n_outputs` how many of its operands are outputs."""
    name = ge_type(op) if isinstance(op, GeNode) else text_of(op.properties.get("type")) or op.name
    count = len(data_results(op)) if n_outputs is None else n_outputs
    return OpSpec(name, ge_attrs(op), count, source_op(op), _layouts(op, count))


def _layouts(op: Operation, n_outputs: int) -> Layouts | None:
    """How the tensors of a node, or of an op with `n_outputs` outputs behind its inputs, lie in memory."""
    if not isinstance(op, GeNode):
        return _layouts_of_operands(op, n_outputs)
    inputs = [value.type for value in op.operands]
    if "ge.arg_attrs" in op.attributes:
        for index in range(len(data_operands(op))):
            inputs[index] = slot_attrs(op, "arg", index).data.get("type", inputs[index])
    outputs = [value.type for value in op.results]
    if not has_descriptor(inputs) and not has_descriptor(outputs):
        return None
    return layouts_of_types(inputs, outputs)


def _layouts_of_operands(op: Operation, n_outputs: int) -> Layouts | None:
    """The same for a task, whose operands are inputs, outputs and workspaces as its segments say, or for a step of a
    host program, which has results."""
    kinds = [
        kind.tensor if isinstance(kind := value.type, BufferType) else kind for value in op.operands
    ]
    results = [value.type for value in op.results]
    if not has_descriptor(kinds) and not has_descriptor(results):
        return None
    sizes = op.properties.get("operandSegmentSizes")
    if sizes is None or results:
        return layouts_of_types(kinds, results)
    count = integers(sizes)[0]
    return layouts_of_types(kinds[:count], kinds[count : count + n_outputs])


def is_array(value: Value) -> TypeGuard[Array]:
    """Is the value a tensor?"""
    return isinstance(value, np.ndarray)


def places(count: int, *after: int) -> Array:
    """0, 1, ..., count - 1 as int64, followed by dimensions of the sizes `after` (1 each)."""
    found: Array = np.empty((count, *after), np.int64)
    found.reshape(count)[:] = range(count)
    return found


def tensor(spec: OpSpec, inputs: Sequence[Value], index: int) -> Array:
    """Input `index`, which must be there and be a tensor (KernelInputError)."""
    value = inputs[index] if index < len(inputs) else None
    if not is_array(value):
        kind = "missing" if value is None else f"a {type(value).__name__}, not a tensor"
        raise KernelInputError(f"{spec.type}: input {index} is {kind}")
    return value


def maybe_tensor(inputs: Sequence[Value], index: int) -> Array | None:
    """Input `index`, or None when it is absent."""
    return inputs[index] if index < len(inputs) else None


def tensors(spec: OpSpec, inputs: Sequence[Value]) -> list[Array]:
    """All inputs, none of which may be absent (KernelInputError)."""
    return [tensor(spec, inputs, index) for index in range(len(inputs))]
