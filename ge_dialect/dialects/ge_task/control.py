"""Tasks that decide what runs: stream activation and switches, labels and jumps, brackets, traces, the end.

Effects of each at the head of its stream: spec/tasks.md section 3.2.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.ge_task.clauses import (
    Clause,
    Form,
    PropertyValue,
    as_properties,
    ints_of,
)
from ge_dialect.dialects.ge_task.sync import FlagTaskOp
from ge_dialect.dialects.ge_task.task import (
    InputTaskOp,
    SimpleTaskOp,
    TaskOp,
)

CONDITIONS = ("==", "!=", ">", ">=", "<", "<=")
"""What the numbers of `stream_switch`'s `condition` mean."""


@irdl_op_definition
class StreamActiveOp(FlagTaskOp):
    """Starts stream `active_stream`; an active one goes on, a drained one runs again."""

    name = "ge_task.stream_active"
    TASK_TYPE: ClassVar[int] = 8
    HEAD: ClassVar[Clause | None] = Clause("", "active_stream", Form.INT)
    active_stream = prop_def(IntegerAttr[I64])


@irdl_op_definition
class StreamSwitchOp(InputTaskOp):
    """Compares the one elements of `ins[0]` and `ins[1]`; when the condition holds, starts stream `true_stream`.

    `condition` is a number of `CONDITIONS`; `data_type` 0 (also when absent) is int32, 1 is int64.
    """

    name = "ge_task.stream_switch"
    TASK_TYPE: ClassVar[int] = 7
    condition = prop_def(IntegerAttr[I64])
    data_type = opt_prop_def(IntegerAttr[I64])
    true_stream = prop_def(IntegerAttr[I64])

    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        Clause("condition", "condition", Form.INT),
        Clause("data_type", "data_type", Form.INT),
        Clause("true_stream", "true_stream", Form.INT),
    )

    def verify_task(self) -> None:
        if len(self.ins) != 2:
            raise VerifyException(f"'{self.name}' compares two buffers, got {len(self.ins)}")
        if self.condition.value.data >= len(CONDITIONS):
            raise VerifyException(
                f"'{self.name}' condition {self.condition.value.data} is unknown, it should be 0 to 5"
            )
        _verify_data_type(self, self.data_type)


@irdl_op_definition
class StreamSwitchNOp(InputTaskOp):
    """Compares `ins[0]` with each row of `targets`; on equality starts that row's entry of `true_streams`.

    `targets` holds the rows one behind the other, all of one length; `data_type` 0 is int32, 1 (also when absent)
    is int64. The static loader has no runner for it.
    """

    name = "ge_task.stream_switch_n"
    TASK_TYPE: ClassVar[int] = 20
    targets = prop_def(DenseArrayBase[I64])
    true_streams = prop_def(DenseArrayBase[I64])
    data_type = opt_prop_def(IntegerAttr[I64])

    CLAUSES: ClassVar[tuple[Clause, ...]] = (
        Clause("targets", "targets", Form.INTS),
        Clause("true_streams", "true_streams", Form.INTS),
        Clause("data_type", "data_type", Form.INT),
    )

    def verify_task(self) -> None:
        if len(self.ins) != 1:
            raise VerifyException(f"'{self.name}' compares one buffer, got {len(self.ins)}")
        values, cases = len(ints_of(self.targets)), len(ints_of(self.true_streams))
        if cases == 0 or values % cases != 0 or values == 0:
            raise VerifyException(
                f"'{self.name}' {values} target values do not make {cases} rows of one length"
            )
        _verify_data_type(self, self.data_type)


def _verify_data_type(op: TaskOp, data_type: IntegerAttr[I64] | None) -> None:
    if data_type is not None and data_type.value.data > 1:
        raise VerifyException(
            f"'{op.name}' data_type {data_type.value.data} is unknown, it should be 0 (int32) or 1 (int64)"
        )


class LabelTaskOp(FlagTaskOp, ABC):
    """A task on label `label`, a number below the model's `label_num`."""

    HEAD: ClassVar[Clause | None] = Clause("", "label", Form.INT)
    label = prop_def(IntegerAttr[I64])


@irdl_op_definition
class LabelSetOp(LabelTaskOp):
    """Marks this position of its stream as label `label`; no effect when it runs."""

    name = "ge_task.label_set"
    TASK_TYPE: ClassVar[int] = 9


@irdl_op_definition
class LabelGotoOp(LabelTaskOp):
    """Jumps to label `label`; an old form without a runner in the static loader."""

    name = "ge_task.label_goto"
    TASK_TYPE: ClassVar[int] = 11


