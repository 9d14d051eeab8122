"""Which operator types the engines know: the lists of spec/engines.md sections 4 to 6.

GE local and RTS decide by type alone, so their lists are complete. What AI Core, AI CPU and the host know is data of
operator libraries that GE loads; here every type that no list names is computational and goes to AI Core, `_ALSO` adds
AI CPU, and the host CPU knows the types of `host_kernel_table`.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from ge_dialect.dialects.engine_table import (
    AI_CORE,
    AI_CPU,
    AI_CPU_ASCEND,
    ENGINES,
    GE_LOCAL,
    HCCL,
    HOST_CPU,
    RTS,
    VECTOR,
)
from ge_dialect.dialects.host_kernel_table import HOST_KERNELS

DATA_TYPES = frozenset({"Data", "RefData", "AippData", "AnnData", "QueueData"})
"""Graph inputs."""

CONSTANT_TYPES = frozenset({"Const", "Constant", "FileConstant", "ConstPlaceHolder"})
"""Constants, also those whose bytes come later."""

VARIABLE_TYPES = frozenset({"Variable", "VariableV2", "VarHandleOp"})
"""Memory that outlives a step."""

CALL_TYPES = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
BRANCH_TYPES = frozenset({"If", "_If", "StatelessIf", "Case", "StatelessCase"})
LOOP_TYPES = frozenset({"While", "_While", "StatelessWhile", "For"})

STACK_TYPES = frozenset({"Stack", "StackPush", "StackPop", "StackClose"})

VIEW_TYPES = frozenset(
    """Reshape Bitcast Flatten FlattenV2 ExpandDims ReFormat Squeeze SqueezeV2 SqueezeV3 Unsqueeze UnsqueezeV2
    UnsqueezeV3""".split()
)
"""GE-local types whose output is input 0's memory seen with another shape (section 4.3; Reshape: marked elsewhere)."""

GE_LOCAL_NO_TASK = (
    DATA_TYPES
    | CONSTANT_TYPES
    | CALL_TYPES
    | BRANCH_TYPES
    | LOOP_TYPES
    | STACK_TYPES
    | VIEW_TYPES
    | {
        "NoOp",
        "ControlTrigger",
        "Merge",
        "Variable",
        "OpTiling",
        "ConditionCalc",
        "UnfedData",
        "PhonyConcat",
    }
    | {"PhonySplit"}
)
"""Types that GE local accepts and that never make a task (section 4.1; AnnData is a graph input, so it stands here)."""

GE_LOCAL_GONE = frozenset(
    """TemporaryVariable DestroyTemporaryVariable GuaranteeConst PreventGradient StopGradient Size Shape ShapeN Rank
    _Retval ReadVariableOp VarHandleOp VarIsInitializedOp Snapshot RefIdentity Identity IdentityN VariableV2 Empty
    PlaceholderWithDefault IsVariableInitialized PlaceholderV2 Placeholder End Switch RefMerge RefSwitch TransShape
    GatherShapes""".split()
)
"""Types that GE local accepts at placement but must be gone before tasks are made in a known graph (section 4.2)."""

SOURCE_CONTROL_FLOW = frozenset({"Loop", "Scan", "SequenceMap"})
"""ONNX operators that own sub-graphs and have no GE type. The sources know nothing of them; like GE's own control
flow they are placed on GE local."""

RTS_TYPES = frozenset(
    """NetOutput LabelGotoEx LabelGoto LabelSet LabelSwitchByIndex LabelSwitch MemcpyAddrAsync MemcpyAsync Enter
    RefEnter LoopCond NextIteration RefNextIteration Exit RefExit Identity ReadVariableOp ModelExit NPUClearFloatStatus
    NPUClearFloatStatusV2 NPUGetFloatStatus NPUGetFloatStatusV2 NPUGetFloatDebugStatus NPUClearFloatDebugStatus Recv
    Send StreamActive StreamMerge StreamSwitchN StreamSwitch RecvNotify SendNotify Cmo RecvMem SendMem""".split()
)
"""Types that RTS knows (section 5)."""

HCCL_PREFIX = "Hcom"

_COMPUTE = (AI_CORE, VECTOR)

_AI_CPU_ONLY = frozenset(
    """Unique UniqueWithCounts UniqueV2 NonZero Where SparseToDense Bincount NonMaxSuppression NonMaxSuppressionV3
    StringNormalizer StringSplit StringConcat RegexFullMatch TfIdfVectorizer""".split()
)
"""Types whose output depends on data in size, or that work on text: no AI Core kernel in the default table."""

_ALSO: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("Minimum", "Maximum", "Round"), (AI_CPU_ASCEND, AI_CPU))
)
"""Further engines of computational types (section 6)."""


@cache
def engines_of_type(ge_type: str) -> tuple[str, ...]:
    """The engines that know a type, cheapest first, at equal cost by name (spec/engines.md section 3, step 3a)."""
    found: list[str] = []
    if ge_type in GE_LOCAL_NO_TASK or ge_type in GE_LOCAL_GONE or ge_type in SOURCE_CONTROL_FLOW:
        found.append(GE_LOCAL)
    if ge_type in RTS_TYPES:
        found.append(RTS)
    if not found:
        if ge_type.startswith(HCCL_PREFIX):
            found.append(HCCL)
        elif ge_type in _AI_CPU_ONLY:
            found += [AI_CPU_ASCEND, AI_CPU]
        else:
            found += [*_COMPUTE, *_ALSO.get(ge_type, ())]
        if ge_type in HOST_KERNELS:
            found.append(HOST_CPU)
    return tuple(sorted(found, key=lambda name: (ENGINES[name].cost, name)))
