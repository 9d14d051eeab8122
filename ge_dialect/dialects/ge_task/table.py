"""The kinds of tasks: name, number and whether the static loader can run them (spec/tasks.md section 2).

One row a value of the reference's enumeration. `payload` is the sub-message of the task record that carries the
fields of the kind (None: no fields of its own); `runnable` says whether the static ("RT1") loader has a runner.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One kind: `name` is the enumeration's spelling, `op` the operation of this dialect without its prefix."""

    number: int
    name: str
    op: str
    payload: str | None
    runnable: bool


_NO_RUNNER = frozenset({10, 11, 16, 17, 18, 20, 21, 25, 28, 36, 37, 48, 49})

_ROWS: tuple[tuple[int, str, str, str | None], ...] = (
    (0, "KERNEL", "kernel", "kernel"),
    (1, "EVENT_RECORD", "event_record", "event_ex"),
    (2, "EVENT_WAIT", "event_wait", "event_ex"),
    (3, "FUSION_START", "fusion_start", None),
    (4, "FUSION_END", "fusion_end", None),
    (5, "KERNEL_EX", "kernel_ex", "kernel_ex"),
    (6, "HCCL", "hccl", "kernel_hccl"),
    (7, "STREAM_SWITCH", "stream_switch", "stream_switch"),
    (8, "STREAM_ACTIVE", "stream_active", "stream_active"),
    (9, "LABEL_SET", "label_set", "label_set"),
    (10, "LABEL_SWITCH", "label_switch", None),
    (11, "LABEL_GOTO", "label_goto", None),
    (12, "PROFILER_TRACE", "profiler_trace", "log_timestamp"),
    (13, "MEMCPY_ASYNC", "memcpy_async", "memcpy_async"),
    (14, "NOTIFY_RECORD", "notify_record", None),
    (15, "NOTIFY_WAIT", "notify_wait", None),
    (16, "REDUCE_ASYNC", "reduce_async", None),
    (17, "RDMA_SEND", "rdma_send", None),
    (18, "EVENT_RESET", "event_reset", None),
    (19, "END_GRAPH", "end_graph", None),
    (20, "STREAM_SWITCH_N", "stream_switch_n", "stream_switch_n"),
    (21, "RDMA_DB_SEND", "rdma_db_send", None),
    (22, "MEMCPY_ADDR_ASYNC", "memcpy_addr_async", "memcpy_async"),
    (23, "STREAM_LABEL_SWITCH_BY_INDEX", "stream_label_switch_by_index", "label_switch_by_index"),
    (24, "STREAM_LABEL_GOTO", "stream_label_goto", "label_goto_ex"),
    (25, "MODEL_EXIT", "model_exit", None),
    (26, "ALL_KERNEL", "kernel_with_handle", "kernel_with_handle"),
    (27, "PROFILER_TRACE_EX", "profiler_trace_ex", "log_timestamp"),
    (28, "FFTS", "ffts", "ffts_task"),
    (29, "FFTS_PLUS", "ffts_plus", "ffts_plus_task"),
    (30, "DSA", "dsa", "dsa_task"),
    (31, "CMO", "cmo", "cmo_task"),
    (32, "BARRIER", "barrier", "cmo_barrier_task"),
    (33, "NPU_GET_FLOAT_STATUS", "npu_get_float_status", "npu_get_float_status"),
    (34, "NPU_CLEAR_FLOAT_STATUS", "npu_clear_float_status", "npu_clear_float_status"),
    (35, "DVPP", "dvpp", "dvpp_task"),
    (36, "GET_DEBUG_FLOAT_STATUS", "npu_get_debug_float_status", "npu_get_float_debug_status"),
    (
        37,
        "CLEAR_DEBUG_FLOAT_STATUS",
        "npu_clear_debug_float_status",
        "npu_clear_float_debug_status",
    ),
    (38, "CMO_ADDR", "cmo_addr", "cmo_addr_task"),
    (39, "VECTOR_KERNEL", "vector_kernel", "kernel"),
    (40, "VECTOR_ALL_KERNEL", "vector_all_kernel", "kernel_with_handle"),
    (41, "UPDATE", "update", "update_pc_task"),
    (42, "NOP", "nop", None),
    (43, "PREPROCESS_KERNEL", "preprocess_kernel", "kernel"),
    (44, "SUPER_KERNEL", "super_kernel", "kernel"),
    (45, "MEM_EVENT_RECORD", "mem_event_record", None),
    (46, "MEM_EVENT_WAIT", "mem_event_wait", None),
    (47, "FUSION_KERNEL", "fusion_kernel", "fusion_task"),
    (48, "KERNEL_LAUNCH_V2", "kernel_launch_v2", None),
    (49, "CCU_KERNEL", "ccu_kernel", None),
    (50, "CUSTOM_KERNEL", "custom_kernel", "kernel"),
)

TASK_KINDS: tuple[TaskKind, ...] = tuple(
    TaskKind(number, name, op, payload, number not in _NO_RUNNER)
    for number, name, op, payload in _ROWS
)
"""All kinds; the position is the number."""

KIND_BY_OP = MappingProxyType({f"ge_task.{kind.op}": kind for kind in TASK_KINDS})
"""The kind of an operation, by the operation's full name."""
