"""Convolution: products of weights with gathered windows, in blocks that stay in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.binary import same_types
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.precision import NATIVE_FLOATS, widened
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor
from ge_dialect.kernels.views import sequence
from ge_dialect.kernels.windows import Windows, interior, onnx_windows, padded_like, window_view

_BLOCK_ELEMENTS = 1 << 18
"""Gathered elements of one block: 1 MiB of float32."""


@dataclass(frozen=True, slots=True)
class Convolution:
    """One convolution: x [N, C, spatial...], weight [M, C / groups, kernel...], bias [M] or None."""

    x: Array
    weight: Array
    bias: Array | None
    groups: int
    windows: Windows

    @property
    def out_shape(self) -> tuple[int, ...]:
        """[N, M, out...]."""
        return (self.x.shape[0], self.weight.shape[0], *self.windows.out)


def _check(spec: OpSpec, x: Array, weight: Array, bias: Array | None, groups: int) -> None:
    same_types(spec, (x, weight) if bias is None else (x, weight, bias))
    if x.ndim < 3 or x.ndim != weight.ndim:
        raise KernelInputError(f"{spec.type}: ranks {x.ndim} and {weight.ndim} of data and weight")
    if x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise KernelInputError(
            f"{spec.type}: {x.shape[1]} channels do not fit a weight {list(weight.shape)} in {groups} groups"
        )


def _onnx(spec: OpSpec, inputs: Sequence[Value]) -> Convolution:
    x, weight, bias = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    groups = spec.int("group", 1)
    _check(spec, x, weight, bias, groups)
    return Convolution(x, weight, bias, groups, onnx_windows(spec, x.shape[2:], weight.shape[2:]))


def _conv2d(spec: OpSpec, inputs: Sequence[Value]) -> Convolution:
    """GE's form: strides and dilations for all four dimensions, pads as top, bottom, left, right."""
    x, weight, bias = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    if spec.string("data_format", "NCHW") != "NCHW":
        raise KernelInputError(f"Conv2D: no kernel for the format {spec.string('data_format', '')}")
    groups = spec.int("groups", 1)
    _check(spec, x, weight, bias, groups)
    if x.ndim != 4:
        raise KernelInputError(f"Conv2D: data of rank {x.ndim}")
    top, bottom, left, right = spec.ints("pads") or (0, 0, 0, 0)
    plain = OpSpec(
        "Conv2D",
        {
            "strides": (spec.ints("strides") or [1] * 4)[2:],
            "dilations": (spec.ints("dilations") or [1] * 4)[2:],
            "pads": [top, left, bottom, right],
        },
        1,
    )
    return Convolution(x, weight, bias, groups, onnx_windows(plain, x.shape[2:], weight.shape[2:]))


