"""Checks of a task list that need the header or the whole list: one sweep, linear in the tasks.

Source of the rules: spec/tasks.md section 3.3, less what is no error (ids that no task uses, notifies whose partner is
another device).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge_task.buffer import AbsentOp, BufferOp
from ge_dialect.dialects.ge_task.clauses import ints_of
from ge_dialect.dialects.ge_task.control import (
    LabelGotoOp,
    LabelSetOp,
    LabelSwitchOp,
    StreamActiveOp,
    StreamLabelGotoOp,
    StreamLabelSwitchByIndexOp,
    StreamSwitchNOp,
    StreamSwitchOp,
)
from ge_dialect.dialects.ge_task.sync import (
    EXTERNAL_NOTIFY,
    EventRecordOp,
    EventResetOp,
    EventWaitOp,
    NotifyRecordOp,
    NotifyWaitOp,
)
from ge_dialect.dialects.ge_task.task import TaskOp
from ge_dialect.dialects.ge_task.virtual import VirtualOp

if TYPE_CHECKING:
    from ge_dialect.dialects.ge_task.model import ModelOp


def verify_model(model: ModelOp) -> None:
    """Raise VerifyException at the first rule that the list of `model` breaks."""
    _ModelCheck(model).run()


def _number(op: Operation, name: str) -> int:
    value = op.properties[name]
    assert isinstance(value, IntegerAttr)
    return value.value.data


class _ModelCheck:
    """One sweep over a list. Positions in messages count tasks from 0, as `task_index_op_name` does."""

    def __init__(self, model: ModelOp) -> None:
        self.model = model
        self.streams = _number(model, "stream_num")
        self.events = _number(model, "event_num")
        self.notifies = _number(model, "notify_num")
        self.labels = _number(model, "label_num")
        self.arenas = model.arena_sizes()
        self.position = 0
        self.recorders: dict[int, set[int]] = {}
        self.waits: list[tuple[TaskOp, int, int, int]] = []
        self.label_sets: dict[int, int] = {}
        self.label_uses: list[tuple[TaskOp, int, int]] = []
        self.handlers: Mapping[type[Operation], Callable[[TaskOp], None]] = {
            EventRecordOp: self._event_record,
            EventWaitOp: self._event_wait,
            EventResetOp: self._event,
            NotifyRecordOp: self._notify,
            NotifyWaitOp: self._notify,
            LabelSetOp: self._label_set,
            LabelGotoOp: self._label_goto,
            StreamLabelGotoOp: self._label_goto,
            LabelSwitchOp: self._label_table,
            StreamLabelSwitchByIndexOp: self._label_table,
            StreamActiveOp: lambda op: self._target(op, (_number(op, "active_stream"),)),
            StreamSwitchOp: lambda op: self._target(op, (_number(op, "true_stream"),)),
            StreamSwitchNOp: lambda op: self._target(op, ints_of(op.properties["true_streams"])),
        }

    def run(self) -> None:
        for op in self.model.body.block.ops:
            if isinstance(op, TaskOp):
                self._task(op)
                self.position += 1
            elif isinstance(op, BufferOp):
                self._buffer(op)
            elif not isinstance(op, AbsentOp | VirtualOp):
                raise VerifyException(
                    f"'{self.model.name}' holds buffers and tasks, '{op.name}' is neither"
                )
        self._pairs()
        self._label_targets()

    def _fail(self, op: Operation, position: int, problem: str) -> NoReturn:
        name = text_of(op.attributes.get("ge.name"))
        shown = f', "{name}"' if name else ""
        raise VerifyException(f"'{op.name}' (task {position}{shown}) {problem}")

    def _below(self, op: Operation, what: str, number: int, limit: int, count: str) -> None:
        if not 0 <= number < limit:
            self._fail(op, self.position, f"{what} {number} is out of range: {count} is {limit}")

    def _task(self, op: TaskOp) -> None:
        self._below(op, "stream", _number(op, "stream"), self.streams, "stream_num")
        handler = self.handlers.get(type(op))
        if handler is not None:
            handler(op)

    def _buffer(self, op: BufferOp) -> None:
        start, size = _number(op, "offset"), _number(op, "size")
        space = op.space.data
        arena = self.arenas.get(space, 0)
        if start + size > arena:
            raise VerifyException(
                f"'{op.name}' {op.describe()} lies outside arena '{space}' of {arena} bytes"
            )

    def _event(self, op: TaskOp) -> None:
        self._below(op, "event", _number(op, "event"), self.events, "event_num")

    def _event_record(self, op: TaskOp) -> None:
        self._event(op)
        self.recorders.setdefault(_number(op, "event"), set()).add(_number(op, "stream"))

    def _event_wait(self, op: TaskOp) -> None:
        self._event(op)
        self.waits.append((op, self.position, _number(op, "event"), _number(op, "stream")))

    def _notify(self, op: TaskOp) -> None:
        number = _number(op, "notify")
        if number != EXTERNAL_NOTIFY:
            self._below(op, "notify", number, self.notifies, "notify_num")

    def _label_set(self, op: TaskOp) -> None:
        label = _number(op, "label")
        self._below(op, "label", label, self.labels, "label_num")
        first = self.label_sets.setdefault(label, self.position)
        if first != self.position:
            self._fail(op, self.position, f"label {label} is set twice, first by task {first}")

    def _use_labels(self, op: TaskOp, labels: Iterable[int]) -> None:
        for label in labels:
            self._below(op, "label", label, self.labels, "label_num")
            self.label_uses.append((op, self.position, label))

    def _label_goto(self, op: TaskOp) -> None:
        self._use_labels(op, (_number(op, "label"),))

    def _label_table(self, op: TaskOp) -> None:
        self._use_labels(op, ints_of(op.properties["labels"]))

    def _target(self, op: TaskOp, streams: Iterable[int]) -> None:
        for stream in streams:
            self._below(op, "target stream", stream, self.streams, "stream_num")

    def _pairs(self) -> None:
        for op, position, event, stream in self.waits:
            recorders = self.recorders.get(event)
            if recorders is None:
                self._fail(op, position, f"event {event} is recorded nowhere")
            if recorders == {stream}:
                self._fail(
                    op,
                    position,
                    f"event {event} is recorded only on stream {stream}, where it is waited for",
                )

    def _label_targets(self) -> None:
        for op, position, label in self.label_uses:
            if label not in self.label_sets:
                self._fail(op, position, f"label {label} is set nowhere")
