"""Tasks that order streams: events, notifies, memory words.

`ge_task.event_record 0 stream 1 op 3`. Effects of each at the head of its stream: spec/tasks.md section 3.2.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge_task.clauses import (
    Clause,
    Form,
    PropertyValue,
    as_properties,
)
from ge_dialect.dialects.ge_task.task import TaskOp

EXTERNAL_NOTIFY = 0xFFFFFFFF
"""The notify id whose handle is supplied from outside the model."""


class FlagTaskOp(TaskOp, ABC):
    """Sets or waits for one flag; the property that names it is the op's `HEAD`."""

    @classmethod
    def make(
        cls,
        flag: int,
        *,
        stream: int,
        op_index: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """The task for flag number `flag` on `stream`."""
        assert cls.HEAD is not None
        values: dict[str, Attribute] = {cls.HEAD.prop: i64(flag), "stream": i64(stream)}
        if op_index is not None:
            values["op_index"] = i64(op_index)
        values.update(as_properties(properties))
        return cls.create(properties=values, attributes=attributes or {})


class EventTaskOp(FlagTaskOp, ABC):
    """A task on event `event`, a number below the model's `event_num`."""

    HEAD: ClassVar[Clause | None] = Clause("", "event", Form.INT)
    event = prop_def(IntegerAttr[I64])


class NotifyTaskOp(FlagTaskOp, ABC):
    """A task on notify `notify`, below the model's `notify_num` or `EXTERNAL_NOTIFY`.

    The partner may sit in another model or on another device.
    """

    HEAD: ClassVar[Clause | None] = Clause("", "notify", Form.INT)
    notify = prop_def(IntegerAttr[I64])


class MemEventTaskOp(FlagTaskOp, ABC):
    """A task on memory word `word`; the model's header does not count these."""

    HEAD: ClassVar[Clause | None] = Clause("", "word", Form.INT)
    word = prop_def(IntegerAttr[I64])


@irdl_op_definition
class EventRecordOp(EventTaskOp):
    """Marks the event as recorded (made by a Send node)."""

    name = "ge_task.event_record"
    TASK_TYPE: ClassVar[int] = 1


@irdl_op_definition
class EventWaitOp(EventTaskOp):
    """Blocks its stream until the event is recorded, then resets it (made by a Recv node): two hardware tasks."""

    name = "ge_task.event_wait"
    TASK_TYPE: ClassVar[int] = 2
    EXTRA_TASKS: ClassVar[int] = 1


@irdl_op_definition
class EventResetOp(EventTaskOp):
    """Marks the event as not recorded. The wait does so itself; the static loader has no runner for it."""

    name = "ge_task.event_reset"
    TASK_TYPE: ClassVar[int] = 18


@irdl_op_definition
class NotifyRecordOp(NotifyTaskOp):
    """Marks the notify as recorded (made by a SendNotify node)."""

    name = "ge_task.notify_record"
    TASK_TYPE: ClassVar[int] = 14


@irdl_op_definition
class NotifyWaitOp(NotifyTaskOp):
    """Blocks its stream until the notify is recorded, then resets it: one hardware task."""

    name = "ge_task.notify_wait"
    TASK_TYPE: ClassVar[int] = 15


@irdl_op_definition
class MemEventRecordOp(MemEventTaskOp):
    """Writes 1 into the memory word (made by a SendMem node)."""

    name = "ge_task.mem_event_record"
    TASK_TYPE: ClassVar[int] = 45


@irdl_op_definition
class MemEventWaitOp(MemEventTaskOp):
    """Blocks its stream until the memory word is 1, then writes 0 into it (made by a RecvMem node)."""

    name = "ge_task.mem_event_wait"
    TASK_TYPE: ClassVar[int] = 46


SYNC_OPS = (
    EventRecordOp,
    EventWaitOp,
    EventResetOp,
    NotifyRecordOp,
    NotifyWaitOp,
    MemEventRecordOp,
    MemEventWaitOp,
)
