"""Writing slices of a tensor in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor


def _write(spec: OpSpec, out: Array, indices: Array, updates: Array) -> None:
    """Slices `indices` of `out` along axis 0 become `updates`, the last of equal indices wins."""
    wanted = (*indices.shape, *out.shape[1:])
    if updates.shape != wanted:
        raise KernelInputError(
            f"{spec.type}: updates {list(updates.shape)} for {list(wanted)} of {list(out.shape)}"
        )
    if indices.ndim == 0:
        index = int(indices)
        if not 0 <= index < out.shape[0]:
            raise KernelInputError(f"{spec.type}: slice {index} of {out.shape[0]}")
        out[index] = updates
        return
    if indices.size and not 0 <= indices.min() <= indices.max() < out.shape[0]:
        raise KernelInputError(f"{spec.type}: an index is outside the {out.shape[0]} slices")
    out[indices] = updates


def _scatter_update(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    var, indices, updates = (tensor(spec, inputs, index) for index in range(3))
    out = var.copy()
    _write(spec, out, indices, updates)
    return [out]


def _build_scatter_update(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk:
    var, indices, updates = (tensor(spec, inputs, index) for index in range(3))
    out = single_output(spec, outputs)
    check_output(spec, 0, var.dtype, var.shape, out)
    in_place = np.may_share_memory(var, out)

    def run() -> None:
        if not in_place:
            np.copyto(out, var)
        _write(spec, out, indices, updates)

    return run


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {"ScatterUpdate": Kernel(_scatter_update, _build_scatter_update)}
)
"""ScatterUpdate(var, indices, updates): `var` with slices along axis 0 replaced; the output may be `var` itself."""

ONNX_KERNELS: tuple[OnnxKernel, ...] = ()
