"""Normalisations: by batch statistics, over trailing axes, over images, groups and neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.precision import NATIVE_FLOATS, is_narrow
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor


def _wide(array: Array) -> Array:
    return array.astype(np.float32) if is_narrow(array.dtype) else array


def _channels(values: Array, rank: int) -> Array:
    return values.reshape((-1,) + (1,) * max(rank - 2, 0))


def _training(spec: OpSpec) -> bool:
    """Before version 14 the number of outputs says it, in the oldest ones together with `is_test`."""
    if not spec.flag("spatial", True):
        raise KernelInputError(
            "BatchNormalization: no kernel for statistics a position (spatial 0)"
        )
    if spec.version >= 14:
        return spec.flag("training_mode")
    return spec.n_outputs > 1 and not spec.flag("is_test")


def _batch_norm(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """ONNX BatchNormalization; in training the outputs 1 and 2 are the updated mean and variance."""
    x = tensor(spec, inputs, 0)
    scale, shift, mean, variance = (tensor(spec, inputs, index) for index in range(1, 5))
    epsilon, momentum = spec.float("epsilon", 1e-5), spec.float("momentum", 0.9)
    data = _wide(x)
    kind = data.dtype.type
    training = _training(spec)
    old_mean, old_variance = mean, variance
    if training:
        axes = (0, *range(2, x.ndim))
        mean = np.mean(data, axis=axes, dtype=data.dtype)
        variance = np.var(data, axis=axes, dtype=data.dtype)
    factor = _wide(scale) / np.sqrt(_wide(variance) + kind(epsilon))
    offset = _wide(shift) - _wide(mean) * factor
    result = data * _channels(factor, x.ndim).astype(data.dtype)
    result = (result + _channels(offset, x.ndim).astype(data.dtype)).astype(x.dtype, copy=False)
    if not training:
        return [result]
    keep, take = kind(momentum), kind(1 - momentum)
    updated = [
        (_wide(old) * keep + new.astype(data.dtype) * take).astype(old.dtype, copy=False)
        for old, new in ((old_mean, mean), (old_variance, variance))
    ]
    saved = [np.asarray(item).astype(old_mean.dtype) for item in (mean, variance)]
    return [result, *updated, *saved]


def _bind_batch_norm(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x = tensor(spec, inputs, 0)
    scale, shift, mean, variance = (tensor(spec, inputs, index) for index in range(1, 5))
    if (
        _training(spec)
        or x.dtype not in NATIVE_FLOATS
        or any(item.dtype != x.dtype for item in (scale, shift, mean, variance))
    ):
        return None
    out = single_output(spec, outputs)
    check_output(spec, 0, x.dtype, x.shape, out)
    epsilon = x.dtype.type(spec.float("epsilon", 1e-5))
    factor, offset = np.empty(scale.shape, x.dtype), np.empty(scale.shape, x.dtype)
    factors, offsets = _channels(factor, x.ndim), _channels(offset, x.ndim)

    def run() -> None:
        np.add(variance, epsilon, factor)
        np.sqrt(factor, factor)
        np.divide(scale, factor, factor)
        np.multiply(mean, factor, offset)
        np.subtract(shift, offset, offset)
        np.multiply(x, factors, out)
        np.add(out, offsets, out)

    return run


def _rows(spec: OpSpec, x: Array) -> tuple[int, int, int]:
    """Axis (not negative), number of rows, length of a row."""
    axis = spec.int("axis", -1)
    axis = axis + x.ndim if axis < 0 else axis
    if not 0 <= axis < max(x.ndim, 1):
        raise KernelInputError(f"{spec.type}: axis {spec.int('axis', -1)} of rank {x.ndim}")
    return axis, math.prod(x.shape[:axis]), math.prod(x.shape[axis:])


def _layer_norm(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, scale, bias = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    axis, rows, size = _rows(spec, x)
    data = _wide(x).reshape(rows, size)
    kind = data.dtype.type
    mean = np.mean(data, axis=1, keepdims=True, dtype=data.dtype)
    delta = data - mean
    variance = np.mean(delta * delta, axis=1, keepdims=True, dtype=data.dtype)
    inverse = np.reciprocal(np.sqrt(variance + kind(spec.float("epsilon", 1e-5))))
    result = (delta * inverse).reshape(x.shape) * _wide(scale)
    if bias is not None:
        result = result + _wide(bias)
    stash = np.float32 if spec.int("stash_type", 1) == 1 else data.dtype
    moments = (*x.shape[:axis], *(1,) * (x.ndim - axis))
    return [
        result.astype(x.dtype, copy=False),
        mean.reshape(moments).astype(stash, copy=False),
        inverse.reshape(moments).astype(stash, copy=False),
    ]


def _bind_layer_norm(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, scale, bias = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    _, rows, size = _rows(spec, x)
    if any(item is not None for item in outputs[1:]) or not _row_wise(x, outputs[0], (scale, bias)):
        return None
    out = single_output(spec, outputs)
    check_output(spec, 0, x.dtype, x.shape, out)
    data, target = x.reshape(rows, size), out.reshape(rows, size)
    epsilon, count = x.dtype.type(spec.float("epsilon", 1e-5)), x.dtype.type(size)
    moment = np.empty((rows, 1), x.dtype)
    square = moment.reshape(rows)
    ones, einsum = np.ones(size, x.dtype), partial(np.einsum, "ij,ij->i")

    def run() -> None:
        np.matmul(data, ones, square)
        np.divide(moment, count, moment)
        np.subtract(data, moment, target)
        einsum(target, target, out=square)
        np.divide(moment, count, moment)
        np.add(moment, epsilon, moment)
        np.sqrt(moment, moment)
        np.divide(target, moment, target)
        np.multiply(out, scale, out)
        if bias is not None:
            np.add(out, bias, out)

    return run


def _row_wise(x: Array, out: Array | None, others: Sequence[Array | None]) -> bool:
    """May a bound row-wise kernel work in place on `out`?"""
    return (
        x.dtype in NATIVE_FLOATS
        and x.size > 0
        and x.flags.c_contiguous
        and out is not None
        and out.flags.c_contiguous
        and all(item is None or item.dtype == x.dtype for item in others)
    )


def _rms_norm(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, scale = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    _, rows, size = _rows(spec, x)
    data = _wide(x).reshape(rows, size)
    mean = np.mean(data * data, axis=1, keepdims=True, dtype=data.dtype)
    inverse = np.reciprocal(np.sqrt(mean + data.dtype.type(spec.float("epsilon", 1e-5))))
    result = (data * inverse).reshape(x.shape).astype(scale.dtype, copy=False)
    return [(_wide(result) * _wide(scale)).astype(scale.dtype, copy=False)]


def _per_image(data: Array, groups: int, epsilon: float, scale: Array, shift: Array) -> Array:
    """Normalise [N, groups, everything else], then scale and shift by channel."""
    flat = data.reshape(data.shape[0], groups, -1)
    mean = np.mean(flat, axis=2, keepdims=True, dtype=data.dtype)
    delta = flat - mean
    variance = np.mean(delta * delta, axis=2, keepdims=True, dtype=data.dtype)
    normal = (delta / np.sqrt(variance + data.dtype.type(epsilon))).reshape(data.shape)
    return normal * _channels(_wide(scale), data.ndim) + _channels(_wide(shift), data.ndim)


def _instance_norm(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x, scale, shift = (tensor(spec, inputs, index) for index in range(3))
    data = _wide(x)
    return [
        _per_image(data, x.shape[1], spec.float("epsilon", 1e-5), scale, shift).astype(
            x.dtype, copy=False
        )
    ]


def _group_norm(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Scale and shift have an entry a channel; before version 21 an entry a group."""
    x, scale, shift = (tensor(spec, inputs, index) for index in range(3))
    groups = spec.int("num_groups")
    if spec.version < 21:
        each = x.shape[1] // groups
        scale, shift = np.repeat(scale, each), np.repeat(shift, each)
    data = _wide(x)
    return [
        _per_image(data, groups, spec.float("epsilon", 1e-5), scale, shift).astype(
            x.dtype, copy=False
        )
    ]


