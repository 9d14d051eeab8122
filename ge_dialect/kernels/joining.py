"""Tensors joined along a dimension, and cut apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from ge_dialect.kernels.binary import same_types
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.reduction import normal_axes
from ge_dialect.kernels.shape import int_list
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor, tensors
from ge_dialect.kernels.views import copy_step, on_values, sequence

Parts: TypeAlias = Callable[[OpSpec, Sequence[Value]], tuple[list[Array], int]]
"""Tensors to join, and the axis (maybe negative)."""

Cut: TypeAlias = Callable[[OpSpec, Sequence[Value], Array], tuple[int, list[int]]]
"""Axis (not negative) and the sizes of the pieces along it."""


def _one_axis(spec: OpSpec, axis: int, rank: int) -> int:
    return normal_axes(spec, [axis], rank)[0]


def _joined_shape(spec: OpSpec, parts: Sequence[Array], axis: int) -> tuple[int, ...]:
    first = parts[0].shape
    for item in parts[1:]:
        same = item.ndim == len(first) and all(
            a == b for i, (a, b) in enumerate(zip(item.shape, first, strict=True)) if i != axis
        )
        if not same:
            shapes = ", ".join(str(list(part.shape)) for part in parts)
            raise KernelInputError(f"{spec.type}: cannot join {shapes} along dimension {axis}")
    return (*first[:axis], sum(item.shape[axis] for item in parts), *first[axis + 1 :])


def _join_kernel(read: Parts, watched: Sequence[int] = ()) -> Kernel:
    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        parts, axis = read(spec, inputs)
        axis = _one_axis(spec, axis, parts[0].ndim)
        same_types(spec, parts)
        _joined_shape(spec, parts, axis)
        return [np.concatenate(parts, axis=axis)]

    def build(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        parts, axis = read(spec, inputs)
        axis = _one_axis(spec, axis, parts[0].ndim)
        out = single_output(spec, outputs)
        same_types(spec, parts)
        check_output(spec, 0, parts[0].dtype, _joined_shape(spec, parts, axis), out)
        steps: list[Thunk] = []
        begin = 0
        for item in parts:
            target = out[(slice(None),) * axis + (slice(begin, begin + item.shape[axis]),)]
            begin += item.shape[axis]
            if item.size:
                steps.append(copy_step(target, item))
        overlapping = any(np.may_share_memory(out, item) for item in parts)
        # Parts that already lie in place need no copy; otherwise one call does all.
        return sequence(steps) if overlapping else partial(np.concatenate, parts, axis, out)

    return Kernel(evaluate, on_values(watched, build))


def _concat_d(spec: OpSpec, inputs: Sequence[Value]) -> tuple[list[Array], int]:
    return tensors(spec, inputs), spec.int("concat_dim")


def _concat_first(spec: OpSpec, inputs: Sequence[Value]) -> tuple[list[Array], int]:
    return tensors(spec, inputs[1:]), int(tensor(spec, inputs, 0).item())


def _concat_last(spec: OpSpec, inputs: Sequence[Value]) -> tuple[list[Array], int]:
    return tensors(spec, inputs[:-1]), int(tensor(spec, inputs, len(inputs) - 1).item())


def _concat_onnx(spec: OpSpec, inputs: Sequence[Value]) -> tuple[list[Array], int]:
    return tensors(spec, inputs), spec.int("axis", 1 if spec.version < 4 else None)


def _pack(spec: OpSpec, inputs: Sequence[Value]) -> tuple[list[Array], int]:
    """Stacking is joining with one dimension more."""
    items = tensors(spec, inputs)
    axis = _one_axis(spec, spec.int("axis", 0), items[0].ndim + 1)
    return [np.expand_dims(item, axis) for item in items], axis


def _pieces(spec: OpSpec, x: Array, axis: int, sizes: Sequence[int]) -> list[Array]:
    if sum(sizes) != x.shape[axis]:
        raise KernelInputError(
            f"{spec.type}: pieces {list(sizes)} of a dimension of {x.shape[axis]}"
        )
    views: list[Array] = []
    begin = 0
    for size in sizes:
        views.append(x[(slice(None),) * axis + (slice(begin, begin + size),)])
        begin += size
    return views


def _cut_kernel(
    cut: Cut, data: int = 0, watched: Sequence[int] = (), *, drop: bool = False
) -> Kernel:
    """`drop` removes the cut dimension (pieces of size 1)."""

    def views(spec: OpSpec, inputs: Sequence[Value]) -> list[Array]:
        x = tensor(spec, inputs, data)
        axis, sizes = cut(spec, inputs, x)
        pieces = _pieces(spec, x, axis, sizes)
        return [np.squeeze(piece, axis) for piece in pieces] if drop else pieces

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        return [piece.copy() for piece in views(spec, inputs)]

    def build(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        steps: list[Thunk] = []
        for index, (piece, out) in enumerate(zip(views(spec, inputs), outputs, strict=False)):
            if out is not None:
                check_output(spec, index, piece.dtype, piece.shape, out)
                steps.append(copy_step(out, piece))
        return sequence(steps)

    return Kernel(evaluate, on_values(watched, build))


def _equal(spec: OpSpec, x: Array, axis: int, count: int) -> tuple[int, list[int]]:
    axis = _one_axis(spec, axis, x.ndim)
    if count < 1 or x.shape[axis] % count:
        raise KernelInputError(f"{spec.type}: {x.shape[axis]} elements in {count} equal pieces")
    return axis, [x.shape[axis] // count] * count


def _rest(sizes: Sequence[int], total: int) -> list[int]:
    """One size may be -1: what is left."""
    known = sum(size for size in sizes if size != -1)
    return [total - known if size == -1 else size for size in sizes]


def _split_d(spec: OpSpec, _inputs: Sequence[Value], x: Array) -> tuple[int, list[int]]:
    return _equal(spec, x, spec.int("split_dim"), spec.int("num_split", spec.n_outputs))


def _split(spec: OpSpec, inputs: Sequence[Value], x: Array) -> tuple[int, list[int]]:
    axis = int(tensor(spec, inputs, 0).item())
    return _equal(spec, x, axis, spec.int("num_split", spec.n_outputs))


def _split_vd(spec: OpSpec, _inputs: Sequence[Value], x: Array) -> tuple[int, list[int]]:
    axis = _one_axis(spec, spec.int("split_dim"), x.ndim)
    return axis, _rest(spec.ints("size_splits") or [], x.shape[axis])


def _split_v(spec: OpSpec, inputs: Sequence[Value], x: Array) -> tuple[int, list[int]]:
    """The dimension is an input in GE's own form, an attribute where it is a constant of the source."""
    dimension = maybe_tensor(inputs, 2)
    axis = spec.int("split_dim", 0) if dimension is None else int(dimension.item())
    axis = _one_axis(spec, axis, x.ndim)
    return axis, _rest(int_list(tensor(spec, inputs, 1)), x.shape[axis])


