"""What onnx's classes take for granted of their inputs: brought into that form, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.spec import OpSpec, Value, is_array, tensor

_LIMITS: Mapping[int, np.ndarray] = MappingProxyType(
    {
        2: np.zeros(1, np.int64),
        3: np.zeros(1, np.float32),
        4: np.full(1, -np.inf, np.float32),
    }
)
"""The limits of a NonMaxSuppression that does not give them, by input."""


def _boxes_and_limits(spec: OpSpec, inputs: Sequence[Value]) -> Sequence[Value]:
    """NonMaxSuppression: onnx's class takes element 0 of limits, which ONNX and onnxruntime let be scalars, and
    expects that a negative number of boxes does not happen; to onnxruntime it is none. It also expects all limits to be
    there; ONNX's own values are no boxes, any overlap, any score."""
    prepared = [
        value.reshape(1) if place >= 2 and is_array(value) and value.ndim == 0 else value
        for place, value in enumerate(inputs)
    ]
    prepared += [None] * (5 - len(prepared))
    for place, default in _LIMITS.items():
        if prepared[place] is None:
            prepared[place] = default
    if is_array(prepared[2]):
        prepared[2] = np.maximum(prepared[2], 0)
    return prepared


def _whole_splits(spec: OpSpec, inputs: Sequence[Value]) -> Sequence[Value]:
    """SplitToSequence: onnx's class cuts what the lengths say, whether or not they make up the axis."""
    if len(inputs) < 2 or inputs[1] is None:
        return inputs
    x, split = tensor(spec, inputs, 0), tensor(spec, inputs, 1)
    axis = spec.int("axis", 0)
    if not -x.ndim <= axis < x.ndim:
        raise KernelInputError(f"{spec.type}: axis {axis} of a tensor of rank {x.ndim}")
    lengths = [int(n) for n in split.reshape(-1)]
    if split.ndim == 0:
        if lengths[0] <= 0:
            raise KernelInputError(f"{spec.type}: pieces of {lengths[0]} elements")
    elif min(lengths, default=0) < 0 or sum(lengths) != x.shape[axis]:
        raise KernelInputError(
            f"{spec.type}: lengths {lengths} are no division of the {x.shape[axis]} elements of axis {axis}"
        )
    return inputs


PREPARE: Mapping[str, Callable[[OpSpec, Sequence[Value]], Sequence[Value]]] = MappingProxyType(
    {"NonMaxSuppression": _boxes_and_limits, "SplitToSequence": _whole_splits}
)
"""By operator of ONNX's own domain. Each raises KernelInputError."""
