"""Tasks that move, touch or announce data: copies, cache management, remote memory, status words."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.ge_task.buffer import BufferOp
from ge_dialect.dialects.ge_task.clauses import Clause, Form
from ge_dialect.dialects.ge_task.task import AUXILIARY_CLAUSES, AuxiliaryTaskOp

MEMCPY_KINDS = ("H2H", "H2D", "D2H", "D2D", "MANAGED", "ADDR_D2D", "H2D_EX", "D2H_EX", "DEFAULT")
"""What the numbers of `kind` mean (spec/tasks.md section 2)."""


class CopyTaskOp(AuxiliaryTaskOp, ABC):
    """A copy of `count` bytes from `ins[0]` to `outs[0]`; `dst_max` bounds what the destination takes."""

    count = prop_def(IntegerAttr[I64])
    kind = opt_prop_def(IntegerAttr[I64])
    """A number of `MEMCPY_KINDS`; absent = 3, device to device."""
    dst_max = opt_prop_def(IntegerAttr[I64])

    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        Clause("count", "count", Form.INT),
        Clause("kind", "kind", Form.INT),
        Clause("dst_max", "dst_max", Form.INT),
        *AUXILIARY_CLAUSES,
    )

    def verify_task(self) -> None:
        if (len(self.ins), len(self.outs)) != (1, 1):
            raise VerifyException(
                f"'{self.name}' copies one buffer to one buffer, got {len(self.ins)} and {len(self.outs)}"
            )
        if self.kind is not None and self.kind.value.data >= len(MEMCPY_KINDS):
            raise VerifyException(
                f"'{self.name}' kind {self.kind.value.data} is unknown, it should be 0 to {len(MEMCPY_KINDS) - 1}"
            )
        count = self.count.value.data
        if self.dst_max is not None and count > self.dst_max.value.data:
            raise VerifyException(
                f"'{self.name}' count {count} is more than dst_max {self.dst_max.value.data}"
            )
        self._verify_fits("source", self.ins[0], count)
        self._verify_fits("destination", self.outs[0], count)

    def _verify_fits(self, role: str, value: SSAValue, count: int) -> None:
        if isinstance(value.owner, BufferOp) and count > value.owner.size.value.data:
            raise VerifyException(
                f"'{self.name}' count {count} is more than the {value.owner.size.value.data} bytes of the {role}"
            )


@irdl_op_definition
class MemcpyAsyncOp(CopyTaskOp):
    """A copy between fixed addresses. Ranges that overlap behave as with memmove."""

    name = "ge_task.memcpy_async"
    TASK_TYPE: ClassVar[int] = 13


@irdl_op_definition
class MemcpyAddrAsyncOp(CopyTaskOp):
    """A copy whose two addresses are read from an argument slot when it runs, so that they can be exchanged."""

    name = "ge_task.memcpy_addr_async"
    TASK_TYPE: ClassVar[int] = 22


@irdl_op_definition
class ReduceAsyncOp(CopyTaskOp):
    """A copy that combines source and destination. The static loader has no runner for it."""

    name = "ge_task.reduce_async"
    TASK_TYPE: ClassVar[int] = 16


@irdl_op_definition
class RdmaSendOp(AuxiliaryTaskOp):
    """Sends to another device. The static loader has no runner for it."""

    name = "ge_task.rdma_send"
    TASK_TYPE: ClassVar[int] = 17


@irdl_op_definition
class RdmaDbSendOp(AuxiliaryTaskOp):
    """Rings the door bell of a send to another device. The static loader has no runner for it."""

    name = "ge_task.rdma_db_send"
    TASK_TYPE: ClassVar[int] = 21


@irdl_op_definition
class CmoOp(AuxiliaryTaskOp):
    """Prefetches, writes back or drops cache lines; no effect on values."""

    name = "ge_task.cmo"
    TASK_TYPE: ClassVar[int] = 31


@irdl_op_definition
class BarrierOp(AuxiliaryTaskOp):
    """Waits for cache operations; no effect on values."""

    name = "ge_task.barrier"
    TASK_TYPE: ClassVar[int] = 32


@irdl_op_definition
class CmoAddrOp(AuxiliaryTaskOp):
    """A cache operation whose address is read when it runs; no effect on values."""

    name = "ge_task.cmo_addr"
    TASK_TYPE: ClassVar[int] = 38


@irdl_op_definition
class UpdateOp(AuxiliaryTaskOp):
    """Updates the program counter of another kernel; no effect on values."""

    name = "ge_task.update"
    TASK_TYPE: ClassVar[int] = 41


@irdl_op_definition
class NpuGetFloatStatusOp(AuxiliaryTaskOp):
    """Writes the overflow status into its output buffer."""

    name = "ge_task.npu_get_float_status"
    TASK_TYPE: ClassVar[int] = 33


@irdl_op_definition
class NpuClearFloatStatusOp(AuxiliaryTaskOp):
    """Clears the overflow status."""

    name = "ge_task.npu_clear_float_status"
    TASK_TYPE: ClassVar[int] = 34


@irdl_op_definition
class NpuGetDebugFloatStatusOp(AuxiliaryTaskOp):
    """Writes the overflow status of debug mode into its output. The static loader has no runner for it."""

    name = "ge_task.npu_get_debug_float_status"
    TASK_TYPE: ClassVar[int] = 36


@irdl_op_definition
class NpuClearDebugFloatStatusOp(AuxiliaryTaskOp):
    """Clears the overflow status of debug mode. The static loader has no runner for it."""

    name = "ge_task.npu_clear_debug_float_status"
    TASK_TYPE: ClassVar[int] = 37


MEMORY_OPS = (
    MemcpyAsyncOp,
    MemcpyAddrAsyncOp,
    ReduceAsyncOp,
    RdmaSendOp,
    RdmaDbSendOp,
    CmoOp,
    BarrierOp,
    CmoAddrOp,
    UpdateOp,
    NpuGetFloatStatusOp,
    NpuClearFloatStatusOp,
    NpuGetDebugFloatStatusOp,
    NpuClearDebugFloatStatusOp,
)
