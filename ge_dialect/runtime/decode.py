"""From the tasks of a `ge_task.model` to instructions on a device's memory; each task is prepared exactly once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge_task import (
    TASK_KINDS,
    BufferOp,
    EndGraphOp,
    EventRecordOp,
    EventWaitOp,
    HcclOp,
    KernelTaskOp,
    LabelSetOp,
    MemcpyAddrAsyncOp,
    MemcpyAsyncOp,
    MemEventRecordOp,
    MemEventWaitOp,
    ModelExitOp,
    ModelOp,
    NotifyRecordOp,
    NotifyWaitOp,
    NpuGetFloatStatusOp,
    StreamActiveOp,
    StreamLabelGotoOp,
    StreamLabelSwitchByIndexOp,
    StreamSwitchNOp,
    StreamSwitchOp,
    TaskOp,
)
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels import Array
from ge_dialect.kernels.device_profile import DeviceProfile
from ge_dialect.kernels.spec import spec_of
from ge_dialect.kernels.work import counter_of
from ge_dialect.runtime.branches import (
    SWITCH_TYPES,
    label_switch,
    single,
    stream_switch,
    stream_switch_n,
)
from ge_dialect.runtime.collectives import Collective, alone, collective_of
from ge_dialect.runtime.compute import Operand, bind_task, copy_bytes
from ge_dialect.runtime.copy_kinds import DEVICE_TO_DEVICE, kind_mismatch
from ge_dialect.runtime.errors import LoadError
from ge_dialect.runtime.instruction import Action, Instruction
from ge_dialect.runtime.memory import Extent, Memory, extent_of
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.properties import number, numbers, operand_groups

WITH_WARNING = frozenset({20, 25})
"""Kinds that the static loader refuses and the emulator runs with a warning (choice E25)."""


def spaces_written(model: ModelOp) -> frozenset[str]:
    """The memory spaces that some task of the list writes."""
    spaces: set[str] = set()
    for op in model.body.block.ops:
        if isinstance(op, TaskOp):
            _, outs, workspaces = operand_groups(op)
            for value in (*outs, *workspaces):
                if isinstance(value.owner, BufferOp):
                    spaces.add(value.owner.space.data)
    return frozenset(spaces)


class Decoder:
    """Decodes the list of one model for one device."""

    def __init__(
        self,
        memory: Memory,
        options: DeviceOptions,
        profile: DeviceProfile,
        warn: Callable[[str], None],
    ) -> None:
        """`warn` gets what is odd but runs, once a task."""
        self._memory = memory
        self._options = options
        self._profile = profile
        self._warn = warn
        self._operands: dict[SSAValue, Operand | None] = {}
        self._sequence: dict[str, int] = {}
        self._fill_by_type: dict[type[TaskOp], Callable[[TaskOp, Instruction], None]] = {
            HcclOp: self._hccl,
            MemcpyAsyncOp: self._copy,
            MemcpyAddrAsyncOp: self._copy,
            NpuGetFloatStatusOp: self._status,
            EventRecordOp: partial(self._flag, Action.RECORD, "event"),
            EventWaitOp: partial(self._flag, Action.WAIT, "event"),
            NotifyRecordOp: partial(self._flag, Action.RECORD, "notify"),
            NotifyWaitOp: partial(self._flag, Action.WAIT, "notify"),
            MemEventRecordOp: partial(self._flag, Action.RECORD, "word"),
            MemEventWaitOp: partial(self._flag, Action.WAIT, "word"),
            StreamActiveOp: self._active,
            StreamSwitchOp: self._switch,
            StreamSwitchNOp: self._switch_n,
            LabelSetOp: self._label_set,
            StreamLabelGotoOp: self._goto,
            StreamLabelSwitchByIndexOp: self._label_switch,
            EndGraphOp: partial(self._end, Action.END),
            ModelExitOp: partial(self._end, Action.EXIT),
        }

    def decode(self, op: TaskOp, index: int) -> Instruction:
        """The instruction of the task at position `index` of the list.

        Raises LoadError, with the task and its place, for a kind that is not runnable or a kernel that cannot be bound.
        """
        kind = TASK_KINDS[op.TASK_TYPE]
        instruction = Instruction(
            index,
            text_of(op.attributes.get("ge.name")) or "",
            text_of(op.properties.get("type")) or "",
            kind,
            Action.NOTHING,
            number(op, "stream"),
        )
        if not kind.runnable:
            self._check_runnable(op, instruction)
        try:
            self._fill(op, instruction)
        except GeError as error:
            told = "" if error.message.startswith("task ") else f"{instruction}: "
            raise LoadError(
                f"{told}{error.message}", error.location or location_text(op)
            ) from error
        except (ValueError, TypeError, IndexError, KeyError, ArithmeticError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise LoadError(f"{instruction}: {problem}", location_text(op)) from error
        return instruction

    def _check_runnable(self, op: TaskOp, instruction: Instruction) -> None:
        if instruction.kind.number in WITH_WARNING and not self._options.strict_rt1:
            self._warn(
                f"{instruction}: the static loader has no runner for {instruction.kind.name}"
            )
            return
        raise LoadError(
            f"{instruction}: {instruction.kind.name} is not runnable, the static loader has no runner for it",
            location_text(op),
        )

    def _fill(self, op: TaskOp, instruction: Instruction) -> None:
        if op.operands:
            ins, outs, workspaces = operand_groups(op)
            instruction.reads = self._extents(ins)
            instruction.writes = self._extents((*outs, *workspaces))
        fill = self._fill_by_type.get(type(op))
        if fill is not None:
            fill(op, instruction)
        elif isinstance(op, KernelTaskOp):
            self._kernel(op, instruction)
        else:
            self._time(instruction, "marker")

    def _extents(self, values: Sequence[SSAValue]) -> tuple[Extent, ...]:
        return tuple(x.extent for value in values if (x := self._operand(value)) is not None)

    def _operand(self, value: SSAValue) -> Operand | None:
        """The view of a slot, None for an unwired one; made once a buffer."""
        try:
            return self._operands[value]
        except KeyError:
            owner = value.owner
            operand = None
            if isinstance(owner, BufferOp):
                operand = Operand(self._memory.view(owner), extent_of(owner))
            self._operands[value] = operand
            return operand

    def _view(self, value: SSAValue) -> Array | None:
        operand = self._operand(value)
        return None if operand is None else operand.view

    def _views(self, values: Sequence[SSAValue]) -> list[Operand | None]:
        return [self._operand(value) for value in values]

    def _time(self, instruction: Instruction, kind: str, size: int | None = None) -> None:
        if size is None:
            touched = (*instruction.reads, *instruction.writes)
            size = sum(extent.stop - extent.start for extent in touched)
        instruction.duration = self._profile.task(kind, size)

    # One function a kind of task

    def _kernel(self, op: TaskOp, instruction: Instruction) -> None:
        ins, outs, _ = operand_groups(op)
        if instruction.type == "MemSet" and not ins:
            self._clear(outs, instruction)
            return
        if op.payload is not None and "partially_supported" in op.payload.data:
            # The variant for what the kernel before it refuses; no kernel of the emulator refuses anything.
            self._time(instruction, "marker", 0)
            return
        spec = spec_of(op, len(outs))
        instruction.action = Action.COMPUTE
        instruction.run, instruction.opaque = bind_task(
            spec,
            self._views(ins),
            self._views(outs),
            self._options,
        )
        cost = self._profile.kernel(instruction.type, text_of(op.properties.get("engine")) or "")
        views = [
            [x if x is None else x.view for x in self._views(values)] for values in (ins, outs)
        ]
        instruction.duration = cost.of_work(counter_of(spec)(*views))

    def _hccl(self, op: TaskOp, instruction: Instruction) -> None:
        ins, outs, _ = operand_groups(op)
        spec = spec_of(op, len(outs))
        found = collective_of(spec, self._views(ins), self._views(outs))
        if found is None:
            self._kernel(op, instruction)
            return
        self._time(instruction, "collective")
        if self._options.ranks == 1:
            instruction.action = Action.COMPUTE
            instruction.run = alone(found)
            return
        instruction.action = Action.COLLECTIVE
        instruction.collective = self._numbered(found)

    def _numbered(self, found: Collective) -> Collective:
        """The collective with its place among those of its group, in issue order."""
        sequence = self._sequence.get(found.channel, 0)
        self._sequence[found.channel] = sequence + 1
        found.sequence = sequence
        return found

    def _copy(self, op: TaskOp, instruction: Instruction) -> None:
        source, target = op.operands[0].owner, op.operands[1].owner
        count = number(op, "count")
        if not (isinstance(source, BufferOp) and isinstance(target, BufferOp)):
            raise LoadError(f"{instruction}: copies from or to an absent buffer", location_text(op))
        from_, to = self._memory.raw(source), self._memory.raw(target)
        limit = number(op, "dst_max", to.size)
        for what, size in (("source", from_.size), ("destination", to.size), ("dst_max", limit)):
            if count > size:
                raise LoadError(
                    f"{instruction}: count {count} is more than the {size} bytes of {what}",
                    location_text(op),
                )
        one, other = extent_of(source), extent_of(target)
        instruction.reads = (Extent(one.space, one.start, one.start + count),)
        instruction.writes = (Extent(other.space, other.start, other.start + count),)
        wrong = kind_mismatch(number(op, "kind", DEVICE_TO_DEVICE), one, other)
        if wrong is not None:
            self._warn(f"{instruction}: {wrong}")
        instruction.action = Action.COMPUTE
        instruction.run = copy_bytes(from_, to, count)
        self._time(instruction, "memcpy", count)

    def _status(self, op: TaskOp, instruction: Instruction) -> None:
        _, outs, _ = operand_groups(op)
        self._clear(outs, instruction)
        self._time(instruction, "marker")

    def _clear(self, outs: Sequence[SSAValue], instruction: Instruction) -> None:
        views = [x.view for x in self._views(outs) if x is not None]

        def clear() -> None:
            for view in views:
                view[...] = np.zeros((), view.dtype)

        instruction.action = Action.COMPUTE
        instruction.run = clear
        self._time(instruction, "memcpy")

    def _flag(self, action: Action, kind: str, op: TaskOp, instruction: Instruction) -> None:
        instruction.action = action
        instruction.flag = (kind, number(op, kind))
        self._time(instruction, "sync")

    def _active(self, op: TaskOp, instruction: Instruction) -> None:
        instruction.action = Action.ACTIVATE
        instruction.target = number(op, "active_stream")
        self._time(instruction, "control")

    def _switch(self, op: TaskOp, instruction: Instruction) -> None:
        wanted = SWITCH_TYPES[number(op, "data_type")]
        left, right = (single(self._view(value), 1, str(instruction)) for value in op.operands)
        for view in (left, right):
            if view.dtype != wanted:
                self._convert(f"{instruction}: an operand is {view.dtype}, compared as {wanted}")
        instruction.action = Action.SWITCH
        instruction.choose = stream_switch(
            left, right, number(op, "condition"), wanted, number(op, "true_stream")
        )
        self._time(instruction, "control")

    def _convert(self, message: str) -> None:
        """Choice E3."""
        if self._options.switch_operand_types == "error":
            raise LoadError(message)
        self._warn(message)

    def _switch_n(self, op: TaskOp, instruction: Instruction) -> None:
        wanted = SWITCH_TYPES[number(op, "data_type", 1)]
        streams: list[int] = list(numbers(op, "true_streams"))
        values: list[int] = list(numbers(op, "targets"))
        targets = np.array(values, wanted).reshape(len(streams), -1)
        row = single(self._view(op.operands[0]), targets.shape[1], str(instruction))
        instruction.action = Action.SWITCH
        instruction.choose = stream_switch_n(
            row, targets, streams, self._options.switch_n_no_match == "ignore", str(instruction)
        )
        self._time(instruction, "control")

    def _label_set(self, op: TaskOp, instruction: Instruction) -> None:
        instruction.label = number(op, "label")
        self._time(instruction, "control")

    def _goto(self, op: TaskOp, instruction: Instruction) -> None:
        instruction.action = Action.GOTO
        instruction.target = number(op, "label")
        self._time(instruction, "control")

    def _label_switch(self, op: TaskOp, instruction: Instruction) -> None:
        labels: list[int] = list(numbers(op, "labels"))
        index = single(self._view(op.operands[0]), 1, str(instruction))
        instruction.action = Action.GOTO
        instruction.choose = label_switch(
            index, labels, self._options.label_index == "clamp_last", str(instruction)
        )
        self._time(instruction, "control")

    def _end(self, action: Action, op: TaskOp, instruction: Instruction) -> None:
        instruction.action = action
        self._time(instruction, "marker")
