"""Shapes as data, and tensors under another shape or order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from ge_dialect.formats.dtypes import dtype_by_cpp
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.reduction import normal_axes
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor
from ge_dialect.kernels.views import copy_step, on_values, view_kernel


def int_list(array: Array) -> list[int]:
    """The elements of a small integer tensor."""
    return [int(item) for item in array.reshape(-1).tolist()]


def _reshape(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    """0 keeps a dimension (unless `allowzero`), one -1 takes the rest."""
    x = tensor(spec, inputs, 0)
    if spec.source is not None and spec.version < 5:
        wanted = spec.ints("shape") or []
    else:
        wanted = int_list(tensor(spec, inputs, 1))
    shape = list(wanted)
    if not spec.flag("allowzero"):
        for axis, size in enumerate(wanted):
            if size == 0:
                if axis >= x.ndim:
                    raise KernelInputError(
                        f"Reshape: no dimension {axis} in {list(x.shape)} to keep"
                    )
                shape[axis] = x.shape[axis]
    if -1 in shape:
        known = math.prod(size for size in shape if size != -1)
        shape[shape.index(-1)] = x.size // known if known else 0
    if math.prod(shape) != x.size or any(size < 0 for size in shape):
        raise KernelInputError(f"Reshape: {list(x.shape)} cannot become {wanted}")
    return x.reshape(shape)


def _flatten(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    x = tensor(spec, inputs, 0)
    axis = spec.int("axis", 1)
    if not -x.ndim <= axis <= x.ndim:
        raise KernelInputError(f"Flatten: axis {axis} of a tensor of rank {x.ndim}")
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _axes(spec: OpSpec, inputs: Sequence[Value], attr: str, index: int | None) -> list[int]:
    if index is not None and index < len(inputs) and inputs[index] is not None:
        return int_list(tensor(spec, inputs, index))
    return spec.ints(attr) or []


def _squeeze(attr: str, index: int | None) -> Kernel:
    """Without axes all dimensions of size 1 go."""

    def view(spec: OpSpec, inputs: Sequence[Value]) -> Array:
        x = tensor(spec, inputs, 0)
        given = _axes(spec, inputs, attr, index)
        axes = (
            normal_axes(spec, given, x.ndim)
            if given
            else tuple(a for a in range(x.ndim) if x.shape[a] == 1)
        )
        if any(x.shape[axis] != 1 for axis in axes):
            raise KernelInputError(f"{spec.type}: cannot remove {list(axes)} from {list(x.shape)}")
        return x.reshape([size for axis, size in enumerate(x.shape) if axis not in axes])

    return view_kernel(view, () if index is None else (index,))


def _unsqueeze(attr: str, index: int | None) -> Kernel:
    """Axes count in the result."""

    def view(spec: OpSpec, inputs: Sequence[Value]) -> Array:
        x = tensor(spec, inputs, 0)
        given = _axes(spec, inputs, attr, index)
        rank = x.ndim + len(given)
        axes = normal_axes(spec, given, rank)
        if len(axes) != len(given):
            raise KernelInputError(f"{spec.type}: axes {given} repeat")
        sizes = iter(x.shape)
        return x.reshape([1 if axis in axes else next(sizes) for axis in range(rank)])

    return view_kernel(view, () if index is None else (index,))


def _expand(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    """Broadcasting in both directions."""
    x = tensor(spec, inputs, 0)
    wanted = int_list(tensor(spec, inputs, 1))
    try:
        return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(wanted)))
    except ValueError:
        raise KernelInputError(f"{spec.type}: {list(x.shape)} cannot become {wanted}") from None


def _transpose_by(x: Array, order: Sequence[int] | None, spec: OpSpec) -> Array:
    order = tuple(reversed(range(x.ndim))) if order is None else tuple(order)
    if sorted(axis % max(x.ndim, 1) for axis in order) != list(range(x.ndim)):
        raise KernelInputError(f"{spec.type}: {list(order)} is no order of {x.ndim} dimensions")
    return x.transpose(order)


def _transpose(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    return _transpose_by(tensor(spec, inputs, 0), spec.ints("perm"), spec)


def _transpose_input(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    return _transpose_by(tensor(spec, inputs, 0), int_list(tensor(spec, inputs, 1)), spec)


def _identity(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    return tensor(spec, inputs, 0)


def _identity_value(_spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Also for sequences, maps and empty optionals."""
    value = inputs[0]
    return [value.copy() if isinstance(value, np.ndarray) else value]


def _constant_step(spec: OpSpec, value: Array, outputs: Sequence[Array | None]) -> Thunk:
    out = single_output(spec, outputs)
    check_output(spec, 0, value.dtype, value.shape, out)
    return partial(np.copyto, out, value)


def _dtype(spec: OpSpec) -> np.dtype:
    """GE's Shape and Size choose int64 (9) or int32 (3); ONNX's are int64."""
    dtype = dtype_by_cpp(spec.int("dtype", 9) if spec.source is None else 9).numpy
    return np.dtype(np.int64) if dtype is None else dtype


