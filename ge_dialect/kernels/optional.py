"""Optionals: a value or None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel
from ge_dialect.kernels.spec import OpSpec, Value


def _optional(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """The input, a tensor or a sequence; without one, nothing."""
    return [inputs[0] if inputs else None]


def _get_element(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """What is in the optional. Raises KernelInputError when nothing is."""
    if inputs[0] is None:
        raise KernelInputError("OptionalGetElement: the optional is empty")
    return [inputs[0]]


def _has_element(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """Whether anything is in the optional; no input counts as an empty one."""
    return [np.array(bool(inputs) and inputs[0] is not None)]


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({})

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("Optional", Kernel(_optional)),
    OnnxKernel("OptionalGetElement", Kernel(_get_element)),
    OnnxKernel("OptionalHasElement", Kernel(_has_element)),
)
