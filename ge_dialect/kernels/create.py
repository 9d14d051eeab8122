"""Tensors made from little: constants, ranges, unit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ge_dialect.formats.dtypes import dtype_by_onnx
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.shape import int_list
from ge_dialect.kernels.spec import Array, OpSpec, Value, places, tensor
from ge_dialect.kernels.views import on_values


def onnx_dtype(spec: OpSpec, number: int) -> np.dtype[Any]:
    """numpy's type for an onnx.TensorProto.DataType number. Raises KernelInputError."""
    try:
        found = dtype_by_onnx(number).numpy
    except KeyError:
        found = None
    if found is None:
        raise KernelInputError(f"{spec.type}: no element type has the number {number}")
    return found


def _constant(spec: OpSpec, _inputs: Sequence[Value]) -> list[Value]:
    """ONNX's Constant: exactly one of its value attributes is given."""
    if isinstance(spec.attrs.get("value"), np.ndarray):
        value = np.array(spec.attrs["value"])
        return [value.astype(object) if value.dtype.kind in "US" else value]
    for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        if spec.has(name):
            return [np.array(spec.attrs[name], dtype)]
    for name, dtype in (("value_floats", np.float32), ("value_ints", np.int64)):
        if spec.has(name):
            return [np.array(list(spec.attrs[name]), dtype)]
    if spec.has("value_string"):
        return [np.array(spec.string("value_string", ""), object)]
    if spec.has("value_strings"):
        return [np.array(spec.strings("value_strings", ()), object)]
    raise KernelInputError("Constant: no value that is a tensor")


def _bind_constant(
    spec: OpSpec, _inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    value = _constant(spec, ())[0]
    out = single_output(spec, outputs)
    check_output(spec, 0, value.dtype, value.shape, out)
    return partial(np.copyto, out, value)


def _fill_value(spec: OpSpec) -> Array:
    value = spec.attrs.get("value")
    if value is None:
        return np.zeros((), np.float32)
    return np.asarray(value).reshape(-1)[0].reshape(())


def _constant_of_shape(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    value = _fill_value(spec)
    return [np.full(int_list(tensor(spec, inputs, 0)), value, value.dtype)]


def _build_constant_of_shape(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk:
    value, out = _fill_value(spec), single_output(spec, outputs)
    check_output(spec, 0, value.dtype, int_list(tensor(spec, inputs, 0)), out)
    return partial(np.copyto, out, value)


def _fill(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """GE's Fill(dims, value)."""
    value = tensor(spec, inputs, 1)
    return [np.full(int_list(tensor(spec, inputs, 0)), value.reshape(()), value.dtype)]


def _range(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    start, limit, delta = (tensor(spec, inputs, index).reshape(()) for index in range(3))
    step = delta.item()
    if step == 0:
        raise KernelInputError("Range: a step of 0")
    count = max(int(np.ceil((limit.item() - start.item()) / step)), 0)
    if start.dtype.kind in "iu":
        return [
            (int(start.item()) + np.arange(count, dtype=np.int64) * int(step)).astype(start.dtype)
        ]
    wide = start.dtype if start.dtype.itemsize >= 4 else np.dtype(np.float32)
    steps = np.arange(count, dtype=wide) * wide.type(step)
    return [(wide.type(start.item()) + steps).astype(start.dtype, copy=False)]


def _one_hot(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Indices outside [-depth, depth) give rows of the off value."""
    indices, depth, values = (tensor(spec, inputs, index) for index in range(3))
    count = int(depth.reshape(-1)[0])
    rank = indices.ndim + 1
    axis = spec.int("axis", -1) % rank
    level: Array = indices.astype(np.int64)
    level = np.where((level < 0) & (level >= -count), level + count, level)
    on = np.equal(np.expand_dims(level, axis), places(count, *(1,) * (rank - 1 - axis)))
    out = np.full(on.shape, values[0], values.dtype)
    np.copyto(out, values[1], where=on)
    return [out]


def _eye_like(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    dtype = onnx_dtype(spec, spec.int("dtype")) if spec.has("dtype") else x.dtype
    rows, columns = x.shape
    on = np.equal(places(rows, 1) + spec.int("k", 0), places(columns))
    return [on.astype(dtype)]


def _like(value: int) -> Kernel:
    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        return [np.full(x.shape, value).astype(x.dtype)]

    return Kernel(evaluate)


def _cumulate(ufunc: np.ufunc, neutral: int) -> Kernel:
    """Running sums or products; `exclusive` leaves out the element itself, `reverse` starts at the end."""

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        x = tensor(spec, inputs, 0)
        axis = int(tensor(spec, inputs, 1).item())
        if not -x.ndim <= axis < x.ndim:
            raise KernelInputError(f"{spec.type}: axis {axis} of a tensor of rank {x.ndim}")
        reverse = spec.flag("reverse")
        source = np.flip(x, axis) if reverse else x
        result = ufunc.accumulate(source, axis=axis, dtype=x.dtype)
        if spec.flag("exclusive"):
            result = np.roll(result, 1, axis)
            first = [slice(None)] * x.ndim
            first[axis] = slice(0, 1)
            result[tuple(first)] = neutral
        return [np.ascontiguousarray(np.flip(result, axis)) if reverse else result]

    return Kernel(evaluate)


def _no_op(_spec: OpSpec, _inputs: Sequence[Value]) -> list[Value]:
    return []


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "Range": Kernel(_range),
        "Fill": Kernel(_fill),
        "ZerosLike": _like(0),
        "OnesLike": _like(1),
        "NoOp": Kernel(_no_op),
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Constant", Kernel(_constant, _bind_constant)),
    OnnxKernel(
        "ConstantOfShape", Kernel(_constant_of_shape, on_values((0,), _build_constant_of_shape))
    ),
    OnnxKernel("Range", Kernel(_range)),
    OnnxKernel("OneHot", Kernel(_one_hot)),
    OnnxKernel("EyeLike", Kernel(_eye_like)),
    OnnxKernel("CumSum", _cumulate(np.add, 0)),
    OnnxKernel("CumProd", _cumulate(np.multiply, 1)),
)
