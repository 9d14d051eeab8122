"""Conversions between element types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import ml_dtypes
import numpy as np

from ge_dialect.formats.dtypes import dtype_by_cpp
from ge_dialect.kernels.create import onnx_dtype
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor
from ge_dialect.kernels.views import copy_step

_SATURATING = frozenset(
    np.dtype(kind)
    for kind in (
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e5m2fnuz,
    )
)
_PLAIN = frozenset(np.dtype(code) for code in "?bBhHiIlLqQefd")
"""numpy's own numbers: converting among them is an assignment."""

_SCALE = np.dtype(ml_dtypes.float8_e8m0fnu)
_STRING = np.dtype(object)


def _to_scale(x: Array, saturate: bool, round_mode: str) -> Array:
    """float8_e8m0 holds powers of two only; it has no sign, no zero and no infinity.

    The exponent is rounded `up`, `down` or to `nearest` (ties up); beyond the largest: that one, or nan.
    """
    bits = x.astype(np.float32).view(np.uint32)
    exponent = ((bits >> 23) & 0xFF).astype(np.int64)
    fraction = bits & 0x7FFFFF
    special = exponent == 0xFF
    if round_mode == "nearest":
        # For exponent 0 (subnormal numbers) exactly one half is rounded down.
        up = (fraction > 0x400000) | ((fraction == 0x400000) & (exponent > 0))
    elif round_mode == "up":
        up = fraction > 0
    elif round_mode == "down":
        up = np.zeros(x.shape, np.bool_)
    else:
        raise KernelInputError(f"Cast: unknown round_mode {round_mode}")
    if saturate:
        up = up & (exponent < 0xFE)
    result = np.where(special, 0xFF, exponent + up).astype(np.uint8)
    return result.view(ml_dtypes.float8_e8m0fnu)


def _text(item: Any) -> str:
    return str(item)


def _to_text(x: Array) -> Array:
    """Numbers as numpy writes them."""
    out = np.empty(x.shape, object)
    out.reshape(-1)[:] = [_text(item) for item in x.reshape(-1)]
    return out


def _from_text(x: Array, dtype: np.dtype[Any]) -> Array:
    """Strings are read as floating-point numbers (INF, -inf, NaN too), for integer types as integers."""
    words = [str(item) for item in x.reshape(-1)]
    try:
        if dtype.kind in "iu":
            numbers = np.array([int(word) for word in words], dtype)
        elif dtype == np.bool_:
            numbers = np.array(
                [word not in ("False", "false", "0", "") for word in words], np.bool_
            )
        else:
            numbers = np.array([float(word) for word in words], np.float64).astype(dtype)
    except (ValueError, OverflowError) as error:
        raise KernelInputError(f"Cast: {error}") from error
    return numbers.reshape(x.shape)


def convert(
    x: Array, dtype: np.dtype[Any], *, saturate: bool = True, round_mode: str = "up"
) -> Array:
    """x in another element type, as ONNX's Cast does it (a new array).

    Floats become integers by truncation; 8-bit floats take the nearest representable value, or nan when it is out of
    range and `saturate` is off; strings are written and read as decimal numbers.
    """
    if x.dtype.kind in "OUS":
        return x.astype(object) if dtype == _STRING else _from_text(x, dtype)
    if dtype == _STRING:
        return _to_text(x)
    if dtype in _SATURATING and saturate:
        limits = cast("Any", ml_dtypes.finfo(dtype))
        wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
        return np.clip(wide, float(limits.min), float(limits.max)).astype(dtype)
    if dtype == _SCALE:
        return _to_scale(x, saturate, round_mode)
    if dtype.kind == "V" and x.dtype.kind == "V":
        # Between two extension types by way of one that both convert to.
        return x.astype(np.float32).astype(dtype)
    if x.dtype.kind == "c" and dtype.kind != "c":
        return np.real(x).astype(dtype)  # numpy does the same and warns
    return x.astype(dtype)


def _target_onnx(spec: OpSpec, _inputs: Sequence[Value]) -> np.dtype[Any]:
    return onnx_dtype(spec, spec.int("to"))


def _target_like(spec: OpSpec, inputs: Sequence[Value]) -> np.dtype[Any]:
    dtype = tensor(spec, inputs, 1).dtype
    return _STRING if dtype.kind in "US" else dtype


def _target_ge(spec: OpSpec, _inputs: Sequence[Value]) -> np.dtype[Any]:
    number = spec.int("dst_type")
    try:
        found = dtype_by_cpp(number).numpy
    except KeyError:
        found = None
    if found is None:
        raise KernelInputError(f"Cast: no kernel for the element type {number}")
    return found


def _cast_kernel(target: Any) -> Kernel:
    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x, dtype = tensor(spec, inputs, 0), target(spec, inputs)
        return [
            convert(
                x,
                dtype,
                saturate=spec.flag("saturate", True),
                round_mode=spec.string("round_mode", "up"),
            )
        ]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        x, dtype, out = tensor(spec, inputs, 0), target(spec, inputs), single_output(spec, outputs)
        check_output(spec, 0, dtype, x.shape, out)
        if x.dtype == dtype:
            return copy_step(out, x)
        if not (dtype in _PLAIN and x.dtype in _PLAIN):
            return None
        return partial(np.copyto, out, x, casting="unsafe")

    return Kernel(evaluate, bind)


def _bit_cast(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The same bytes seen as another type of the same width."""
    x, dtype = tensor(spec, inputs, 0), onnx_dtype(spec, spec.int("to"))
    if dtype.itemsize != x.dtype.itemsize or dtype == _STRING:
        raise KernelInputError(f"BitCast: {x.dtype} and {dtype} differ in width")
    return [np.array(x, order="C").view(dtype).reshape(x.shape)]


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({"Cast": _cast_kernel(_target_ge)})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Cast", _cast_kernel(_target_onnx), since=6),
    OnnxKernel("CastLike", _cast_kernel(_target_like)),
    OnnxKernel("BitCast", Kernel(_bit_cast)),
)
