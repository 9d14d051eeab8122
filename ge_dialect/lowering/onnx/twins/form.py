"""What the rows of the table are made of: a node seen from either side, and what it becomes on the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from xdsl.ir import Attribute

NO_ATTRS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Const:
    """An input that the other side has as an attribute. With `shared` one constant serves all nodes of the graph."""

    value: np.ndarray
    role: str
    shared: bool = False


Input: TypeAlias = "int | Const | None"
"""Input of the new node: input number `int` of the old one, a new constant, or an unwired slot."""


@dataclass(frozen=True, slots=True)
class GeForm:
    """The GE node that an ONNX node becomes. `inputs` None: all those of the ONNX node as they are."""

    type: str
    inputs: Sequence[Input] | None = None
    attrs: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])


@dataclass(frozen=True, slots=True)
class OnnxForm:
    """The ONNX node that a GE node becomes; attribute values are Python's. `inputs` as above."""

    op: str
    inputs: Sequence[Input] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict[str, Any])


class OnnxNode(Protocol):
    """An ONNX node of the standard domain, as the rows ask about it."""

    @property
    def version(self) -> int:
        """Version of the operator set."""
        ...

    @property
    def n_inputs(self) -> int:
        """Number of input slots, without trailing unwired ones."""
        ...

    @property
    def n_outputs(self) -> int:
        """Number of output slots."""
        ...

    def only(self, *names: str) -> bool:
        """Whether the node has no attributes but these."""
        ...

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        ...

    def int(self, name: str, default: int) -> int:
        """An integer attribute."""
        ...

    def float(self, name: str, default: float) -> float:
        """A float attribute."""
        ...

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        ...

    def ints(self, name: str) -> list[int] | None:
        """An integer list attribute, None when it is not given."""
        ...

    def wired(self, index: int) -> bool:
        """Whether the input slot has a value."""
        ...

    def const(self, index: int) -> np.ndarray | None:
        """The elements of an input that is a constant, else None."""
        ...

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input, -1 an unknown dimension; None for an unknown rank."""
        ...


class GeNodeView(Protocol):
    """A GE node without `source`, as the rows ask about it."""

    @property
    def type(self) -> str:
        """The GE type."""
        ...

    @property
    def version(self) -> int:
        """Version of ONNX's operator set in the model to be written."""
        ...

    @property
    def n_inputs(self) -> int:
        """Number of data input slots."""
        ...

    @property
    def n_outputs(self) -> int:
        """Number of data output slots."""
        ...

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The GE attributes as Python values."""
        ...

    def wired(self, index: int) -> bool:
        """Whether the input slot has a value."""
        ...

    def const(self, index: int) -> np.ndarray | None:
        """The elements of an input that is a constant, else None."""
        ...

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input, -1 an unknown dimension; None for an unknown rank."""
        ...


ToGe: TypeAlias = Callable[[OnnxNode], GeForm | None]
ToOnnx: TypeAlias = Callable[[GeNodeView], OnnxForm | None]


@dataclass(frozen=True, slots=True)
class Twin:
    """One row: an ONNX operator and the GE types that it becomes.

    `condition` says in words when it does; `to_ge` answers None when it does not (the node stays ONNX's), `to_onnx`
    answers None for a GE node that says more than the ONNX operator can.
    """

    onnx: str
    ge: tuple[str, ...]
    to_ge: ToGe
    to_onnx: ToOnnx
    condition: str = ""


def ints(values: Iterable[Any]) -> list[int]:
    """Python integers of a list or a one-dimensional array."""
    return [int(x) for x in values]


def only_attrs(node: GeNodeView, *names: str) -> bool:
    """Whether a GE node has no attributes but these."""
    return all(name in names for name in node.attrs)


def i64_vector(values: Sequence[int]) -> np.ndarray:
    """A vector of int64, as ONNX wants axes and sizes."""
    return np.array(values, dtype=np.int64)
