"""What a kernel is told about a node: operator, attributes, number of outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.kernels.errors import KernelInputError

Array: TypeAlias = NDArray[Any]
"""A tensor; strings are arrays of `object` that hold `str`."""

Value: TypeAlias = Any
"""Array, list (a sequence), dict (a map) or None (an absent slot or an empty optional)."""


@dataclass(frozen=True)
class OpSpec:
    """A node without its edges.

    `type` and `attrs` are GE's, unless `source` is given: then they are the source operator's name and attributes.
    Attribute values are python natives (int, float, bool, str, bytes, lists of them) or arrays (tensor attributes).
    """

    type: str
    attrs: Mapping[str, Any]
    n_outputs: int
    source: SourceOp | None = None

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
        if isinstance(value, (int, np.integer)):
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


def tensor(spec: OpSpec, inputs: Sequence[Value], index: int) -> Array:
    """Input `index`, which must be there and be a tensor (KernelInputError)."""
    value = inputs[index] if index < len(inputs) else None
    if not isinstance(value, np.ndarray):
        kind = "missing" if value is None else f"a {type(value).__name__}, not a tensor"
        raise KernelInputError(f"{spec.type}: input {index} is {kind}")
    return cast("Array", value)


def maybe_tensor(inputs: Sequence[Value], index: int) -> Array | None:
    """Input `index`, or None when it is absent."""
    return inputs[index] if index < len(inputs) else None


def tensors(spec: OpSpec, inputs: Sequence[Value]) -> list[Array]:
    """All inputs, none of which may be absent (KernelInputError)."""
    return [tensor(spec, inputs, index) for index in range(len(inputs))]
