"""An ONNX node as the rows of the operator table ask about it."""

from __future__ import annotations

import numpy as np
import onnx

from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.lowering.onnx.scope import Scope


class NodeView:
    """Implements `ge_dialect.lowering.onnx.twins.form.OnnxNode`. Attributes are read when asked for."""

    __slots__ = ("_attributes", "_scope", "inputs", "n_inputs", "n_outputs", "version")

    def __init__(
        self,
        attributes: dict[str, onnx.AttributeProto],
        inputs: list[str],
        n_outputs: int,
        scope: Scope,
        version: int,
    ) -> None:
        self._attributes = attributes
        self._scope = scope
        self.inputs = inputs
        self.n_inputs = len(inputs)
        self.n_outputs = n_outputs
        self.version = version

    def only(self, *names: str) -> bool:
        """Whether the node has no attributes but these."""
        return all(name in names for name in self._attributes)

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        return name in self._attributes

    def int(self, name: str, default: int) -> int:
        """An integer attribute."""
        found = self._attributes.get(name)
        return default if found is None else found.i

    def float(self, name: str, default: float) -> float:
        """A float attribute."""
        found = self._attributes.get(name)
        return default if found is None else found.f

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        found = self._attributes.get(name)
        return default if found is None else found.s.decode("utf-8", "replace")

    def ints(self, name: str) -> list[int] | None:
        """An integer list attribute, None when it is not given."""
        found = self._attributes.get(name)
        return None if found is None else list(found.ints)

    def wired(self, index: int) -> bool:
        """Whether the input slot has a value."""
        return index < self.n_inputs and bool(self.inputs[index])

    def const(self, index: int) -> np.ndarray | None:
        """The elements of an input that is a constant, else None."""
        return self._scope.constant(self.inputs[index]) if self.wired(index) else None

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input, -1 an unknown dimension; None for an unknown rank."""
        if not self.wired(index):
            return None
        kind = self._scope.known_type(self.inputs[index])
        return None if kind is None else dims_of(kind)
