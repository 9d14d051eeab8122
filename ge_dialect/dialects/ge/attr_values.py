"""GE attributes as Python values and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import i64, i64_array, string_attr
from ge_dialect.dialects.ge.weights import StringElementsAttr, array_of, elements_attr

AnyArray = np.ndarray[Any, np.dtype[Any]]
Value = Any
"""int, float, bool, str, bytes, numpy array, list or dict of these, or an IR type."""

_TRUE = IntegerAttr(1, i1)
_FALSE = IntegerAttr(0, i1)


def to_python(attribute: Attribute) -> Value:
    """The Python value of an attribute; an attribute that stands for itself (a type, say) comes back as it is."""
    match attribute:
        case IntegerAttr():
            number = attribute.value.data
            return bool(number) if attribute.type == i1 else number
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case BytesAttr():
            return _decoded(bytes(attribute.data))
        case DenseArrayBase():
            return list(cast(Any, attribute).get_values())
        case ArrayAttr():
            return [to_python(x) for x in attribute.data]
        case DictionaryAttr():
            return {key: to_python(x) for key, x in attribute.data.items()}
        case UnitAttr():
            return True
        case SymbolRefAttr():
            return attribute.string_value()
        case DenseIntOrFPElementsAttr() | StringElementsAttr():
            return array_of(attribute)
        case _:
            return attribute


def _decoded(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def from_python(value: Value) -> Attribute:
    """The attribute of a Python value: ints are i64, floats f32 (f64 where f32 would lose digits), lists of numbers
    dense arrays, other lists arrays. Raises TypeError for a value of another kind."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool | np.bool_):
        return _TRUE if value else _FALSE
    if isinstance(value, int | np.integer):
        return i64(int(cast(int, value)))
    if isinstance(value, float | np.floating):
        number = float(cast(float, value))
        fits = number != number or float(np.float32(number)) == number
        return FloatAttr(number, f32 if fits else f64)
    if isinstance(value, str):
        return string_attr(value)
    if isinstance(value, bytes):
        return StringAttr(value.decode()) if value.isascii() else BytesAttr(value)
    if isinstance(value, np.ndarray):
        return elements_attr(cast(AnyArray, value))
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Value], value)
        return DictionaryAttr({key: from_python(x) for key, x in items.items()})
    if isinstance(value, Sequence):
        return _array(cast(Sequence[Value], value))
    raise TypeError(f"no attribute for a {type(value).__name__}")


def _array(values: Sequence[Value]) -> Attribute:
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in values):
        return i64_array([int(x) for x in values])
    if all(isinstance(x, float | np.floating) for x in values):
        fits = all(x != x or float(np.float32(x)) == x for x in values)
        return DenseArrayBase.from_list(f32 if fits else f64, [float(x) for x in values])
    return ArrayAttr([from_python(x) for x in values])
