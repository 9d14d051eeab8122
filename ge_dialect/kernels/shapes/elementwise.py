"""Operators whose result has the shape of an input or the broadcast shape of several."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.kernels.shapes.broadcast import broadcast_infos
from ge_dialect.kernels.shapes.info import (
    ANY_TYPE,
    BOOL,
    Inputs,
    OnnxShape,
    Outputs,
    ShapeError,
    ShapeFunction,
    TensorInfo,
    Values,
    dtype_text,
)
from ge_dialect.kernels.shapes.readers import (
    common_dtype,
    ge_dtype_attr,
    onnx_dtype_attr,
    optional_input,
    tensor_input,
    tensor_inputs,
)
from ge_dialect.kernels.spec import OpSpec


def same(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Shape and element type of input 0."""
    return [tensor_input(spec, inputs, 0)]


def passed_on(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Output k is input k, tensor or not."""
    return list(inputs)


def same_bool(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Shape of input 0, truth values."""
    return [TensorInfo(BOOL, tensor_input(spec, inputs, 0).shape)]


def arithmetic(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Two tensors of one element type, broadcast."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    if a.shape is not None and a.shape == b.shape and a.dtype is b.dtype:
        return [a]
    return [TensorInfo(common_dtype(spec, (a, b)), broadcast_infos(spec, (a, b)))]


def comparison(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Two tensors of one element type, broadcast to truth values."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    common_dtype(spec, (a, b))
    return [TensorInfo(BOOL, broadcast_infos(spec, (a, b)))]


def logical(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Truth values, broadcast."""
    infos = tensor_inputs(spec, inputs)
    for index, info in enumerate(infos):
        _expect_bool(spec, index, info)
    return [TensorInfo(BOOL, broadcast_infos(spec, infos))]


def first_dtype(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Broadcast, with the element type of input 0 (Pow: that of the base; BitShift)."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    return [TensorInfo(a.dtype, broadcast_infos(spec, (a, b)))]


def onto_first(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Input 1 must have the element type of input 0 and is broadcast to it (PRelu)."""
    a, b = tensor_input(spec, inputs, 0), tensor_input(spec, inputs, 1)
    common_dtype(spec, (a, b))
    return [a]


def variadic(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Any number of tensors of one element type, broadcast (Max, Min, Sum, Mean, AddN)."""
    infos = tensor_inputs(spec, inputs)
    return [TensorInfo(common_dtype(spec, infos), broadcast_infos(spec, infos))]


def select(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(condition, then, else), all three broadcast."""
    condition, then, other = (tensor_input(spec, inputs, index) for index in range(3))
    _expect_bool(spec, 0, condition)
    return [
        TensorInfo(
            common_dtype(spec, (then, other)), broadcast_infos(spec, (condition, then, other))
        )
    ]


def clip(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(x, min, max): bounds are scalars of x's element type and may be absent."""
    x = tensor_input(spec, inputs, 0)
    bounds = [optional_input(spec, inputs, index) for index in (1, 2)]
    common_dtype(spec, [x, *(bound for bound in bounds if bound is not None)])
    return [x]


def cast_ge(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Element type by `dst_type`."""
    return [TensorInfo(ge_dtype_attr(spec, "dst_type"), tensor_input(spec, inputs, 0).shape)]


def cast_onnx(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Element type by `to`."""
    return [TensorInfo(onnx_dtype_attr(spec, "to"), tensor_input(spec, inputs, 0).shape)]


def cast_like(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """Element type of input 1."""
    return [TensorInfo(tensor_input(spec, inputs, 1).dtype, tensor_input(spec, inputs, 0).shape)]


def dropout(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(output, mask); the mask holds truth values since version 10, before it has the data's element type."""
    x = tensor_input(spec, inputs, 0)
    return [x, TensorInfo(BOOL if spec.version >= 10 else x.dtype, x.shape)]


def assign(spec: OpSpec, inputs: Inputs, values: Values) -> Outputs:
    """(ref, value) -> ref: the variable keeps its shape and element type."""
    ref = tensor_input(spec, inputs, 0)
    if optional_input(spec, inputs, 1) is not None:
        common_dtype(spec, (ref, tensor_input(spec, inputs, 1)))
    return [ref]


def _expect_bool(spec: OpSpec, index: int, info: TensorInfo) -> None:
    if info.dtype is not BOOL and info.dtype not in (BOOL, ANY_TYPE):
        raise ShapeError(
            f"{spec.type} input {index} has element type {dtype_text(info.dtype)}, expected i1"
        )


_SAME = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Sigmoid Sign Sin Sinh Sqrt Tan Tanh Relu"
    " Softplus Softsign Reciprocal Round LeakyRelu Elu"
).split()
"""Unary operators with one name and one meaning in GE and in ONNX."""

_SAME_GE = (
    "Relu6 Selu Celu CeluV2 Gelu GeluV2 FastGelu FastGeluV2 QuickGelu HardSwish HardSigmoid Swish Mish Square Rsqrt Inv"
    " Expm1 Log1p Rint Erfc Adds Muls ZerosLike OnesLike SoftmaxV2 LogSoftmaxV2 BitwiseNot Cumsum CumsumD Reverse"
    " ReverseV2D LRN L2Normalize MemcpyAsync MemcpyAddrAsync TensorMove ReadVariableOp"
    " StopGradient PreventGradient Snapshot Triu Tril DropOutDoMask"
).split()

_SAME_ONNX = (
    "Selu Celu Gelu HardSwish HardSigmoid Swish Mish Shrink ThresholdedRelu Softmax LogSoftmax Hardmax CumSum CumProd"
    " BitwiseNot Trilu LRN LpNormalization MeanVarianceNormalization InstanceNormalization GroupNormalization"
    " RMSNormalization ReverseSequence"
).split()

_ARITHMETIC = "Add Sub Mul Div".split()
_ARITHMETIC_GE = (
    "Maximum Minimum RealDiv FloorDiv TruncateDiv Mod FloorMod TruncateMod SquaredDifference DivNoNan BitwiseAnd"
    " BitwiseOr BitwiseXor Xlogy Xdivy Atan2 AddV2 MulNoNan"
).split()
_ARITHMETIC_ONNX = "Mod BitwiseAnd BitwiseOr BitwiseXor".split()
_COMPARISON_GE = "Equal NotEqual Greater Less GreaterEqual LessEqual".split()
_COMPARISON_ONNX = "Equal Greater Less GreaterOrEqual LessOrEqual".split()

GE_SHAPES: Mapping[str, ShapeFunction] = MappingProxyType(
    {
        **dict.fromkeys([*_SAME, *_SAME_GE], same),
        **dict.fromkeys([*_ARITHMETIC, *_ARITHMETIC_GE], arithmetic),
        **dict.fromkeys(_COMPARISON_GE, comparison),
        **dict.fromkeys(("LogicalAnd", "LogicalOr", "LogicalXor", "LogicalNot"), logical),
        **dict.fromkeys(("IsNan", "IsInf", "IsFinite"), same_bool),
        **dict.fromkeys(("Identity", "IdentityN", "ReFormat"), passed_on),
        **dict.fromkeys(("Assign", "AssignAdd", "AssignSub"), assign),
        "Pow": first_dtype,
        "PRelu": onto_first,
        "BiasAdd": onto_first,
        "AddN": variadic,
        "SelectV2": select,
        "Cast": cast_ge,
        "ClipByValue": clip,
    }
)

ONNX_SHAPES: tuple[OnnxShape, ...] = (
    *(OnnxShape(op, same) for op in (*_SAME, *_SAME_ONNX)),
    *(OnnxShape(op, arithmetic, since=7) for op in (*_ARITHMETIC, *_ARITHMETIC_ONNX)),
    *(OnnxShape(op, comparison, since=7) for op in _COMPARISON_ONNX),
    *(OnnxShape(op, logical, since=7) for op in ("And", "Or", "Xor")),
    OnnxShape("Not", logical),
    *(OnnxShape(op, variadic, since=8) for op in ("Max", "Min", "Sum", "Mean")),
    *(OnnxShape(op, same_bool) for op in ("IsNaN", "IsInf")),
    OnnxShape("Identity", passed_on),
    OnnxShape("Pow", first_dtype, since=7),
    OnnxShape("BitShift", first_dtype),
    OnnxShape("PRelu", onto_first, since=7),
    OnnxShape("Where", select),
    OnnxShape("Clip", clip),
    OnnxShape("Cast", cast_onnx, since=6),
    OnnxShape("CastLike", cast_like),
    OnnxShape("Dropout", dropout, since=7),
    OnnxShape("StringConcat", arithmetic),
)
