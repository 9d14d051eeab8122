"""GE's element types: names, widths and the numbers that three enumerations give them.

Source of the numbers: spec/dumps.md section 2 (`proto` is the enumeration of ge.proto, `cpp` the one that integer
attributes such as `Cast.dst_type` use) and onnx.TensorProto.DataType (`onnx`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import ml_dtypes
import numpy as np


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    `bits` is the width of one element in a packed tensor; `numpy` the type that holds one unpacked element (None
    when numpy has nothing for it), `proto`/`cpp`/`onnx` the numbers in the three enumerations (None: not in it).
    """

    name: str
    bits: int
    numpy: np.dtype | None
    proto: int | None = None
    cpp: int | None = None
    onnx: int | None = None

    def bytes_of(self, elements: int) -> int:
        """Bytes of `elements` packed elements, rounded up to whole bytes."""
        return (elements * self.bits + 7) // 8

    def buffer_bytes(self, elements: int) -> int:
        """Bytes of `elements` elements in a buffer of ours, where each has whole bytes of its own.

        numpy cannot view packed elements, so those of less than eight bits (int4, float4, ...) take one byte each.
        """
        return elements * ((self.bits + 7) // 8)


def _np(kind: object) -> np.dtype:
    return np.dtype(kind)  # pyright: ignore[reportArgumentType, reportCallIssue]


DTYPES: tuple[DType, ...] = (
    DType("FLOAT", 32, _np(np.float32), 1, 0, 1),
    DType("FLOAT16", 16, _np(np.float16), 2, 1, 10),
    DType("INT8", 8, _np(np.int8), 3, 2, 3),
    DType("UINT8", 8, _np(np.uint8), 4, 4, 2),
    DType("INT16", 16, _np(np.int16), 5, 6, 5),
    DType("UINT16", 16, _np(np.uint16), 6, 7, 4),
    DType("INT32", 32, _np(np.int32), 7, 3, 6),
    DType("INT64", 64, _np(np.int64), 8, 9, 7),
    DType("UINT32", 32, _np(np.uint32), 9, 8, 12),
    DType("UINT64", 64, _np(np.uint64), 10, 10, 13),
    DType("BOOL", 8, _np(np.bool_), 11, 12, 9),
    DType("DOUBLE", 64, _np(np.float64), 12, 11, 11),
    DType("STRING", 128, _np(object), 13, 13, 8),
    DType("COMPLEX64", 64, _np(np.complex64), 16, 16, 14),
    DType("COMPLEX128", 128, _np(np.complex128), 17, 17, 15),
    DType("RESOURCE", 64, None, 23, 23, None),
    DType("VARIANT", 64, None, 26, 26, None),
    DType("BF16", 16, _np(ml_dtypes.bfloat16), 27, 27, 16),
    DType("INT4", 4, _np(ml_dtypes.int4), 28, 29, 22),
    DType("UINT4", 4, _np(ml_dtypes.uint4), None, None, 21),
    DType("UINT1", 1, None, 29, 30, None),
    DType("INT2", 2, _np(ml_dtypes.int2), 30, 31, 26),
    DType("UINT2", 2, _np(ml_dtypes.uint2), 31, 32, 25),
    DType("COMPLEX32", 32, None, 32, 33, None),
    DType("HIFLOAT8", 8, None, 33, 34, None),
    DType("FLOAT8_E5M2", 8, _np(ml_dtypes.float8_e5m2), 34, 35, 19),
    DType("FLOAT8_E4M3FN", 8, _np(ml_dtypes.float8_e4m3fn), 35, 36, 17),
    DType("FLOAT8_E4M3FNUZ", 8, _np(ml_dtypes.float8_e4m3fnuz), None, None, 18),
    DType("FLOAT8_E5M2FNUZ", 8, _np(ml_dtypes.float8_e5m2fnuz), None, None, 20),
    DType("FLOAT8_E8M0", 8, _np(ml_dtypes.float8_e8m0fnu), 36, 37, 24),
    DType("FLOAT6_E3M2", 6, _np(ml_dtypes.float6_e3m2fn), 37, 38, 28),
    DType("FLOAT6_E2M3", 6, _np(ml_dtypes.float6_e2m3fn), 38, 39, 27),
    DType("FLOAT4_E2M1", 4, _np(ml_dtypes.float4_e2m1fn), 39, 40, 23),
    DType("UNDEFINED", 0, None, 0, 28, 0),
)

_BY_NAME = MappingProxyType({row.name: row for row in DTYPES})
_BY_ONNX = MappingProxyType({row.onnx: row for row in DTYPES if row.onnx is not None})
_BY_CPP = MappingProxyType({row.cpp: row for row in DTYPES if row.cpp is not None})
_BY_PROTO = MappingProxyType({row.proto: row for row in DTYPES if row.proto is not None})
_BY_NUMPY = MappingProxyType({row.numpy: row for row in DTYPES if row.numpy is not None})


def dtype_by_name(name: str) -> DType:
    """The row called `name` (without the prefix DT_). Raises KeyError."""
    return _BY_NAME[name]


def dtype_by_onnx(number: int) -> DType:
    """The row of an onnx.TensorProto.DataType number. Raises KeyError."""
    return _BY_ONNX[number]


def dtype_by_cpp(number: int) -> DType:
    """The row of a number as `Cast.dst_type` and other integer attributes use it. Raises KeyError."""
    return _BY_CPP[number]


def dtype_by_proto(number: int) -> DType:
    """The row of a number of ge.proto's DataType, as dumps use it. Raises KeyError."""
    return _BY_PROTO[number]


def dtype_of_numpy(dtype: np.dtype) -> DType:
    """The row that a numpy (or ml_dtypes) type holds elements of; any string type is STRING. Raises KeyError."""
    if dtype.kind in "OUS":
        return _BY_NAME["STRING"]
    return _BY_NUMPY[dtype]
