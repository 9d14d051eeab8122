"""Tensor types without storage format: the ones that kernels and shape functions speak of."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import NoneAttr, TensorType, UnrankedTensorType
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.access import dims_of

Shape = tuple[int, ...]
"""Dimensions, -1 for one that is not known."""


class PlainTensor(NamedTuple):
    """Element type and shape (None: unknown rank)."""

    element: Attribute
    shape: Shape | None


def plain_tensor(kind: Attribute) -> PlainTensor | None:
    """What a tensor type says; None for a type with a descriptor (storage format), and for one that is no tensor."""
    if isinstance(kind, TensorType):
        tensor = cast("TensorType[Any]", kind)
        plain = isinstance(tensor.encoding, NoneAttr)
        return PlainTensor(tensor.element_type, dims_of(tensor)) if plain else None
    if isinstance(kind, UnrankedTensorType):
        return PlainTensor(cast("UnrankedTensorType[Any]", kind).element_type, None)
    return None
