"""From real numbers to few levels, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

from ge_dialect.kernels.cast import convert
from ge_dialect.kernels.create import onnx_dtype
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor

_SMALL_INTEGERS = frozenset(
    np.dtype(kind) for kind in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)
)


def _is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" or dtype in _SMALL_INTEGERS


def _per_element(spec: OpSpec, values: Array, x: Array) -> Array:
    """Scales (or zero points) as they broadcast to x: one for all, one an index of the axis, or one a block."""
    if values.size == 1 and values.ndim <= 1:
        return values.reshape(())
    axis, block = spec.int("axis", 1), spec.int("block_size", 0)
    if not -x.ndim <= axis < x.ndim:
        raise KernelInputError(f"{spec.type}: axis {axis} of a tensor of rank {x.ndim}")
    axis %= x.ndim
    if block:
        spread = np.repeat(values, block, axis)[(slice(None),) * axis + (slice(0, x.shape[axis]),)]
        if spread.shape != x.shape:
            raise KernelInputError(
                f"{spec.type}: blocks of {block} and scales {list(values.shape)} do not cover {list(x.shape)}"
            )
        return spread
    if values.ndim != 1 or values.size != x.shape[axis]:
        raise KernelInputError(f"{spec.type}: scales {list(values.shape)} along {list(x.shape)}")
    return values.reshape((-1,) + (1,) * (x.ndim - axis - 1))


def _levels(x: Array, zero: Array | None, dtype: np.dtype[Any]) -> Array:
    """Round half to even, add the zero point, clamp to the integer type."""
    limits = ml_dtypes.iinfo(dtype)
    rounded = np.rint(x.astype(np.float32, copy=False))
    if zero is not None:
        rounded = rounded + zero.astype(np.float32)
    return np.clip(rounded, int(limits.min), int(limits.max)).astype(dtype)


def _quantize(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, scale, zero = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    number = spec.int("output_dtype", 0)
    dtype = onnx_dtype(spec, number) if number else np.dtype(np.uint8)
    if zero is not None:
        if number and zero.dtype != dtype:
            raise KernelInputError(f"{spec.type}: a zero point {zero.dtype} for results {dtype}")
        dtype = zero.dtype
    precision = spec.int("precision", 0)
    wide = onnx_dtype(spec, precision) if precision else np.result_type(scale.dtype, np.float32)
    divisor = _per_element(spec, scale, x).astype(wide)
    scaled = np.asarray(x.astype(wide) / divisor)
    offset = None if zero is None else _per_element(spec, zero, x)
    if _is_integer(dtype):
        return [_levels(scaled, offset, dtype)]
    if offset is not None:
        scaled = np.asarray(scaled + offset.astype(scaled.dtype))
    return [convert(scaled, dtype, saturate=spec.flag("saturate", True))]


def _dequantize(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """(x - zero point) * scale."""
    x, scale, zero = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    number = spec.int("output_dtype", 0)
    dtype = onnx_dtype(spec, number) if number else scale.dtype
    if zero is not None and zero.dtype != x.dtype:
        raise KernelInputError(f"{spec.type}: a zero point {zero.dtype} for data {x.dtype}")
    if x.dtype == np.int32:
        data = x.astype(np.int64)
        if zero is not None:
            data = data - _per_element(spec, zero, x).astype(np.int64)
        data = data.astype(np.float32)
    else:
        data = x.astype(np.float32)
        if zero is not None:
            data = data - _per_element(spec, zero, x).astype(np.float32)
    result = np.asarray(data * _per_element(spec, scale, x).astype(np.float32))
    return [result.astype(dtype, copy=False)]


def _dynamic(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """uint8 levels over the range of the data, widened to hold 0; the scale; the zero point."""
    x = tensor(spec, inputs, 0)
    low, high = np.minimum(np.float32(0), x.min()), np.maximum(np.float32(0), x.max())
    spread = high - low if high != low else np.float32(1)
    scale = np.asarray(np.float32(spread) / np.float32(255))
    zero = np.rint(np.clip(-low / scale, np.float32(0), np.float32(255)))
    levels = np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)
    return [levels, scale.astype(np.float32), np.asarray(zero).astype(np.uint8)]


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("QuantizeLinear", Kernel(_quantize)),
    OnnxKernel("DequantizeLinear", Kernel(_dequantize)),
    OnnxKernel("DynamicQuantizeLinear", Kernel(_dynamic)),
)