@irdl_op_definition
class StreamLabelGotoOp(LabelTaskOp):
    """Jumps to label `label` of its stream (made by a LabelGotoEx node)."""

    name = "ge_task.stream_label_goto"
    TASK_TYPE: ClassVar[int] = 24


class LabelTableTaskOp(InputTaskOp, ABC):
    """Jumps to `labels[v]`, where v is the one integer in `ins[0]`."""

    labels = prop_def(DenseArrayBase[I64])

    CLAUSES: ClassVar[tuple[Clause, ...]] = (Clause("labels", "labels", Form.INTS),)

    def verify_task(self) -> None:
        if len(self.ins) != 1:
            raise VerifyException(f"'{self.name}' reads one index, got {len(self.ins)} buffers")
        labels = ints_of(self.labels)
        if not labels:
            raise VerifyException(f"'{self.name}' needs at least one label")
        if min(labels) < 0:
            raise VerifyException(f"'{self.name}' labels must be >= 0, got {min(labels)}")


@irdl_op_definition
class LabelSwitchOp(LabelTableTaskOp):
    """A jump by table; an old form without a runner in the static loader."""

    name = "ge_task.label_switch"
    TASK_TYPE: ClassVar[int] = 10


@irdl_op_definition
class StreamLabelSwitchByIndexOp(LabelTableTaskOp):
    """A jump by table within its stream (made by a LabelSwitchByIndex node)."""

    name = "ge_task.stream_label_switch_by_index"
    TASK_TYPE: ClassVar[int] = 23


@irdl_op_definition
class FusionStartOp(SimpleTaskOp):
    """Opens a bracket: the kernels up to the end of it are launched as one; no effect on values."""

    name = "ge_task.fusion_start"
    TASK_TYPE: ClassVar[int] = 3


@irdl_op_definition
class FusionEndOp(SimpleTaskOp):
    """Closes a bracket that `fusion_start` opened."""

    name = "ge_task.fusion_end"
    TASK_TYPE: ClassVar[int] = 4


@irdl_op_definition
class EndGraphOp(SimpleTaskOp):
    """Tells the host that the model is complete (made by the NetOutput node)."""

    name = "ge_task.end_graph"
    TASK_TYPE: ClassVar[int] = 19


@irdl_op_definition
class ModelExitOp(SimpleTaskOp):
    """Ends the model; what follows on its stream is not run. The static loader has no runner for it."""

    name = "ge_task.model_exit"
    TASK_TYPE: ClassVar[int] = 25


@irdl_op_definition
class NopOp(SimpleTaskOp):
    """Does nothing."""

    name = "ge_task.nop"
    TASK_TYPE: ClassVar[int] = 42


class TraceTaskOp(TaskOp, ABC):
    """A time stamp with number `log_id`; `notify` tells the host about it. No effect on values."""

    HEAD: ClassVar[Clause | None] = Clause("", "log_id", Form.INT)
    CLAUSES: ClassVar[tuple[Clause, ...]] = (Clause("notify", "notify", Form.FLAG),)
    log_id = prop_def(IntegerAttr[I64])
    notify = opt_prop_def(UnitAttr)

    @classmethod
    def make(
        cls,
        log_id: int,
        *,
        notify: bool = False,
        stream: int,
        op_index: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The time stamp `log_id` on `stream`."""
        values: dict[str, PropertyValue] = {
            "log_id": log_id,
            "notify": notify,
            "stream": stream,
            "op_index": op_index,
        }
        return cls.create(properties=as_properties(values), attributes=attributes or {})


@irdl_op_definition
class ProfilerTraceOp(TraceTaskOp):
    """A time stamp for profiling (spec/tasks.md section 1.3 has the numbers)."""

    name = "ge_task.profiler_trace"
    TASK_TYPE: ClassVar[int] = 12


@irdl_op_definition
class ProfilerTraceExOp(TraceTaskOp):
    """A time stamp for profiling that carries the model's id."""

    name = "ge_task.profiler_trace_ex"
    TASK_TYPE: ClassVar[int] = 27


CONTROL_OPS = (
    StreamActiveOp,
    StreamSwitchOp,
    StreamSwitchNOp,
    LabelSetOp,
    LabelGotoOp,
    StreamLabelGotoOp,
    LabelSwitchOp,
    StreamLabelSwitchByIndexOp,
    FusionStartOp,
    FusionEndOp,
    EndGraphOp,
    ModelExitOp,
    NopOp,
    ProfilerTraceOp,
    ProfilerTraceExOp,
)
