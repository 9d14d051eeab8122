"""From real numbers to small integers and back."""

from __future__ import annotations

from types import MappingProxyType

from ge_dialect.kernels.shapes.info import (
    FLOAT,
    UINT8,
    Inputs,
    OnnxShape,
    Outputs,
    ShapeFunction,
    TensorInfo,
    Values,
)
from ge_dialect.kernels.shapes.readers import onnx_dtype_attr, optional_input, tensor_input
from ge_dialect.kernels.spec import OpSpec


def quantize(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, scale, zero): the element type of `zero`, else `output_dtype`, else uint8."""
    x, zero = tensor_input(spec, inputs, 0), optional_input(spec, inputs, 2)
    if zero is not None:
        return [TensorInfo(zero.dtype, x.shape)]
    named = spec.attrs.get("output_dtype")
    return [TensorInfo(onnx_dtype_attr(spec, "output_dtype") if named else UINT8, x.shape)]


def dequantize(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, scale, zero): the element type of the scale, unless `output_dtype` is given."""
    x, scale = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    named = spec.attrs.get("output_dtype")
    return [TensorInfo(onnx_dtype_attr(spec, "output_dtype") if named else scale.dtype, x.shape)]


def dynamic_quantize(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(y, scale, zero) as uint8, float32, uint8."""
    x = tensor_input(spec, inputs, 0)
    return [TensorInfo(UINT8, x.shape), TensorInfo(FLOAT, ()), TensorInfo(UINT8, ())]


GE_SHAPES: MappingProxyType[str, ShapeFunction] = MappingProxyType({})

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    OnnxShape("QuantizeLinear", quantize),
    OnnxShape("DequantizeLinear", dequantize),
    OnnxShape("DynamicQuantizeLinear", dynamic_quantize),
)