def _shape_value(spec: OpSpec, x: Array) -> Array:
    end = spec.attrs.get("end")
    return np.array(x.shape[spec.int("start", 0) : end], _dtype(spec))


def _size_value(spec: OpSpec, x: Array) -> Array:
    return np.array(x.size, _dtype(spec))


def _shape(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    return [_shape_value(spec, tensor(spec, inputs, 0))]


def _bind_shape(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk:
    return _constant_step(spec, _shape_value(spec, tensor(spec, inputs, 0)), outputs)


def _size(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    return [_size_value(spec, tensor(spec, inputs, 0))]


def _bind_size(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk:
    return _constant_step(spec, _size_value(spec, tensor(spec, inputs, 0)), outputs)


def _repeats(spec: OpSpec, inputs: Sequence[Value], x: Array) -> list[int]:
    if spec.source is not None and spec.version < 6:
        repeats = [1] * x.ndim
        repeats[int(tensor(spec, inputs, 2).item())] = int(tensor(spec, inputs, 1).item())
        return repeats
    repeats = int_list(tensor(spec, inputs, 1))
    if len(repeats) != x.ndim:
        raise KernelInputError(f"{spec.type}: {len(repeats)} repeats for rank {x.ndim}")
    return repeats


def _tile(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    return [np.tile(x, _repeats(spec, inputs, x))]


def _build_tile(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    repeats = _repeats(spec, inputs, x)
    check_output(spec, 0, x.dtype, [n * r for n, r in zip(x.shape, repeats, strict=True)], out)
    both = [size for pair in zip(repeats, x.shape, strict=True) for size in pair]
    single = [size for n in x.shape for size in (1, n)]
    return copy_step(out.reshape(both), np.broadcast_to(x.reshape(single), both))


def _bind_tile(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    contiguous = single_output(spec, outputs).flags.c_contiguous and spec.version not in range(1, 6)
    return on_values((1,), _build_tile)(spec, inputs, outputs) if contiguous else None


def _blocks(spec: OpSpec, x: Array) -> tuple[int, int, int, int, int]:
    if x.ndim != 4:
        raise KernelInputError(f"{spec.type}: data of rank {x.ndim}")
    n, c, h, w = x.shape
    return n, c, h, w, spec.int("blocksize")


def _depth_to_space(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    n, c, h, w, b = _blocks(spec, x)
    if spec.string("mode", "DCR") == "DCR":
        turned = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        turned = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return [turned.reshape(n, c // (b * b), h * b, w * b)]


def _space_to_depth(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    n, c, h, w, b = _blocks(spec, x)
    if spec.string("mode", "DCR") == "DCR":
        turned = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    else:
        turned = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 1, 3, 5, 2, 4)
    return [turned.reshape(n, c * b * b, h // b, w // b)]


_RESHAPE = view_kernel(_reshape, (1,))
_EXPAND = view_kernel(_expand, (1,))
_TILE = Kernel(_tile, _bind_tile)
_SHAPE = Kernel(_shape, _bind_shape)
_SIZE = Kernel(_size, _bind_size)
_COPY = view_kernel(_identity)
_IDENTITY = Kernel(_identity_value, _COPY.bind)

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "Reshape": _RESHAPE,
        "Flatten": view_kernel(_flatten),
        "Squeeze": _squeeze("axis", None),
        "SqueezeV3": _squeeze("axes", 1),
        "Unsqueeze": _unsqueeze("axes", None),
        "UnsqueezeV3": _unsqueeze("axes", 1),
        "ExpandDims": _unsqueeze("axis", 1),
        "Expand": _EXPAND,
        "BroadcastTo": _EXPAND,
        "Tile": _TILE,
        "TransposeD": view_kernel(_transpose),
        "Transpose": view_kernel(_transpose_input, (1,)),
        "Shape": _SHAPE,
        "Size": _SIZE,
        "Identity": _IDENTITY,
        "MemcpyAsync": _COPY,
        "TensorMove": _COPY,
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Reshape", view_kernel(_reshape), until=4),
    OnnxKernel("Reshape", _RESHAPE, since=5),
    OnnxKernel("Flatten", view_kernel(_flatten)),
    OnnxKernel("Squeeze", _squeeze("axes", 1)),
    OnnxKernel("Unsqueeze", _unsqueeze("axes", 1)),
    OnnxKernel("Expand", _EXPAND),
    OnnxKernel("Tile", _TILE),
    OnnxKernel("Transpose", view_kernel(_transpose)),
    OnnxKernel("Shape", _SHAPE),
    OnnxKernel("Size", _SIZE),
    OnnxKernel("Identity", _IDENTITY),
    OnnxKernel("DepthToSpace", Kernel(_depth_to_space)),
    OnnxKernel("SpaceToDepth", Kernel(_space_to_depth)),
)
