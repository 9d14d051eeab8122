"""Slices and padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.reduction import normal_axes
from ge_dialect.kernels.shape import int_list
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor
from ge_dialect.kernels.views import on_values, view_kernel


def one_slice(size: int, start: int, end: int, step: int) -> slice:
    """ONNX's slice of one dimension as python's: negative places count from the end, then all are clamped."""
    start = start + size if start < 0 else start
    end = end + size if end < 0 else end
    if step > 0:
        return slice(min(max(start, 0), size), min(max(end, 0), size), step)
    if not size:
        return slice(0, 0, step)
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return slice(start, None if end < 0 else end, step)


def _sliced(
    spec: OpSpec,
    x: Array,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Array:
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise KernelInputError(
            f"{spec.type}: starts {list(starts)}, ends {list(ends)}, axes {list(axes)}, steps {list(steps)}"
        )
    place = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        (where,) = normal_axes(spec, [axis], x.ndim)
        place[where] = one_slice(x.shape[where], start, end, step)
    return x[tuple(place)]


def _maybe_ints(inputs: Sequence[Value], index: int) -> list[int] | None:
    array = maybe_tensor(inputs, index)
    return None if array is None else int_list(array)


def _slice_inputs(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    """x, starts, ends, [axes], [steps]."""
    starts, ends = int_list(tensor(spec, inputs, 1)), int_list(tensor(spec, inputs, 2))
    return _sliced(
        spec, tensor(spec, inputs, 0), starts, ends, _maybe_ints(inputs, 3), _maybe_ints(inputs, 4)
    )


def _slice_attributes(spec: OpSpec, inputs: Sequence[Value]) -> Array:
    """The form before version 10."""
    starts, ends = spec.ints("starts") or [], spec.ints("ends") or []
    return _sliced(spec, tensor(spec, inputs, 0), starts, ends, spec.ints("axes"), None)


def _pads(spec: OpSpec, inputs: Sequence[Value], rank: int) -> list[tuple[int, int]]:
    """(before, after) a dimension; attributes before version 11."""
    given = maybe_tensor(inputs, 1) if spec.version >= 11 else None
    pads = int_list(given) if given is not None else spec.ints("pads") or spec.ints("paddings")
    listed = maybe_tensor(inputs, 3)
    axes = list(range(rank)) if listed is None else int_list(listed)
    if pads is None or len(pads) != 2 * len(axes):
        raise KernelInputError(f"Pad: {pads} for {len(axes)} dimensions")
    result = [(0, 0)] * rank
    for index, axis in enumerate(axes):
        (where,) = normal_axes(spec, [axis], rank)
        result[where] = (pads[index], pads[index + len(axes)])
    return result


def _mirror(places: Array, size: int, mode: str) -> Array:
    """The element of a dimension that each place, maybe outside of it, shows."""
    if mode == "edge":
        return np.clip(places, 0, size - 1)
    if mode == "wrap":
        return places % size
    period = max(2 * (size - 1), 1)
    turned = places % period
    return np.where(turned < size, turned, period - turned)


def _constant_views(x: Array, out: Array, pads: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
    """Views of out and x that show the elements which stay; negative padding removes some."""
    target, source = list[slice](), list[slice]()
    for size, (before, after) in zip(x.shape, pads, strict=True):
        first, last = max(-before, 0), size - max(-after, 0)
        last = max(last, first)
        source.append(slice(first, last))
        target.append(slice(first + before, last + before))
    return out[tuple(target)], x[tuple(source)]


def _fill_value(spec: OpSpec, inputs: Sequence[Value], x: Array) -> Array:
    given = maybe_tensor(inputs, 2)
    if spec.version >= 11:
        return np.zeros((), x.dtype) if given is None else given.reshape(())
    return np.asarray(spec.float("value", 0.0), x.dtype)


def _padded_shape(x: Array, pads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(max(size + b + a, 0) for size, (b, a) in zip(x.shape, pads, strict=True))


def _pad(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    pads = _pads(spec, inputs, x.ndim)
    mode = spec.string("mode", "constant")
    shape = _padded_shape(x, pads)
    if mode == "constant":
        out = np.full(shape, _fill_value(spec, inputs, x), x.dtype)
        target, source = _constant_views(x, out, pads)
        np.copyto(target, source)
        return [out]
    if mode not in ("reflect", "edge", "wrap"):
        raise KernelInputError(f"Pad: unknown mode {mode}")
    # Negative padding is taken off first; what is left is what repeats.
    result = x[
        tuple(
            slice(max(-b, 0), size - max(-a, 0)) for size, (b, a) in zip(x.shape, pads, strict=True)
        )
    ]
    for axis, (before, _) in enumerate(pads):
        size = result.shape[axis]
        if shape[axis] != size:
            if not size:
                raise KernelInputError("Pad: nothing to repeat in an empty dimension")
            places = np.arange(shape[axis]) - max(before, 0)
            result = result.take(_mirror(places, size, mode), axis)
    return [result.copy() if np.may_share_memory(result, x) else result]


def _build_pad(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    pads = _pads(spec, inputs, x.ndim)
    check_output(spec, 0, x.dtype, _padded_shape(x, pads), out)
    value = _fill_value(spec, inputs, x)
    target, source = _constant_views(x, out, pads)

    def run() -> None:
        np.copyto(out, value)
        np.copyto(target, source)

    return run


def _bind_pad(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    if spec.string("mode", "constant") != "constant":
        return None
    return on_values((1, 3), _build_pad)(spec, inputs, outputs)


def _trilu(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    offset = maybe_tensor(inputs, 1)
    k = 0 if offset is None else int(offset.item())
    keep = np.triu if spec.flag("upper", True) else np.tril
    mask = keep(np.ones(x.shape[-2:], np.bool_), k)
    return [np.where(mask, x, x.dtype.type(0)).astype(x.dtype, copy=False)]


def _reverse_sequence(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The first `sequence_lens[b]` steps of batch b are turned around."""
    x, lengths = tensor(spec, inputs, 0), int_list(tensor(spec, inputs, 1))
    batch, time = spec.int("batch_axis", 1), spec.int("time_axis", 0)
    out = x.copy()
    moved, source = np.moveaxis(out, (batch, time), (0, 1)), np.moveaxis(x, (batch, time), (0, 1))
    for index, length in enumerate(lengths):
        moved[index, :length] = source[index, :length][::-1]
    return [out]


_SLICE = view_kernel(_slice_inputs, (1, 2, 3, 4))

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({"StridedSliceV2": _SLICE})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Slice", view_kernel(_slice_attributes), until=9),
    OnnxKernel("Slice", _SLICE, since=10),
    OnnxKernel("Pad", Kernel(_pad, _bind_pad)),
    OnnxKernel("Trilu", Kernel(_trilu)),
    OnnxKernel("ReverseSequence", Kernel(_reverse_sequence)),
)
