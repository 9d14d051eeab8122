"""Operators that may write their output over an input: the table, and nothing else.

A row promises that `bind` gives the same bits when output 0 is exactly the memory of one of the listed inputs, of the
same number of elements and bytes, as when it has memory of its own. A test runs every row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ANY: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7)
"""Every input (of the first eight) may be written over."""
FIRST = (0,)

_UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor LeakyRelu Log Neg Reciprocal Relu Round
    Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh Swish Gelu Cast""".split()
_BINARY = "Add Sub Mul Div Pow Mod Equal Greater Less".split()

GE_IN_PLACE: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        **dict.fromkeys(_UNARY, FIRST),
        **dict.fromkeys("Relu6 Square Rsqrt Adds Muls LogicalNot".split(), FIRST),
        **dict.fromkeys("Clip ClipByValue PRelu SoftmaxV2 BiasAdd ScatterUpdate".split(), FIRST),
        **dict.fromkeys(_BINARY, ANY),
        **dict.fromkeys(
            """AddV2 AddN RealDiv Maximum Minimum SquaredDifference FloorDiv FloorMod GreaterEqual LessEqual NotEqual
            LogicalAnd LogicalOr LogicalXor SelectV2 Select""".split(),
            ANY,
        ),
    }
)
"""By GE's type: the inputs that output 0 may lie on. Of the others, Clip's limits for one, all elements are needed to
the end."""

ONNX_IN_PLACE: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        **dict.fromkeys(_UNARY, FIRST),
        **dict.fromkeys("Celu Selu HardSigmoid HardSwish Mish ThresholdedRelu Shrink Not".split(), FIRST),
        **dict.fromkeys("Clip PRelu BatchNormalization Softmax BitwiseNot".split(), FIRST),
        **dict.fromkeys(_BINARY, ANY),
        **dict.fromkeys(
            """Max Min Sum Mean GreaterOrEqual LessOrEqual And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift
            Where""".split(),
            ANY,
        ),
    }
)  # fmt: skip
"""The same for operators that came from ONNX unchanged, by their name in the domain ai.onnx."""

_NONE: tuple[int, ...] = ()


def in_place_inputs(type_: str, domain: str | None = None) -> tuple[int, ...]:
    """The inputs that output 0 of an operator may be written over; `domain` is that of an operator from ONNX."""
    if domain is None:
        return GE_IN_PLACE.get(type_, _NONE)
    return ONNX_IN_PLACE.get(type_, _NONE) if domain in ("", "ai.onnx") else _NONE
