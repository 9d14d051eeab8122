"""Which operator types the host CPU has kernels for, and for which element types.

In GE this is the list that the host's operator library registers, which is no part of the sources
(spec/host_execution.md section 12). So the table is ours: first the users that the sources name, then the operators
from which models build shapes, as far as `ge_dialect.kernels` can compute them.
"""

from __future__ import annotations

from types import MappingProxyType

INTEGERS = frozenset({"INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"})
FLOATS = frozenset({"FLOAT16", "BF16", "FLOAT", "DOUBLE"})
NUMBERS = INTEGERS | FLOATS
NUMBERS_AND_BOOL = NUMBERS | {"BOOL"}

NAMED_BY_THE_SOURCES = tuple(
    "Gather GatherV2 Pack Concat ConcatD ConcatV2 ConcatV2D Split SplitD SplitV SplitVD Mul MapIndex".split()
)
"""Gather, Pack, Concat, Split, Mul and MapIndex in their spellings (spec/engines.md section 6)."""

_ARITHMETIC = tuple(
    """Add AddV2 AddN Sub Div RealDiv FloorDiv FloorMod Mod Neg Abs Sign Square Sqrt Pow Ceil Floor Round Maximum Minimum
    Max Min Sum CumSum ReduceProd ReduceProdD ReduceSum ReduceSumD ReduceMax ReduceMaxD ReduceMin ReduceMinD Range""".split()
)
_ANY_NUMBER = tuple(
    """Cast Clip Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalNot LogicalXor Select SelectV2
    StridedSliceV2 Slice Expand BroadcastTo Tile Fill ConstantOfShape OnesLike ZerosLike Unpack Transpose TransposeD
    GatherElements GatherND ScatterND ScatterElements OneHot""".split()
)

HOST_KERNELS: MappingProxyType[str, frozenset[str]] = MappingProxyType(
    {
        **dict.fromkeys(NAMED_BY_THE_SOURCES, NUMBERS_AND_BOOL),
        **dict.fromkeys(_ARITHMETIC, NUMBERS),
        **dict.fromkeys(_ANY_NUMBER, NUMBERS_AND_BOOL),
    }
)
"""Operator type -> the element types that all its inputs and outputs may have."""
