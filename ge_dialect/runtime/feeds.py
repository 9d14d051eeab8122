"""What goes into a step and comes out of it: named tensors, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ge_dialect.kernels import Array, Value
from ge_dialect.kernels.spec import is_array
from ge_dialect.runtime.errors import FeedError


@dataclass(frozen=True, slots=True)
class TensorSlot:
    """An input or output of a program. `shape`: -1 is any size, None any rank; `dtype` None is no tensor at all."""

    name: str
    dtype: np.dtype | None
    shape: tuple[int, ...] | None

    def __str__(self) -> str:
        if self.dtype is None:
            return f"'{self.name}' (no tensor)"
        if self.shape is None:
            return f"'{self.name}' {dtype_text(self.dtype)} of any rank"
        return f"'{self.name}' {dtype_text(self.dtype)} {shape_text(self.shape)}"


def dims_of(tensor: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor type with -1 for unknown dimensions, None for an unknown rank."""
    if not isinstance(tensor, TensorType):
        return None
    return tuple(max(dim, -1) for dim in tensor.get_shape())


Feeds = Mapping[str, Any] | Sequence[Any]
"""Values by input name, or one a input in their order."""


def dtype_text(dtype: np.dtype) -> str:
    """The element type in words; numpy's name for strings is `object`."""
    return "string" if dtype.kind in "OUS" else str(dtype)


def shape_text(shape: tuple[int, ...]) -> str:
    """`[2, ?, 4]`."""
    return "[" + ", ".join("?" if dim < 0 else str(dim) for dim in shape) + "]"


def order_feeds(slots: Sequence[TensorSlot], feeds: Feeds) -> list[Value]:
    """The values of `feeds` in the order of `slots`, each checked against its slot.

    Raises FeedError for an unknown or missing name, a wrong number of values, element type or shape.
    """
    if isinstance(feeds, Mapping):
        known = {slot.name for slot in slots}
        for name in feeds:
            if name not in known:
                raise FeedError(f"there is no input '{name}'; {_expected(slots)}")
        for slot in slots:
            if slot.name not in feeds:
                raise FeedError(f"input '{slot.name}' is missing; {_expected(slots)}")
        values = [feeds[slot.name] for slot in slots]
    else:
        values = list(feeds)
        if len(values) != len(slots):
            raise FeedError(f"{len(values)} inputs are given; {_expected(slots)}")
    return [check_feed(slot, value) for slot, value in zip(slots, values, strict=True)]


def check_dims(
    slots: Sequence[TensorSlot], names: Sequence[Sequence[str] | None], values: Sequence[Value]
) -> None:
    """`names` has the names of each input's dimensions ("": none): equal names are equal sizes. Raises FeedError."""
    sizes: dict[str, tuple[int, TensorSlot]] = {}
    for slot, dims, value in zip(slots, names, values, strict=True):
        if dims is None or not is_array(value) or value.ndim != len(dims):
            continue
        for name, size in zip(dims, value.shape, strict=True):
            if not name:
                continue
            known, first = sizes.setdefault(name, (size, slot))
            if known != size:
                raise FeedError(
                    f"dimension '{name}' is {known} in input '{first.name}' and {size} in input '{slot.name}'"
                )


def _expected(slots: Sequence[TensorSlot]) -> str:
    if not slots:
        return "the program takes no inputs"
    return "the program takes " + ", ".join(map(str, slots))


def check_feed(slot: TensorSlot, value: Any) -> Value:
    """`value` as the program takes it. Raises FeedError.

    Plain bytes of the right width pass for element types that numpy's files do not know (bfloat16, int4, ...).
    """
    if slot.dtype is None or value is None:
        return value
    kind = type(value).__name__
    if kind in ("list", "dict"):
        raise FeedError(f"input '{slot.name}' is a {kind}, not an array")
    array: Array = np.asarray(value)
    if array.dtype != slot.dtype:
        array = _as_type(slot, array, slot.dtype)
    if slot.shape is not None and not _fits(array.shape, slot.shape):
        raise FeedError(
            f"input '{slot.name}' has the shape {shape_text(array.shape)}, it should be {shape_text(slot.shape)}"
        )
    return array


def _as_type(slot: TensorSlot, array: Array, dtype: np.dtype) -> Array:
    if dtype.kind == "O" and array.dtype.kind in "US":
        return array.astype(object)
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
        return array.view(dtype)
    raise FeedError(
        f"input '{slot.name}' has the element type {dtype_text(array.dtype)}, it should be {dtype_text(dtype)}"
    )


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        want in (-1, size) for size, want in zip(shape, wanted, strict=True)
    )
