"""Transposed convolution: one product, whose rows are added into the output at shifted places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from ge_dialect.kernels.windows import same_padding


@dataclass(frozen=True, slots=True)
class Transposed:
    """x [N, C, spatial...], weight [C, M / groups, kernel...]; the other tuples have an entry a spatial dimension."""

    x: Array
    weight: Array
    bias: Array | None
    groups: int
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def out_shape(self) -> tuple[int, ...]:
        """[N, M, out...]."""
        return (self.x.shape[0], self.weight.shape[1] * self.groups, *self.out)


def _read(spec: OpSpec, inputs: Sequence[Value]) -> Transposed:
    """Geometry as ONNX's ConvTranspose defines it: output_shape, if given, decides the padding."""
    x, weight, bias = tensor(spec, inputs, 0), tensor(spec, inputs, 1), maybe_tensor(inputs, 2)
    same_types(spec, (x, weight) if bias is None else (x, weight, bias))
    rank, groups = x.ndim - 2, spec.int("group", 1)
    if rank < 1 or x.ndim != weight.ndim or x.shape[1] != weight.shape[0] or x.shape[1] % groups:
        raise KernelInputError(
            f"{spec.type}: data {list(x.shape)} does not fit a weight {list(weight.shape)} in {groups} groups"
        )
    strides = spec.ints("strides") or [1] * rank
    dilations = spec.ints("dilations") or [1] * rank
    extra = spec.ints("output_padding") or [0] * rank
    pads = spec.ints("pads") or [0] * (2 * rank)
    auto = spec.string("auto_pad", "NOTSET")
    wanted = spec.ints("output_shape")
    begin, out = list[int](), list[int]()
    for axis in range(rank):
        size, s = x.shape[2 + axis], strides[axis]
        full = s * (size - 1) + extra[axis] + (weight.shape[2 + axis] - 1) * dilations[axis] + 1
        if wanted or auto in ("SAME_UPPER", "SAME_LOWER"):
            target = wanted[len(wanted) - rank + axis] if wanted else size * s
            before, _ = same_padding(max(full - target, 0), auto)
        else:
            before, after = (0, 0) if auto == "VALID" else (pads[axis], pads[axis + rank])
            target = full - before - after
        begin.append(before)
        out.append(target)
    return Transposed(
        x, weight, bias, groups, tuple(strides), tuple(dilations), tuple(begin), tuple(out)
    )


def _thunk(conv: Transposed, out: Array) -> Thunk:
    """Everything that shapes decide is decided here; `out` is contiguous."""
    x, groups = conv.x, conv.groups
    n, c = x.shape[:2]
    extent, kernel = x.shape[2:], conv.weight.shape[2:]
    m = conv.weight.shape[1]
    points = math.prod(extent)
    taps = math.prod(kernel)
    # [groups, M/groups * kernel, C/groups] times [n, groups, C/groups, points]
    weight = conv.weight.reshape(groups, c // groups, m * taps).transpose(0, 2, 1)
    data = x.reshape(n, groups, c // groups, points)
    products = np.empty((n, groups, m * taps, points), x.dtype)
    shifted = products.reshape(n, groups * m, *kernel, *extent)

    origin = tuple(max(-before, 0) for before in conv.begin)
    room = tuple(
        max(o + (e - 1) * s + (k - 1) * d + 1, o + before + size)
        for o, e, s, k, d, before, size in zip(
            origin, extent, conv.strides, kernel, conv.dilations, conv.begin, conv.out, strict=True
        )
    )
    total = np.empty((n, groups * m, *room), x.dtype)
    steps: list[Thunk] = [partial(np.matmul, weight, data, products), partial(total.fill, 0)]
    for offset in np.ndindex(*kernel):
        places = tuple(
            slice(o + k * d, o + k * d + (e - 1) * s + 1, s)
            for o, k, d, e, s in zip(
                origin, offset, conv.dilations, extent, conv.strides, strict=True
            )
        )
        into = total[(slice(None), slice(None), *places)]
        steps.append(partial(np.add, into, shifted[(slice(None), slice(None), *offset)], into))
    cropped = total[
        (
            slice(None),
            slice(None),
            *(
                slice(o + before, o + before + size)
                for o, before, size in zip(origin, conv.begin, conv.out, strict=True)
            ),
        )
    ]
    if conv.bias is None:
        steps.append(partial(np.copyto, out, cropped))
    else:
        bias = conv.bias.reshape((-1,) + (1,) * len(extent))
        steps.append(partial(np.add, cropped, bias, out))
    return sequence(steps)


def _evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    conv = _read(spec, inputs)
    out = np.empty(conv.out_shape, conv.x.dtype)
    _thunk(conv, out)()
    return [out]


def _bind(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    conv = _read(spec, inputs)
    out = single_output(spec, outputs)
    check_output(spec, 0, conv.x.dtype, conv.out_shape, out)
    usable = (
        conv.x.dtype in NATIVE_FLOATS
        and conv.x.flags.c_contiguous
        and conv.weight.flags.c_contiguous
        and out.size > 0
    )
    return _thunk(conv, out) if usable else None


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("ConvTranspose", Kernel(widened(_evaluate), _bind)),
)
