"""TransData: the same tensor in another format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ge_dialect.formats.format_table import LETTERS, primary
from ge_dialect.formats.transform import Layout, transform
from ge_dialect.kernels.errors import KernelInputError, KernelShapeError
from ge_dialect.kernels.kernel import Kernel, OnnxKernel, Thunk, check_output, single_output
from ge_dialect.kernels.spec import Array, OpSpec, Value, tensor


def _origin(layout: Layout | None, stated: str) -> str:
    return primary(stated if layout is None else layout.origin_format)


def _moved(spec: OpSpec, inputs: Sequence[Value], target_shape: Sequence[int] | None) -> Array:
    """The result. Where types say how the tensors lie, input and result are in origin format (`relaid`) and differ at
    most in the order of the axes; else `src_format` and `dst_format` are all that is known."""
    array = tensor(spec, inputs, 0)
    source, target = spec.string("src_format", "ND"), spec.string("dst_format", "ND")
    if spec.layouts is None:
        shape = target_shape if primary(target) in (*LETTERS, "ND") else None
        return transform(array, source, target, origin_shape=shape)
    before = _origin(spec.layouts.inputs[0], source)
    after = _origin(spec.layouts.outputs[0], target)
    if before == after or before not in LETTERS or after not in LETTERS:
        return array
    if set(LETTERS[before]) != set(LETTERS[after]) or array.ndim != len(LETTERS[before]):
        raise KernelInputError(f"TransData: no way from origin {before} to origin {after}")
    return array.transpose([LETTERS[before].index(letter) for letter in LETTERS[after]])


def _evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    return [np.array(_moved(spec, inputs, None))]


def _bind(spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]) -> Thunk:
    out = single_output(spec, outputs)

    def run() -> None:
        result = _moved(spec, inputs, out.shape)
        if result.size != out.size:
            raise KernelShapeError(
                f"TransData: the result has {result.size} elements, its memory {out.size}"
            )
        check_output(spec, 0, result.dtype, result.shape, out)
        np.copyto(out, result)

    return run


GE_KERNELS: Mapping[str, Kernel] = MappingProxyType({"TransData": Kernel(_evaluate, _bind)})
ONNX_KERNELS: tuple[OnnxKernel, ...] = ()
