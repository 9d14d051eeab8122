"""Dialect `ge_task`: what runs. Flat task lists of known-shape models, and host-scheduled programs."""

from xdsl.ir import Dialect

from ge_dialect.dialects.ge_task.buffer import AbsentOp, BufferOp
from ge_dialect.dialects.ge_task.control import (
    CONTROL_OPS,
    EndGraphOp,
    FusionEndOp,
    FusionStartOp,
    LabelGotoOp,
    LabelSetOp,
    LabelSwitchOp,
    ModelExitOp,
    NopOp,
    ProfilerTraceExOp,
    ProfilerTraceOp,
    StreamActiveOp,
    StreamLabelGotoOp,
    StreamLabelSwitchByIndexOp,
    StreamSwitchNOp,
    StreamSwitchOp,
)
from ge_dialect.dialects.ge_task.kernels import (
    KERNEL_OPS,
    CcuKernelOp,
    CustomKernelOp,
    DsaOp,
    DvppOp,
    FftsOp,
    FftsPlusOp,
    FusionKernelOp,
    HcclOp,
    KernelExOp,
    KernelLaunchV2Op,
    KernelOp,
    KernelWithHandleOp,
    PreprocessKernelOp,
    SuperKernelOp,
    VectorAllKernelOp,
    VectorKernelOp,
)
from ge_dialect.dialects.ge_task.memory import (
    MEMORY_OPS,
    BarrierOp,
    CmoAddrOp,
    CmoOp,
    CopyTaskOp,
    MemcpyAddrAsyncOp,
    MemcpyAsyncOp,
    NpuClearDebugFloatStatusOp,
    NpuClearFloatStatusOp,
    NpuGetDebugFloatStatusOp,
    NpuGetFloatStatusOp,
    RdmaDbSendOp,
    RdmaSendOp,
    ReduceAsyncOp,
    UpdateOp,
)
from ge_dialect.dialects.ge_task.model import ModelOp
from ge_dialect.dialects.ge_task.sync import (
    EXTERNAL_NOTIFY,
    SYNC_OPS,
    EventRecordOp,
    EventResetOp,
    EventWaitOp,
    MemEventRecordOp,
    MemEventWaitOp,
    NotifyRecordOp,
    NotifyWaitOp,
)
from ge_dialect.dialects.ge_task.table import KIND_BY_OP, TASK_KINDS, TaskKind
from ge_dialect.dialects.ge_task.task import (
    AuxiliaryTaskOp,
    InputTaskOp,
    KernelTaskOp,
    OperandTaskOp,
    SimpleTaskOp,
    TaskOp,
)
from ge_dialect.dialects.ge_task.types import (
    BufferType,
    ListType,
    ObjectType,
    PlacedTensorType,
    Placement,
    PlacementAttr,
    ShapeType,
    TilingType,
    element_bits,
    tensor_bytes,
)

TASK_OPS = (*KERNEL_OPS, *SYNC_OPS, *CONTROL_OPS, *MEMORY_OPS)
"""The operation of every kind of task."""

GeTask = Dialect(
    "ge_task",
    [ModelOp, BufferOp, AbsentOp, *TASK_OPS],
    [
        BufferType,
        PlacementAttr,
        PlacedTensorType,
        ShapeType,
        TilingType,
        ObjectType,
        ListType,
    ],
)
