"""Interned attributes and readers for them, shared by the dialects.

Making an `IntegerAttr` costs about 11 us, looking one up 0.1 us: whoever builds many operations takes them from
here. Attributes are immutable, so sharing them is safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast
from urllib.parse import quote, unquote

from xdsl.dialects.builtin import (
    I32,
    I64,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.builtin import i32 as i32_type
from xdsl.dialects.builtin import i64 as i64_type
from xdsl.ir import Attribute

from ge_dialect.formats.errors import GeError

_CACHE_SIZE = 1 << 16

UNIT = UnitAttr()
"""The one flag attribute."""


class NumberError(GeError, ValueError):
    """A number (an offset, a size, a dimension) that an attribute has no room for."""


def check_range(value: int) -> None:
    """Raises NumberError for a number of more than 64 bits."""
    if not -(1 << 63) <= value < 1 << 63:
        raise NumberError(f"{value} does not fit in 64 bits: a tensor or all tensors are too large")


@lru_cache(maxsize=_CACHE_SIZE)
def i64(value: int) -> IntegerAttr[I64]:
    """The interned attribute `value : i64`. Raises NumberError for a number of more than 64 bits."""
    check_range(value)
    return IntegerAttr(value, i64_type)


@lru_cache(maxsize=_CACHE_SIZE)
def _i64_array(values: tuple[int, ...]) -> DenseArrayBase[I64]:
    for value in values:
        check_range(value)
    return DenseArrayBase.from_list(i64_type, values)


def i64_array(values: Sequence[int]) -> DenseArrayBase[I64]:
    """The interned attribute `array<i64: values>`. Raises NumberError for numbers of more than 64 bits."""
    return _i64_array(tuple(values))


@lru_cache(maxsize=_CACHE_SIZE)
def segments(*sizes: int) -> DenseArrayBase[I32]:
    """The interned attribute `array<i32: sizes>`, as `operandSegmentSizes` wants it."""
    return DenseArrayBase.from_list(i32_type, sizes)


@lru_cache(maxsize=_CACHE_SIZE)
def string(value: str) -> StringAttr:
    """The interned string attribute of `value`, which is ASCII text."""
    return StringAttr(value)


def string_attr(value: str) -> StringAttr | BytesAttr:
    """A string attribute that its printed form reads back as: bytes (UTF-8) for text that is not ASCII."""
    return StringAttr(value) if value.isascii() else BytesAttr(value.encode())


def text_of(attribute: Attribute | None) -> str | None:
    """The text of a string attribute, None for no attribute or another kind.

    xDSL prints a string that is not ASCII as escaped bytes and reads those back as a `BytesAttr`, so both are a
    string to us.
    """
    match attribute:
        case StringAttr():
            return attribute.data
        case BytesAttr():
            return bytes(attribute.data).decode("utf-8", "replace")
        case _:
            return None


_PLAIN_IN_KEYS = "".join(chr(x) for x in range(0x80) if chr(x) != "%")


def dictionary_key(text: str) -> str:
    """`text` as the key of a dictionary attribute: percent-encoded (UTF-8) where it is not ASCII, as xDSL would print
    such a key and not read it again."""
    return text if text.isascii() and "%" not in text else quote(text, safe=_PLAIN_IN_KEYS)


def text_of_key(key: str) -> str:
    """The text that `dictionary_key` made `key` of."""
    return unquote(key)


def integers(attribute: Attribute) -> tuple[int, ...]:
    """The values of an integer array."""
    return cast(tuple[int, ...], cast(Any, attribute).get_values())


def array_items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    """The members of an array attribute, none for no attribute or another kind."""
    if not isinstance(attribute, ArrayAttr):
        return ()
    return cast(ArrayAttr[Attribute], attribute).data
