"""Checks of a host program that need its header, all its steps, or the task lists beside it: linear in the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.ge_task.buffer import AbsentOp, BufferOp
from ge_dialect.dialects.ge_task.host_compute import DestinationStepOp, ExecuteOp, HostCallOp
from ge_dialect.dialects.ge_task.host_control import YieldOp
from ge_dialect.dialects.ge_task.host_memory import (
    AllocOp,
    FreeOp,
    MoveStepOp,
    RecordOp,
    ViewOp,
    WaitOp,
)
from ge_dialect.dialects.ge_task.host_step import HostStepOp
from ge_dialect.dialects.ge_task.host_values import (
    HostConstOp,
    HostInputOp,
    HostOutputOp,
    HostVariableOp,
)
from ge_dialect.dialects.ge_task.model import ModelOp

if TYPE_CHECKING:
    from ge_dialect.dialects.ge_task.host import HostOp


def verify_program(program: HostOp) -> None:
    """Raise VerifyException at the first rule that the program breaks."""
    streams, events = program.stream_num.value.data, program.event_num.value.data
    inputs: set[int] = set()
    outputs: set[int] = set()
    recorders: dict[int, set[int]] = {}
    waits: list[tuple[int, int]] = []
    models = _ModelsBeside(program)
    ends, unwritten = _Ends(), _Unwritten()
    for op in program.walk():
        ends.verify(op)
        unwritten.verify(op)
        match op:
            case HostInputOp():
                _once(op, inputs, op.index.value.data)
            case HostOutputOp():
                _once(op, outputs, op.index.value.data)
            case RecordOp():
                recorders.setdefault(op.event.value.data, set()).add(op.stream.value.data)
            case WaitOp():
                waits.append((op.event.value.data, op.stream.value.data))
            case ExecuteOp():
                models.verify_call(op)
            case HostStepOp() | AbsentOp() | YieldOp():
                pass
            case _ if op is not program:
                raise VerifyException(
                    f"'{program.name}' holds steps of a host program, '{op.name}' is none"
                )
            case _:
                continue
        _below(op, "stream", streams, "stream_num")
        _below(op, "event", events, "event_num")
    for event, stream in waits:
        found = recorders.get(event)
        if found is None:
            raise VerifyException(f"'{WaitOp.name}' event {event} is recorded nowhere")
        if found == {stream}:
            raise VerifyException(
                f"'{WaitOp.name}' event {event} is recorded only on stream {stream}, where it is waited for"
            )


class _Ends:
    """The values that a `free` in the block that made them has ended so far."""

    def __init__(self) -> None:
        self.freed: set[SSAValue] = set()

    def verify(self, op: Operation) -> None:
        """Raise VerifyException for a step that reads what has ended, or ends what the program does not own."""
        if self.freed:
            for index, operand in enumerate(op.operands):
                if operand in self.freed:
                    raise VerifyException(
                        f"'{op.name}' operand {index} has ended: a 'ge_task.free' is before"
                    )
        if not isinstance(op, FreeOp):
            return
        owner = op.tensor.owner
        if isinstance(owner, HostInputOp | HostConstOp | HostVariableOp):
            raise VerifyException(
                f"'{op.name}' takes what '{owner.name}' gives, which outlives the run"
            )
        if (owner if isinstance(owner, Block) else owner.parent) is op.parent:
            self.freed.add(op.tensor)


_SHAPE_ONLY = frozenset({"Shape", "ShapeN", "Size", "Rank", "GatherShapes"})
"""Host calls that take the numbers out of the shape record and do not touch the tensor (host_execution.md 10.3)."""


class _Unwritten:
    """Allocated storage that no step in front has been given as a destination, by the values that show it."""

    def __init__(self) -> None:
        self.storage: dict[SSAValue, SSAValue] = {}
        self.written: set[SSAValue] = set()

    def verify(self, op: Operation) -> None:
        """Raise VerifyException for a step that reads the bytes of such storage."""
        if isinstance(op, AllocOp):
            self.storage[op.result] = op.result
            return
        if isinstance(op, ViewOp):
            if op.tensor in self.storage:
                self.storage[op.result] = self.storage[op.tensor]
            return
        for value in self._read(op):
            if value in self.storage and self.storage[value] not in self.written:
                raise VerifyException(
                    f"'{op.name}' reads a tensor that no step in front of it writes, only a 'ge_task.alloc' makes"
                )
        if isinstance(op, DestinationStepOp):
            self.written.update(self.storage[x] for x in op.outs if x in self.storage)

    def _read(self, op: Operation) -> Sequence[SSAValue]:
        match op:
            case HostCallOp() if op.type.data in _SHAPE_ONLY:
                return ()
            case DestinationStepOp():
                return op.ins
            case MoveStepOp() | HostOutputOp():
                return op.operands
            case _:
                return ()


def _below(op: Operation, what: str, limit: int, count: str) -> None:
    number = op.properties.get(what)
    if isinstance(number, IntegerAttr) and number.value.data >= limit:
        raise VerifyException(
            f"'{op.name}' {what} {number.value.data} is out of range: {count} is {limit}"
        )


def _once(op: Operation, seen: set[int], index: int) -> None:
    parent = op.parent_op()
    if parent is None or parent.name != "ge_task.host":
        raise VerifyException(
            f"'{op.name}' stands inside a region, it should be a step of the program"
        )
    if index in seen:
        raise VerifyException(f"'{op.name}' {index} is there twice")
    seen.add(index)


class _ModelsBeside:
    """The task lists next to the program, with the number of inputs and outputs of those that are called."""

    def __init__(self, program: Operation) -> None:
        block = program.parent_block()
        self.models = {
            op.sym_name.data: op
            for op in (block.ops if block is not None else ())
            if isinstance(op, ModelOp)
        }
        self.complete = block is not None
        self.arities: dict[str, tuple[int, int]] = {}

    def verify_call(self, op: ExecuteOp) -> None:
        """Raise VerifyException unless the model is there and has no more inputs and outputs than the step gives."""
        if not self.complete:
            return
        name = op.model.root_reference.data
        model = self.models.get(name)
        if model is None:
            raise VerifyException(f"'{op.name}' there is no task list @{name} beside the program")
        if name not in self.arities:
            self.arities[name] = _arity(model)
        needed = self.arities[name]
        given = len(op.ins), len(op.outs) + len(op.results)
        for what, need, got in zip(("inputs", "outputs"), needed, given, strict=True):
            if got < need:
                raise VerifyException(f"'{op.name}' @{name} has {need} {what}, got {got}")


def _arity(model: ModelOp) -> tuple[int, int]:
    """One more than the highest input and output number of a model's buffers."""
    counts = {"input": 0, "output": 0}
    for op in model.body.block.ops:
        if isinstance(op, BufferOp):
            for role in counts:
                number = op.properties.get(role)
                if isinstance(number, IntegerAttr):
                    counts[role] = max(counts[role], number.value.data + 1)
    return counts["input"], counts["output"]
