"""How much arithmetic each operator does, and which bytes it touches: the one table behind the roofline of profiles.

Numbers are operations of the unit that runs them, counted by the convention of this table: one for an addition,
comparison, conversion or selection, four for a division or root, eight for a function that is computed by a series.
They are conventions, not measurements. Types are GE's, or ONNX's for operators without a twin in GE.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ROOTS = 4
_SERIES = 8

PER_OUTPUT_ELEMENT: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(
            """Add Sub Mul Maximum Minimum Max Min Equal Greater Less GreaterEqual LessEqual LogicalAnd LogicalOr
            LogicalNot LogicalXor SelectV2 Select Cast Abs Neg Sign Relu LeakyRelu PRelu Clip Ceil Floor Round
            BitwiseAnd BitwiseOr BitwiseXor BitwiseNot Trilu CumSum BiasAdd Sum""".split(),
            1,
        ),
        **dict.fromkeys("Div Mod Sqrt Rsqrt Reciprocal Mean HardSigmoid HardSwish".split(), _ROOTS),
        **dict.fromkeys(
            """Exp Log Pow Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf Sigmoid Softplus Softsign
            Elu Selu Celu Gelu Mish ThresholdedRelu RandomNormal RandomNormalLike RandomUniform RandomUniformLike
            Bernoulli Multinomial""".split(),
            _SERIES,
        ),
        **dict.fromkeys("DequantizeLinear QuantizeLinear Resize Upsample GridSample".split(), _ROOTS),
    }
)  # fmt: skip
"""Vector operations for one element of output 0; a type in no table of this module counts one."""

PER_INPUT_ELEMENT: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(
            [
                *(
                    f"Reduce{kind}{suffix}"
                    for kind in ("Sum", "Mean", "Max", "Min", "Prod", "Any", "All")
                    for suffix in ("", "D")
                ),
                *"ReduceL1 ReduceL2 ReduceSumSquare ArgMax ArgMin GlobalAveragePool GlobalMaxPool".split(),
            ],
            1,
        ),
        **dict.fromkeys("ReduceLogSum ReduceLogSumExp TopK Unique NonZero".split(), _SERIES),
        # Largest element, difference, exponential, sum, division.
        **dict.fromkeys(
            "SoftmaxV2 Softmax LogSoftmaxV2 LogSoftmax Hardmax".split(), 3 + _SERIES + _ROOTS
        ),
        # Two means, difference, square, root, scale and shift.
        **dict.fromkeys(
            """LayerNormalization LayerNorm GroupNormalization InstanceNormalization BatchNormalization
            RMSNormalization MeanVarianceNormalization LpNormalization""".split(),
            4 + _ROOTS,
        ),
    }
)  # fmt: skip
"""Vector operations for one element of input 0."""

WINDOWED = frozenset({"MaxPool", "AveragePool", "LpPool"})
"""Vector operations: the window's size (attribute `kernel_shape`) for one element of output 0."""

PRODUCTS = frozenset(
    "BatchMatMulV2 BatchMatMul MatMul MatMulV2 Gemm MatMulInteger QLinearMatMul".split()
)
"""Matrix operations: twice the summed dimension for one element of output 0."""

CONVOLUTIONS = frozenset(
    "Conv2D Conv Conv3D DepthwiseConv2D ConvInteger QLinearConv DeformConv".split()
)
"""Matrix operations: twice the elements of one filter for one element of output 0."""

TRANSPOSED_CONVOLUTIONS = frozenset({"ConvTranspose", "Conv2DTranspose"})
"""Matrix operations: twice the elements of one filter for one element of input 0."""

RECURRENT = frozenset({"LSTM", "GRU", "RNN"})
"""Matrix operations: twice the elements of the weights W and R for each step and entry of the batch."""

MOVES_ONLY = frozenset(
    """Identity Transpose TransposeD TransData Concat ConcatD ConcatV2 ConcatV2D Pack Split SplitD SplitV SplitVD Pad
    Expand BroadcastTo Tile ConstantOfShape Fill Range Reverse ReverseSequence DepthToSpace SpaceToDepth OneHot
    ScatterND ScatterElements Scatter EyeLike Unpack MemcpyAsync""".split()
)
"""No arithmetic: all inputs are read, all outputs are written."""

READS_WHAT_IT_WRITES = frozenset(
    """GatherV2 Gather GatherD GatherElements GatherND StridedSlice StridedSliceV2 StridedSliceD Slice SliceD
    Compress""".split()
)
"""No arithmetic: of input 0 as many bytes are read as are written, of the others all."""

SHAPE_ONLY = frozenset("Shape ShapeN Size Rank GatherShapes".split())
"""No arithmetic: only the result is written; the input's bytes are not looked at."""

TOUCHES_NOTHING = frozenset(
    """Reshape Bitcast ExpandDims Squeeze SqueezeV2 SqueezeV3 Unsqueeze UnsqueezeV2 UnsqueezeV3 Flatten FlattenV2
    ReFormat""".split()
)
"""Views: no arithmetic and no bytes."""
