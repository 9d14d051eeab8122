"""What a shape function needs to know beyond shapes, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ge_dialect.kernels.spec import OpSpec

CONTROL_FLOW_GE = frozenset(
    "If StatelessIf While StatelessWhile Case StatelessCase For PartitionedCall StatefulPartitionedCall".split()
)
"""GE's operators whose outputs are those of the graphs that they own."""

CONTROL_FLOW_ONNX = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""ONNX's operators whose outputs are those of the graphs that they own."""

_DATA_DEPENDENT_GE = frozenset(
    "Where NonZero Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 UniqueWithCountsExt2 NonMaxSuppression"
    " NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV6 MaskedSelect ListDiff"
    " HcomAllToAllV HcomGatherAllToAllV StringSplit".split()
)

_DATA_DEPENDENT_ONNX = frozenset(
    "NonZero Unique Compress NonMaxSuppression StringSplit StringNormalizer ImageDecoder SequenceAt"
    " ConcatFromSequence OptionalGetElement SplitToSequence".split()
)

_INPUTS_GE: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "Reshape": (1,),
        "Expand": (1,),
        "BroadcastTo": (1,),
        "Tile": (1,),
        "Fill": (0,),
        "StridedSliceV2": (1, 2, 3, 4),
        "GatherV2": (2,),
        "Concat": (0,),
        "ConcatV2": (-1,),
        "Split": (0,),
        "SplitV": (1, 2),
        "SqueezeV3": (1,),
        "UnsqueezeV3": (1,),
        "ExpandDims": (1,),
        "Transpose": (1,),
        "Range": (0, 1, 2),
        **{f"Reduce{kind}": (1,) for kind in ("Sum", "Mean", "Max", "Min", "Prod", "Any", "All")},
    }
)
"""Inputs by number; -1 is the last."""

_REDUCTIONS = "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split()

_INPUTS_ONNX: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "Reshape": (1,),
        "Expand": (1,),
        "Tile": (1,),
        "ConstantOfShape": (0,),
        "Slice": (1, 2, 3, 4),
        "Split": (1,),
        "SplitToSequence": (1,),
        "Squeeze": (1,),
        "Unsqueeze": (1,),
        "Range": (0, 1, 2),
        "Pad": (1, 3),
        "CenterCropPad": (1,),
        "Resize": (1, 2, 3),
        "Upsample": (1,),
        "TopK": (1,),
        "OneHot": (1,),
        "AffineGrid": (1,),
        "Col2Im": (1, 2),
        "DFT": (1, 2),
        "STFT": (1, 2, 3),
        "MaxUnpool": (2,),
        "MelWeightMatrix": (0, 1, 2, 3, 4),
        "HannWindow": (0,),
        "HammingWindow": (0,),
        "BlackmanWindow": (0,),
        **{f"Reduce{kind}": (1,) for kind in _REDUCTIONS},
    }
)


def is_data_dependent(spec: OpSpec) -> bool:
    """Whether output shapes depend on elements even when all shapes and all constants are known.

    An operator whose shape follows from an input that may be constant (Reshape, say) is not: there `infer` says -1
    when the value is not known.
    """
    source = spec.source
    if source is None:
        return spec.type in _DATA_DEPENDENT_GE or spec.type in CONTROL_FLOW_GE
    if source.domain != "ai.onnx":
        return False
    return source.op in _DATA_DEPENDENT_ONNX or source.op in CONTROL_FLOW_ONNX


def value_dependent_inputs(spec: OpSpec, n_inputs: int) -> tuple[int, ...]:
    """The inputs (of `n_inputs`) whose elements the shape function reads where they are known."""
    source = spec.source
    if source is None:
        found = _INPUTS_GE.get(spec.type)
    else:
        found = _INPUTS_ONNX.get(source.op) if source.domain == "ai.onnx" else None
    if found is None:
        return ()
    if found == (-1,):
        return (n_inputs - 1,) if n_inputs else ()
    return found if n_inputs > found[-1] else tuple(index for index in found if index < n_inputs)
