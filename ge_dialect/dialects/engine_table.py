"""The engines: names, kernel libs, costs and scheduling flags (spec/engines.md sections 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine.

    `kernel_lib` builds the tasks of its nodes; `cost` orders candidates, cheapest first; `short_name` is what the
    option that excludes engines calls it (None: it cannot be excluded).

    `independent`: its nodes share no stream with those of other engines. `attach`: a node may ride on the stream of a
    neighbour. `skip_assign_stream`: its nodes get no stream of their own.
    """

    name: str
    kernel_lib: str
    cost: int
    short_name: str | None = None
    runs_on: str = "device"
    atomic: bool = True
    independent: bool = False
    attach: bool = False
    skip_assign_stream: bool = False


CUSTOM = "DNN_VM_CUSTOM"
AI_CORE = "AIcoreEngine"
VECTOR = "VectorEngine"
RTS = "DNN_VM_RTS"
HCCL = "DNN_HCCL"
AI_CPU = "DNN_VM_AICPU"
AI_CPU_ASCEND = "DNN_VM_AICPU_ASCEND"
GE_LOCAL = "DNN_VM_GE_LOCAL"
HOST_CPU = "DNN_VM_HOST_CPU"

SCHEDULE_UNIT = ("TS_1", "1980_hwts")
"""Id and name of the one schedule unit that all engines belong to."""

_ROWS: tuple[Engine, ...] = (
    Engine(CUSTOM, "DNN_VM_CUSTOM_OP_STORE", 0),
    Engine(AI_CORE, "AIcoreEngine", 1, "AiCore"),
    Engine("ffts_plus", "ffts_plus", 1, "FftsPlus", atomic=False, attach=True, skip_assign_stream=True),
    Engine(VECTOR, "VectorEngine", 2, "AiVector"),
    Engine("DSAEngine", "DSAEngine", 2, "Dsa"),
    Engine(RTS, "DNN_VM_RTS_OP_STORE", 2, attach=True),
    Engine("DNN_VM_RTS_FFTS_PLUS", "DNN_VM_RTS_FFTS_PLUS_OP_STORE", 2, attach=True),
    Engine(HCCL, "ops_kernel_info_hccl", 2, "Hccl", independent=True),
    Engine("DNN_VM_AICPU_FFTS_PLUS", "aicpu_ffts_plus_kernel", 2, attach=True),
    Engine("DNN_VM_AICPU_ASCEND_FFTS_PLUS", "aicpu_ascend_ffts_plus_kernel", 2, attach=True),
    Engine(AI_CPU_ASCEND, "aicpu_ascend_kernel", 3, "AiCpuAscend", attach=True),
    Engine(AI_CPU, "aicpu_tf_kernel", 4, "AiCpu", attach=True),
    Engine("DNN_VM_DVPP", "dvpp_ops_kernel", 5, "Dvpp", attach=True),
    Engine(GE_LOCAL, "DNN_VM_GE_LOCAL_OP_STORE", 9, attach=True, skip_assign_stream=True),
    Engine(HOST_CPU, "DNN_VM_HOST_CPU_OP_STORE", 10, "HostCpu", "host", attach=True, skip_assign_stream=True),
)  # fmt: skip

ENGINES = MappingProxyType({row.name: row for row in _ROWS})
"""The engines by name. The kernel libs of the two AI CPU FFTS+ engines are not in the sources: the names are ours."""

_UNCONFIGURED = Engine("", "", 0)


def scheduling(engine: str) -> Engine:
    """The row of an engine; one that is not configured has every flag false (spec/engines.md section 2)."""
    return ENGINES.get(engine, _UNCONFIGURED)
