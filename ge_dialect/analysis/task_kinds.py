"""Which node makes which kind of task: spec/tasks.md section 1.1 and the type lists of spec/engines.md, as data.

The number of tasks follows from these rules too (`ge_dialect.analysis.task_count`), and the lowering to a task list
emits by them, so that stream splitting and the list itself never disagree.
"""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType

from ge_dialect.dialects.engine_table import ENGINES, GE_LOCAL, RTS
from ge_dialect.dialects.engine_types import GE_LOCAL_GONE, GE_LOCAL_NO_TASK


class TaskRule(Enum):
    """What a node becomes. The value is how messages call it."""

    NONE = "no task"
    GONE = "must be gone before task generation"
    REFUSED = "task generation is not supported"
    AI_CORE = "AI Core kernel"
    AI_CPU = "AI CPU kernel"
    AI_CPU_CUSTOM = "custom AI CPU kernel"
    KERNEL_EX = "TensorFlow AI CPU kernel"
    HOST_CPU = "host CPU kernel"
    CUSTOM = "custom kernel"
    HCCL = "collective"
    DVPP = "DVPP operator"
    DSA = "DSA operator"
    FFTS_PLUS = "FFTS+ sub-graph"
    EVENT_RECORD = "event record"
    EVENT_WAIT = "event wait"
    NOTIFY_RECORD = "notify record"
    NOTIFY_WAIT = "notify wait"
    MEM_EVENT_RECORD = "memory event record"
    MEM_EVENT_WAIT = "memory event wait"
    COPY = "copy of each input"
    COPY_INDIRECT = "copy through an address table"
    MERGE = "copy of input 0"
    STREAM_SWITCH = "stream switch"
    STREAM_SWITCH_N = "stream switch by row"
    STREAM_ACTIVE = "stream activation"
    LABEL_SET = "label"
    LABEL_GOTO = "jump"
    LABEL_SWITCH = "jump by index"
    END_GRAPH = "end of the graph"
    MODEL_EXIT = "model exit"
    GET_STATUS = "overflow status read"
    CLEAR_STATUS = "overflow status clear"
    GET_DEBUG_STATUS = "debug overflow status read"
    CLEAR_DEBUG_STATUS = "debug overflow status clear"
    CMO = "cache operation"


GE_LOCAL_LIB = ENGINES[GE_LOCAL].kernel_lib
RTS_LIB = ENGINES[RTS].kernel_lib

RULE_OF_LIB = MappingProxyType(
    {
        "AIcoreEngine": TaskRule.AI_CORE,
        "VectorEngine": TaskRule.AI_CORE,
        "aicpu_ascend_kernel": TaskRule.AI_CPU,
        "aicpu_custom_kernel": TaskRule.AI_CPU_CUSTOM,
        "aicpu_tf_kernel": TaskRule.KERNEL_EX,
        "aicpu_ffts_plus_kernel": TaskRule.KERNEL_EX,
        "aicpu_ascend_ffts_plus_kernel": TaskRule.AI_CPU,
        "DNN_VM_HOST_CPU_OP_STORE": TaskRule.HOST_CPU,
        "DNN_VM_CUSTOM_OP_STORE": TaskRule.CUSTOM,
        "ops_kernel_info_hccl": TaskRule.HCCL,
        "dvpp_ops_kernel": TaskRule.DVPP,
        "dvpp_ops_kernel_info_store": TaskRule.DVPP,
        "DSAEngine": TaskRule.DSA,
        "ffts_plus": TaskRule.FFTS_PLUS,
    }
)
"""Kernel libs all of whose nodes follow one rule. GE local and RTS decide by type.

The host CPU lib is not in the specification's table; as a task it is a kernel of kernel_type 8.
"""

RTS_RULES = MappingProxyType(
    {
        "NetOutput": TaskRule.END_GRAPH,
        "LabelSet": TaskRule.LABEL_SET,
        "LabelGotoEx": TaskRule.LABEL_GOTO,
        "LabelGoto": TaskRule.REFUSED,
        "LabelSwitchByIndex": TaskRule.LABEL_SWITCH,
        "LabelSwitch": TaskRule.LABEL_SWITCH,
        "MemcpyAddrAsync": TaskRule.COPY_INDIRECT,
        "MemcpyAsync": TaskRule.COPY,
        "Enter": TaskRule.COPY,
        "RefEnter": TaskRule.COPY,
        "LoopCond": TaskRule.COPY,
        "NextIteration": TaskRule.COPY,
        "RefNextIteration": TaskRule.COPY,
        "Exit": TaskRule.COPY,
        "RefExit": TaskRule.COPY,
        "Identity": TaskRule.COPY,
        "ReadVariableOp": TaskRule.COPY,
        "ModelExit": TaskRule.MODEL_EXIT,
        "NPUGetFloatStatus": TaskRule.GET_STATUS,
        "NPUGetFloatStatusV2": TaskRule.GET_STATUS,
        "NPUClearFloatStatus": TaskRule.CLEAR_STATUS,
        "NPUClearFloatStatusV2": TaskRule.CLEAR_STATUS,
        "NPUGetFloatDebugStatus": TaskRule.GET_DEBUG_STATUS,
        "NPUClearFloatDebugStatus": TaskRule.CLEAR_DEBUG_STATUS,
        "Send": TaskRule.EVENT_RECORD,
        "Recv": TaskRule.EVENT_WAIT,
        "SendNotify": TaskRule.NOTIFY_RECORD,
        "RecvNotify": TaskRule.NOTIFY_WAIT,
        "SendMem": TaskRule.MEM_EVENT_RECORD,
        "RecvMem": TaskRule.MEM_EVENT_WAIT,
        "StreamActive": TaskRule.STREAM_ACTIVE,
        "StreamMerge": TaskRule.MERGE,
        "StreamSwitch": TaskRule.STREAM_SWITCH,
        "StreamSwitchN": TaskRule.STREAM_SWITCH_N,
        "Cmo": TaskRule.CMO,
    }
)
"""Types of spec/engines.md section 5 with what they make."""

_RTS_LIBS = frozenset({RTS_LIB, "DNN_VM_RTS_FFTS_PLUS_OP_STORE"})

SEGMENT_CUTS = frozenset({"LabelSet", "LabelGotoEx", "LabelSwitchByIndex", "StreamSwitch"})
"""Types that end a segment and belong to none (spec/tasks.md section 1.2)."""


def rule_of(ge_type: str, kernel_lib: str) -> TaskRule | None:
    """The rule of a node of this type and kernel lib; None when the lib is unknown or does not know the type."""
    rule = RULE_OF_LIB.get(kernel_lib)
    if rule is not None:
        return rule
    if kernel_lib in _RTS_LIBS:
        return RTS_RULES.get(ge_type)
    if kernel_lib == GE_LOCAL_LIB:
        if ge_type in GE_LOCAL_NO_TASK:
            return TaskRule.NONE
        if ge_type in GE_LOCAL_GONE:
            return TaskRule.GONE
    return None


def lib_of_engine(engine: str) -> str | None:
    """The kernel lib of an engine's nodes, for nodes that name their engine only; None for an unknown engine."""
    row = ENGINES.get(engine)
    return None if row is None else row.kernel_lib


def lib_of_type(ge_type: str) -> str | None:
    """The kernel lib of a type that RTS (which wins) or GE local know by name; None where operator tables decide."""
    if ge_type in RTS_RULES:
        return RTS_LIB
    if ge_type in GE_LOCAL_NO_TASK or ge_type in GE_LOCAL_GONE:
        return GE_LOCAL_LIB
    return None
