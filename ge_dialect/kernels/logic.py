"""Comparisons, logic, tests for nan and infinity, and choice by condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.binary import arithmetic_kernel, broadcast_shape, same_types
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor

_BOOL = np.dtype(np.bool_)


def _not(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    return [np.asarray(np.logical_not(tensor(spec, inputs, 0)))]


def _bind_not(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    x, out = tensor(spec, inputs, 0), single_output(spec, outputs)
    check_output(spec, 0, _BOOL, x.shape, out)
    return partial(np.logical_not, x, out)


def _bitwise_not(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    return [np.asarray(np.invert(tensor(spec, inputs, 0)))]


def _is_nan(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    return [np.asarray(np.isnan(tensor(spec, inputs, 0)))]


def _is_inf(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    x = tensor(spec, inputs, 0)
    infinite = np.asarray(np.isinf(x))
    if not spec.flag("detect_negative", True):
        infinite = infinite & np.asarray(x > x.dtype.type(0))
    if not spec.flag("detect_positive", True):
        infinite = infinite & np.asarray(x < x.dtype.type(0))
    return [infinite]


def _select_operands(
    spec: OpSpec, inputs: Sequence[Value]
) -> tuple[Array, Array, Array, tuple[int, ...]]:
    condition, yes, no = (tensor(spec, inputs, index) for index in range(3))
    if condition.dtype != _BOOL:
        raise KernelInputError(f"{spec.type}: the condition is {condition.dtype}, not bool")
    same_types(spec, (yes, no))
    return condition, yes, no, broadcast_shape(spec, (condition, yes, no))


def _select(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    condition, yes, no, _ = _select_operands(spec, inputs)
    return [np.asarray(np.where(condition, yes, no))]


def _bind_select(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    condition, yes, no, shape = _select_operands(spec, inputs)
    out = single_output(spec, outputs)
    check_output(spec, 0, yes.dtype, shape, out)
    if np.may_share_memory(out, condition) or np.may_share_memory(out, yes):
        return None

    def run() -> None:
        np.copyto(out, no)
        np.copyto(out, yes, where=condition)

    return run


def _comparison(ufunc: np.ufunc) -> Kernel:
    return arithmetic_kernel(ufunc, result=_BOOL)


_COMPARISONS = {"Equal": np.equal, "Greater": np.greater, "Less": np.less}
_NOT = Kernel(_not, _bind_not)
_SELECT = Kernel(_select, _bind_select)

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {name: _comparison(ufunc) for name, ufunc in _COMPARISONS.items()}
    | {
        "GreaterEqual": _comparison(np.greater_equal),
        "LessEqual": _comparison(np.less_equal),
        "NotEqual": _comparison(np.not_equal),
        "LogicalAnd": _comparison(np.logical_and),
        "LogicalOr": _comparison(np.logical_or),
        "LogicalXor": _comparison(np.logical_xor),
        "LogicalNot": _NOT,
        "SelectV2": _SELECT,
        "Select": _SELECT,
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    *(OnnxKernel(name, _comparison(ufunc)) for name, ufunc in _COMPARISONS.items()),
    OnnxKernel("GreaterOrEqual", _comparison(np.greater_equal)),
    OnnxKernel("LessOrEqual", _comparison(np.less_equal)),
    OnnxKernel("And", _comparison(np.logical_and)),
    OnnxKernel("Or", _comparison(np.logical_or)),
    OnnxKernel("Xor", _comparison(np.logical_xor)),
    OnnxKernel("Not", _NOT),
    OnnxKernel("Where", _SELECT),
    OnnxKernel("BitwiseNot", Kernel(_bitwise_not)),
    OnnxKernel("IsNaN", Kernel(_is_nan)),
    OnnxKernel("IsInf", Kernel(_is_inf)),
)
