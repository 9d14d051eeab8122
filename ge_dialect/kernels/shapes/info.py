"""What is known about a value without its elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.element_types import ir_element_type
from ge_dialect.formats.dtypes import DType, dtype_by_name
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.spec import OpSpec

UNKNOWN = -1
"""A dimension that is not known."""

Shape: TypeAlias = tuple[int, ...]
"""Dimensions, `UNKNOWN` for one that is not known."""


class ShapeError(GeError):
    """The inputs and attributes of a node contradict what its operator asks for."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor: element type (`UNDEFINED`: not known) and shape (None: not even the rank is known)."""

    dtype: DType
    shape: Shape | None

    @property
    def static(self) -> bool:
        """Whether rank and all dimensions are known."""
        return self.shape is not None and UNKNOWN not in self.shape


@dataclass(frozen=True, slots=True)
class OpaqueInfo:
    """A value that is no tensor (sequence, optional, map): nothing but its IR type."""

    type: Attribute


Info: TypeAlias = TensorInfo | OpaqueInfo

Inputs: TypeAlias = Sequence[Info | None]
"""One entry an input slot; None is a slot that is not wired."""

Values: TypeAlias = Sequence[NDArray[Any] | None]
"""One entry an input slot (or fewer): the elements where they are known.

A masked array (`numpy.ma`) says that only the elements that are not masked are known.
"""

Outputs: TypeAlias = list[Info | None]
"""One entry an output slot; None where nothing is known, not even the element type."""

ShapeFunction: TypeAlias = Callable[[OpSpec, Inputs, Values], Outputs]


@dataclass(frozen=True, slots=True)
class OnnxShape:
    """The shape function of an ONNX operator for the versions `since` to `until` (inclusive, None = open)."""

    op: str
    function: ShapeFunction
    since: int = 1
    until: int | None = None
    domain: str = "ai.onnx"


ANY_TYPE = dtype_by_name("UNDEFINED")
"""The element type of a tensor whose element type is not known."""

BOOL = dtype_by_name("BOOL")
FLOAT = dtype_by_name("FLOAT")
INT8 = dtype_by_name("INT8")
UINT8 = dtype_by_name("UINT8")
INT32 = dtype_by_name("INT32")
INT64 = dtype_by_name("INT64")
STRING = dtype_by_name("STRING")


def shape_text(shape: Sequence[int] | None) -> str:
    """`[2, ?]`, or `[*]` for an unknown rank."""
    if shape is None:
        return "[*]"
    return "[" + ", ".join("?" if dim < 0 else str(dim) for dim in shape) + "]"


def dtype_text(dtype: DType) -> str:
    """The element type as the IR spells it."""
    return str(ir_element_type(dtype))
