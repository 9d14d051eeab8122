"""Matrix products."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.formats.dtypes import DType
from ge_dialect.kernels.shapes.broadcast import broadcast_dim, broadcast_pair
from ge_dialect.kernels.shapes.info import (
    INT8,
    INT32,
    UNKNOWN,
    Inputs,
    OnnxShape,
    Outputs,
    Shape,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
    shape_text,
)
from ge_dialect.kernels.shapes.readers import (
    common_dtype,
    optional_input,
    rank_of,
    same_dim,
    tensor_input,
)
from ge_dialect.kernels.spec import OpSpec


def product_shape(
    spec: OpSpec, a: Shape | None, b: Shape | None, flip_a: bool = False, flip_b: bool = False
) -> Shape | None:
    """The shape of numpy.matmul(a, b); `flip_*` swaps the last two dimensions of an operand of rank 2 or more.

    A 1-D operand is a row (a) or a column (b) whose own dimension is dropped from the result.
    """
    if a is None or b is None:
        return None
    rank_a, rank_b = rank_of(spec, 0, a, 1), rank_of(spec, 1, b, 1)
    if flip_a and rank_a > 1:
        a = (*a[:-2], a[-1], a[-2])
    if flip_b and rank_b > 1:
        b = (*b[:-2], b[-1], b[-2])
    inner_a, inner_b = a[-1], b[0] if rank_b == 1 else b[-2]
    if inner_a != inner_b and inner_a >= 0 and inner_b >= 0:
        raise ShapeError(f"{spec.type} inner dimensions {inner_a} and {inner_b} differ")
    batch = broadcast_pair(a[:-2], b[:-2])
    if batch is None:
        raise ShapeError(
            f"{spec.type} batch dimensions {shape_text(a[:-2])} and {shape_text(b[:-2])} do not broadcast"
        )
    return (*batch, *(a[-2:-1] if rank_a > 1 else ()), *(b[-1:] if rank_b > 1 else ()))


def _accumulated(dtype: DType) -> DType:
    """GE's products of int8 give int32."""
    return INT32 if dtype is INT8 or dtype == INT8 else dtype


def batch_matmul(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x1, x2, ...){adj_x1, adj_x2}: numpy.matmul with transposed operands."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    attrs = spec.attrs
    shape = product_shape(
        spec, a.shape, b.shape, bool(attrs.get("adj_x1", False)), bool(attrs.get("adj_x2", False))
    )
    return [TensorInfo(_accumulated(common_dtype(spec, (a, b))), shape)]


def matmul_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """GE's two-dimensional product with transpose_x1, transpose_x2."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    flips = [bool(spec.attrs.get(name, False)) for name in ("transpose_x1", "transpose_x2")]
    shape = product_shape(spec, a.shape, b.shape, *flips)
    return [TensorInfo(_accumulated(common_dtype(spec, (a, b))), shape)]


def matmul_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """numpy.matmul."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    return [TensorInfo(common_dtype(spec, (a, b)), product_shape(spec, a.shape, b.shape))]


def matmul_integer(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """numpy.matmul of 8-bit integers of any sign, as int32."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    return [TensorInfo(INT32, product_shape(spec, a.shape, b.shape))]


def qlinear_matmul(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero): the element type is that of y_zero."""
    a, b, zero = (tensor_input(spec, inputs, index) for index in (0, 3, 7))
    return [TensorInfo(zero.dtype, product_shape(spec, a.shape, b.shape))]


def gemm(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(a, b, c): two-dimensional product with transA, transB; c is broadcast onto it."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    c = optional_input(spec, inputs, 2)
    dtype = common_dtype(spec, (a, b) if c is None else (a, b, c))
    rows, inner_a = _matrix(spec, 0, a.shape, bool(spec.attrs.get("transA", 0)))
    inner_b, columns = _matrix(spec, 1, b.shape, bool(spec.attrs.get("transB", 0)))
    if same_dim(inner_a, inner_b) is None:
        raise ShapeError(f"{spec.type} inner dimensions {inner_a} and {inner_b} differ")
    shape = (rows, columns)
    if c is not None and c.shape is not None:
        _expect_onto(spec, c.shape, shape)
    return [TensorInfo(dtype, shape)]


def _matrix(spec: OpSpec, index: int, shape: Shape | None, flip: bool) -> Shape:
    if shape is None:
        return (UNKNOWN, UNKNOWN)
    rank_of(spec, index, shape, 2, 2)
    return shape[::-1] if flip else shape


def _expect_onto(spec: OpSpec, bias: Shape, shape: Shape) -> None:
    fits = len(bias) <= len(shape) and all(
        broadcast_dim(x, y) is not None and (y != 1 or x in (1, UNKNOWN))
        for x, y in zip(reversed(bias), reversed(shape), strict=False)
    )
    if not fits:
        raise ShapeError(
            f"{spec.type} input 2 has shape {shape_text(bias)}, which does not broadcast to {shape_text(shape)}"
        )


GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        **dict.fromkeys(("BatchMatMulV2", "BatchMatMul"), batch_matmul),
        **dict.fromkeys(("MatMul", "MatMulV2"), matmul_ge),
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("MatMul", matmul_onnx),
    OnnxShape("MatMulInteger", matmul_integer),
    OnnxShape("QLinearMatMul", qlinear_matmul),
    OnnxShape("Gemm", gemm, since=7),
)
