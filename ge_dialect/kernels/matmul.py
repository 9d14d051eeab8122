"""Matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from ge_dialect.kernels.binary import same_types
from ge_dialect.kernels.errors import KernelInputError
from ge_dialect.kernels.kernel import (
    Bind,
    Evaluate,
    Kernel,
    OnnxKernel,
    Thunk,
    check_output,
    single_output,
)
from ge_dialect.kernels.precision import NATIVE_FLOATS, is_narrow, widened
from ge_dialect.kernels.spec import Array, OpSpec, Value, maybe_tensor, tensor


def product_shape(spec: OpSpec, a: Array, b: Array) -> tuple[int, ...]:
    """The shape of numpy.matmul(a, b). Raises KernelInputError."""
    rows = a.shape[-2:-1] if a.ndim > 1 else ()
    columns = b.shape[-1:] if b.ndim > 1 else ()
    inner = b.shape[-2] if b.ndim > 1 else b.shape[-1] if b.ndim else None
    if not a.ndim or a.shape[-1] != inner:
        raise KernelInputError(f"{spec.type}: cannot multiply {list(a.shape)} by {list(b.shape)}")
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise KernelInputError(
            f"{spec.type}: the batches of {list(a.shape)} and {list(b.shape)} do not fit together"
        ) from None
    return (*batch, *rows, *columns)


def matmul_into(a: Array, b: Array, out: Array) -> Thunk:
    """Bound numpy.matmul; a batch of rows times one matrix becomes one product."""
    if (
        b.ndim == 2
        and a.ndim > 2
        and a.flags.c_contiguous
        and out.flags.c_contiguous
        and a.dtype in NATIVE_FLOATS
        and a.size
    ):
        return partial(np.matmul, a.reshape(-1, a.shape[-1]), b, out.reshape(-1, out.shape[-1]))
    return partial(np.matmul, a, b, out)


def _bind_product(spec: OpSpec, a: Array, b: Array, bias: Array | None, out: Array) -> Thunk | None:
    same_types(spec, (a, b))
    check_output(spec, 0, a.dtype, product_shape(spec, a, b), out)
    if is_narrow(a.dtype):
        return _bind_narrow(a, b, bias, out)
    if a.dtype not in NATIVE_FLOATS:
        return None
    product = matmul_into(a, b, out)
    if bias is None:
        return product

    def run() -> None:
        product()
        np.add(out, bias, out)

    return run


def _bind_narrow(a: Array, b: Array, bias: Array | None, out: Array) -> Thunk:
    """Widen both factors, multiply in float32, round once."""
    wide_a, wide_b = np.empty(a.shape, np.float32), np.empty(b.shape, np.float32)
    wide_out = np.empty(out.shape, np.float32)
    product = matmul_into(wide_a, wide_b, wide_out)

    def run() -> None:
        np.copyto(wide_a, a, casting="unsafe")
        np.copyto(wide_b, b, casting="unsafe")
        product()
        if bias is not None:
            np.add(wide_out, bias.astype(np.float32), wide_out)
        np.copyto(out, wide_out, casting="unsafe")

    return run


def _turn(array: Array, turned: bool) -> Array:
    return np.swapaxes(array, -1, -2) if turned and array.ndim > 1 else array


def product_kernel(first: str, second: str) -> Kernel:
    """matmul(x1, x2) [+ bias] with flags `first`, `second` that say: this factor is transposed."""

    def factors(spec: OpSpec, inputs: Sequence[Value]) -> tuple[Array, Array]:
        return (
            _turn(tensor(spec, inputs, 0), spec.flag(first)),
            _turn(tensor(spec, inputs, 1), spec.flag(second)),
        )

    def evaluate(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
        a, b = factors(spec, inputs)
        same_types(spec, (a, b))
        product_shape(spec, a, b)
        bias = maybe_tensor(inputs, 2)
        result = np.asarray(np.matmul(a, b))
        return [result if bias is None else np.asarray(result + bias)]

    def bind(
        spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
    ) -> Thunk | None:
        a, b = factors(spec, inputs)
        return _bind_product(spec, a, b, maybe_tensor(inputs, 2), single_output(spec, outputs))

    return Kernel(widened(evaluate), bind)


def _gemm_operands(spec: OpSpec, inputs: Sequence[Value]) -> tuple[Array, Array, Array | None]:
    a = _turn(tensor(spec, inputs, 0), spec.flag("transA"))
    b = _turn(tensor(spec, inputs, 1), spec.flag("transB"))
    if a.ndim != 2 or b.ndim != 2:
        raise KernelInputError(f"Gemm: inputs of rank {a.ndim} and {b.ndim}, not 2")
    return a, b, maybe_tensor(inputs, 2)


def _gemm(spec: OpSpec, inputs: Sequence[Value]) -> list[Value]:
    """alpha * A * B + beta * C."""
    a, b, c = _gemm_operands(spec, inputs)
    same_types(spec, (a, b))
    product_shape(spec, a, b)
    alpha, beta = spec.float("alpha", 1.0), spec.float("beta", 1.0)
    result = np.matmul(a, b)
    if alpha != 1.0:
        result = (result * alpha).astype(a.dtype, copy=False)
    if c is not None and beta != 0.0:
        result = result + (c if beta == 1.0 else (c * beta).astype(a.dtype, copy=False))
    return [np.asarray(result)]


def _bind_gemm(
    spec: OpSpec, inputs: Sequence[Array | None], outputs: Sequence[Array | None]
) -> Thunk | None:
    a, b, c = _gemm_operands(spec, inputs)
    out = single_output(spec, outputs)
    alpha, beta = spec.float("alpha", 1.0), spec.float("beta", 1.0)
    bias = None if beta == 0.0 else c
    if alpha == 1.0 and (beta == 1.0 or bias is None):
        return _bind_product(spec, a, b, bias, out)
    check_output(spec, 0, a.dtype, product_shape(spec, a, b), out)
    if a.dtype not in NATIVE_FLOATS:
        return None
    kind = a.dtype.type

    def run() -> None:
        np.matmul(a, b, out)
        np.multiply(out, kind(alpha), out)
        if bias is not None:
            np.add(out, bias * kind(beta), out)

    return run


_GEMM_EVALUATE: Evaluate = widened(_gemm)
_GEMM_BIND: Bind = _bind_gemm

GE_KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "BatchMatMul": product_kernel("adj_x1", "adj_x2"),
        "BatchMatMulV2": product_kernel("adj_x1", "adj_x2"),
        "MatMul": product_kernel("transpose_x1", "transpose_x2"),
        "MatMulV2": product_kernel("transpose_x1", "transpose_x2"),
    }
)

ONNX_KERNELS: tuple[OnnxKernel, ...] = (
    OnnxKernel("MatMul", product_kernel("", "")),
    OnnxKernel("Gemm", Kernel(_GEMM_EVALUATE, _GEMM_BIND)),
)