def _split_onnx(spec: OpSpec, inputs: Sequence[Value], x: Array) -> tuple[int, list[int]]:
    """Sizes are an attribute before version 13 (an input in version 1); without, the last piece may be smaller."""
    axis = _one_axis(spec, spec.int("axis", 0), x.ndim)
    given = maybe_tensor(inputs, 1)
    sizes = spec.ints("split") if given is None else int_list(given)
    if sizes is None:
        count = spec.int("num_outputs", spec.n_outputs)
        each = -(-x.shape[axis] // count)
        sizes = [each] * (count - 1) + [x.shape[axis] - each * (count - 1)]
    return axis, sizes


def _unpack(spec: OpSpec, _inputs: Sequence[Value], x: Array) -> tuple[int, list[int]]:
    axis = _one_axis(spec, spec.int("axis", 0), x.ndim)
    return axis, [1] * x.shape[axis]


def _bind_concat_last(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    bind = _join_kernel(_concat_last, (len(inputs) - 1,)).bind
    return None if bind is None else bind(spec, inputs, outputs)


_CONCAT_D = _join_kernel(_concat_d)

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "ConcatD": _CONCAT_D,
        "ConcatV2D": _CONCAT_D,
        "PhonyConcat": _CONCAT_D,
        "Concat": _join_kernel(_concat_first, (0,)),
        "ConcatV2": Kernel(_join_kernel(_concat_last).evaluate, _bind_concat_last),
        "Pack": _join_kernel(_pack),
        "Unpack": _cut_kernel(_unpack, drop=True),
        "SplitD": _cut_kernel(_split_d),
        "SplitVD": _cut_kernel(_split_vd),
        "SplitV": _cut_kernel(_split_v, 0, (1, 2)),
        "Split": _cut_kernel(_split, 1, (0,)),
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Concat", _join_kernel(_concat_onnx)),
    OnnxKernel("Split", _cut_kernel(_split_onnx, 0, (1,))),
)