def _lrn(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """x / (bias + alpha / size * sum of squares of `size` neighbouring channels) ** beta."""
    x = tensor(spec, inputs, 0)
    data = _wide(x)
    kind: Any = data.dtype.type
    size, channels = spec.int("size"), x.shape[1]
    before = (size - 1) // 2
    squares = np.zeros((x.shape[0], channels + size - 1, *x.shape[2:]), data.dtype)
    np.multiply(data, data, squares[:, before : before + channels])
    total = squares[:, :channels].copy()
    for offset in range(1, size):
        total += squares[:, offset : offset + channels]
    total *= kind(spec.float("alpha", 1e-4) / size)
    total += kind(spec.float("bias", 1.0))
    np.power(total, kind(spec.float("beta", 0.75)), total)
    return [(data / total).astype(x.dtype, copy=False)]


def _lp_normalization(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """x / its p-norm along the axis; rows of the norm 0 stay 0."""
    x = tensor(spec, inputs, 0)
    data, axis, p = _wide(x), spec.int("axis", -1), spec.int("p", 2)
    if p not in (1, 2) or not -x.ndim <= axis < x.ndim:
        raise KernelInputError(f"LpNormalization: p {p}, axis {axis} of rank {x.ndim}")
    powers = np.abs(data) if p == 1 else np.multiply(data, data)
    norm = np.sum(powers, axis=axis, keepdims=True, dtype=data.dtype)
    norm = norm if p == 1 else np.sqrt(norm)
    return [
        np.divide(data, np.where(norm == 0, norm.dtype.type(1), norm)).astype(x.dtype, copy=False)
    ]


_LAYER_NORM = Kernel(_layer_norm, _bind_layer_norm)

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("BatchNormalization", Kernel(_batch_norm, _bind_batch_norm)),
    OnnxKernel("LayerNormalization", _LAYER_NORM),
    OnnxKernel("RMSNormalization", Kernel(_rms_norm)),
    OnnxKernel("InstanceNormalization", Kernel(_instance_norm)),
    OnnxKernel("GroupNormalization", Kernel(_group_norm)),
    OnnxKernel("LRN", Kernel(_lrn)),
    OnnxKernel("LpNormalization", Kernel(_lp_normalization)),
)
