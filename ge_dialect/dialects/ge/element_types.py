"""Which IR element type stands for which GE element type."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

from xdsl.dialects.builtin import (
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from ge_dialect.dialects.ge.types import (
    Complex32Type,
    HiFloat8Type,
    ResourceType,
    StringType,
    UndefinedType,
    VariantType,
)
from ge_dialect.formats.dtypes import DType, dtype_by_name


def _unsigned(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED)


_ROWS: tuple[tuple[str, Attribute], ...] = (
    ("FLOAT", f32),
    ("FLOAT16", f16),
    ("INT8", i8),
    ("UINT8", _unsigned(8)),
    ("INT16", i16),
    ("UINT16", _unsigned(16)),
    ("INT32", i32),
    ("INT64", i64),
    ("UINT32", _unsigned(32)),
    ("UINT64", _unsigned(64)),
    ("BOOL", i1),
    ("DOUBLE", f64),
    ("STRING", StringType()),
    ("COMPLEX64", ComplexType(f32)),
    ("COMPLEX128", ComplexType(f64)),
    ("RESOURCE", ResourceType()),
    ("VARIANT", VariantType()),
    ("BF16", bf16),
    ("INT4", IntegerType(4)),
    ("UINT4", _unsigned(4)),
    ("UINT1", _unsigned(1)),
    ("INT2", IntegerType(2)),
    ("UINT2", _unsigned(2)),
    ("COMPLEX32", Complex32Type()),
    ("HIFLOAT8", HiFloat8Type()),
    ("FLOAT8_E5M2", Float8E5M2Type()),
    ("FLOAT8_E4M3FN", Float8E4M3FNType()),
    ("FLOAT8_E4M3FNUZ", Float8E4M3FNUZType()),
    ("FLOAT8_E5M2FNUZ", Float8E5M2FNUZType()),
    ("FLOAT8_E8M0", Float8E8M0FNUType()),
    ("FLOAT6_E3M2", Float6E3M2FNType()),
    ("FLOAT6_E2M3", Float6E2M3FNType()),
    ("FLOAT4_E2M1", Float4E2M1FNType()),
    ("UNDEFINED", UndefinedType()),
)

_TO_IR: MappingProxyType[str, Attribute] = MappingProxyType(dict(_ROWS))
_FROM_IR: MappingProxyType[Attribute, DType] = MappingProxyType(
    {attribute: dtype_by_name(name) for name, attribute in _ROWS}
)


def ir_element_type(dtype: DType) -> Attribute:
    """The IR element type of a GE element type. Raises KeyError for one that the IR cannot say."""
    return _TO_IR[dtype.name]


def dtype_of(element: Attribute) -> DType:
    """The GE element type of an IR element type. Raises KeyError for one that GE does not have."""
    return _FROM_IR[element]


@lru_cache(maxsize=1 << 14)
def elements_bytes(element: Attribute, count: int) -> int | None:
    """Bytes of `count` elements in a buffer; None for an element type that GE lacks or that has no fixed width."""
    dtype = _FROM_IR.get(element)
    return None if dtype is None or dtype.bits == 0 else dtype.buffer_bytes(count)