def _steps_pointwise(conv: Convolution, out: Array) -> list[Thunk]:
    """A 1x1 kernel that takes each element once: nothing to gather."""
    x, groups = conv.x, conv.groups
    n, c = x.shape[:2]
    m = conv.weight.shape[0]
    if groups == 1:
        return [
            partial(
                np.matmul, conv.weight.reshape(m, c), x.reshape(n, c, -1), out.reshape(n, m, -1)
            )
        ]
    weight = conv.weight.reshape(groups, m // groups, c // groups)
    data = x.reshape(n, groups, c // groups, -1)
    return [partial(np.matmul, weight, data, out.reshape(n, groups, m // groups, -1))]


def _padded(conv: Convolution, steps: list[Thunk]) -> Array:
    """The data with padding around it; its filling becomes a step."""
    windows, x = conv.windows, conv.x
    if not windows.padded:
        return x
    padded = padded_like(windows, x, 0)
    target, source = interior(windows, padded, x)
    steps.append(partial(np.copyto, target, source))
    return padded


def _steps_gathered(conv: Convolution, out: Array) -> list[Thunk]:
    """Copy the windows of some output rows side by side, multiply, go on with the next rows."""
    steps: list[Thunk] = []
    groups, windows = conv.groups, conv.windows
    n, m = out.shape[:2]
    view = window_view(windows, _padded(conv, steps))
    depth = math.prod(conv.weight.shape[1:])
    weight = conv.weight.reshape(groups, m // groups, depth)
    rank = len(windows.out)
    rest = math.prod(windows.out[1:])
    per_row = groups * depth * rest
    rows = min(max(1, _BLOCK_ELEMENTS // max(per_row, 1)), windows.out[0])
    buffer = np.empty(per_row * rows, out.dtype)
    row_axis = 1 + rank  # of view[batch]: channels, kernel..., out...
    for batch in range(n):
        image = view[batch]
        target = out[batch].reshape(groups, m // groups, windows.out[0] * rest)
        for first in range(0, windows.out[0], rows):
            count = min(rows, windows.out[0] - first)
            block = image[(slice(None),) * row_axis + (slice(first, first + count),)]
            columns = buffer[: per_row * count]
            steps.append(partial(np.copyto, columns.reshape(block.shape), block))
            # A view: only the distance between the rows of its matrices changes.
            result = target[:, :, first * rest : (first + count) * rest]
            columns = columns.reshape(groups, depth, count * rest)
            steps.append(partial(np.matmul, weight, columns, result))
    return steps


def _steps_scattered(conv: Convolution, out: Array) -> list[Thunk]:
    """Multiply first, then add shifted products: less to move where there are far fewer channels after than before."""
    steps: list[Thunk] = []
    windows, padded = conv.windows, _padded(conv, steps)
    n, m = out.shape[:2]
    c, taps = conv.x.shape[1], math.prod(windows.kernel)
    extent = padded.shape[2:]
    weight = np.empty((taps * m, c), out.dtype)
    steps.append(
        partial(
            np.copyto,
            weight.reshape(taps, m, c),
            conv.weight.reshape(m, c, taps).transpose(2, 0, 1),
        )
    )
    products = np.empty((n, taps * m, math.prod(extent)), out.dtype)
    steps.append(partial(np.matmul, weight, padded.reshape(n, c, -1), products))
    shifted = products.reshape(n, *windows.kernel, m, *extent)
    for number, offset in enumerate(np.ndindex(*windows.kernel)):
        places = tuple(
            slice(k * d, k * d + size)
            for k, d, size in zip(offset, windows.dilations, windows.out, strict=True)
        )
        image = shifted[(slice(None), *offset, slice(None), *places)]
        steps.append(partial(np.add, out, image, out) if number else partial(np.copyto, out, image))
    return steps


def _few_outputs(conv: Convolution) -> bool:
    return (
        conv.groups == 1
        and 3 * conv.weight.shape[0] <= conv.x.shape[1]
        and all(stride == 1 for stride in conv.windows.strides)
        and (conv.windows.padded or conv.x.flags.c_contiguous)
    )


def _thunk(conv: Convolution, out: Array) -> Thunk:
    """Everything that shapes decide is decided here; `out` is contiguous."""
    if not out.size:
        return lambda: None
    if not conv.weight[0].size:
        steps: list[Thunk] = [partial(np.copyto, out, 0)]
    elif conv.windows.pointwise and conv.x.flags.c_contiguous:
        steps = _steps_pointwise(conv, out)
    elif _few_outputs(conv):
        steps = _steps_scattered(conv, out)
    else:
        steps = _steps_gathered(conv, out)
    if conv.bias is not None:
        bias = conv.bias.reshape((-1,) + (1,) * len(conv.windows.out))
        steps.append(partial(np.add, out, bias, out))
    return sequence(steps)


def _kernel(reader: Callable[[OpSpec, Sequence[Value]], Convolution]) -> Kernel:
    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        conv = reader(spec, inputs)
        out = np.empty(conv.out_shape, conv.x.dtype)
        _thunk(conv, out)()
        return [out]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        conv = reader(spec, inputs)
        out = single_output(spec, outputs)
        check_output(spec, 0, conv.x.dtype, conv.out_shape, out)
        usable = (
            conv.x.dtype in NATIVE_FLOATS
            and out.flags.c_contiguous
            and conv.weight.flags.c_contiguous
        )
        return _thunk(conv, out) if usable else None

    return Kernel(widened(evaluate), bind)


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({"Conv2D": _kernel(_conv2d)})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (OnnxKernel("Conv", _kernel(_onnx)),)
