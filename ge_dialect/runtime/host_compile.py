"""From the steps of a host program to functions on its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.weights import array_of
from ge_dialect.dialects.ge_task import (
    AbsentOp,
    AllocOp,
    CaseOp,
    D2hOp,
    EnsureDeviceOp,
    EnsureHostOp,
    ExecuteOp,
    FreeOp,
    H2dOp,
    HostCallOp,
    HostConstOp,
    HostInputOp,
    HostOp,
    HostOutputOp,
    HostVariableOp,
    IfOp,
    InferShapeOp,
    LaunchOp,
    ListAppendOp,
    ListNewOp,
    ListStackOp,
    PlacedTensorType,
    Placement,
    ReadShapeOp,
    RecordOp,
    ShapeConstOp,
    ShapeOfOp,
    ShapeType,
    SyncOp,
    TilingOp,
    TilingType,
    ViewOp,
    WaitOp,
    WhileOp,
    YieldOp,
)
from ge_dialect.dialects.location import location_text
from ge_dialect.kernels import Value
from ge_dialect.kernels.device_profile import DeviceProfile
from ge_dialect.runtime import host_memory as memory
from ge_dialect.runtime.allocator import size_of
from ge_dialect.runtime.errors import LoadError
from ge_dialect.runtime.executor import ModelExecutable
from ge_dialect.runtime.feeds import dims_of
from ge_dialect.runtime.host_compute import execute_step, infer_step, tiling_step
from ge_dialect.runtime.host_filled import filled_first
from ge_dialect.runtime.host_nodes import Destination, NodeContext, Step, node_step, pool_of
from ge_dialect.runtime.host_state import HostState
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.properties import number, numbers, operand_groups


class Compiler:
    """Compiles one program.

    `slots` counts the values; `constants` are those that are there before a run (constants, variables), by slot.
    `mutable`: some step writes into storage that another value may see. `opaque`: operator types without a kernel.
    """

    def __init__(
        self,
        models: Mapping[str, ModelExecutable],
        options: DeviceOptions,
        profile: DeviceProfile,
    ) -> None:
        self._models = models
        self._options = options
        self._context = NodeContext(profile, options, False)
        self._slots: dict[SSAValue, int] = {}
        self.constants: dict[int, Value] = {}
        self.constant_bytes = 0
        self.mutable = False
        self._later: dict[SSAValue, Operation] = {}
        self._next_track = 1
        self.opaque: list[str] = []
        self._compilers: dict[type[Operation], Callable[..., Step | None]] = {
            HostInputOp: self._nothing,
            AbsentOp: self._nothing,
            HostOutputOp: self._output,
            HostConstOp: self._const,
            HostVariableOp: self._variable,
            LaunchOp: self._node,
            HostCallOp: self._node,
            ExecuteOp: self._execute,
            InferShapeOp: self._infer,
            TilingOp: self._tiling,
            ShapeOfOp: self._shape_of,
            ShapeConstOp: self._shape_const,
            ReadShapeOp: self._read_shape,
            AllocOp: self._alloc,
            FreeOp: self._free,
            ViewOp: self._view,
            H2dOp: partial(self._move, "h2d"),
            D2hOp: partial(self._move, "d2h"),
            EnsureDeviceOp: partial(self._ensure, Placement.DEVICE),
            EnsureHostOp: partial(self._ensure, Placement.HOST),
            SyncOp: self._sync,
            RecordOp: partial(self._event, memory.record),
            WaitOp: partial(self._event, memory.wait),
            IfOp: self._if,
            CaseOp: self._case,
            WhileOp: self._while,
            ListNewOp: self._list_new,
            ListAppendOp: self._list_append,
            ListStackOp: self._list_stack,
        }

    @property
    def slots(self) -> int:
        """The number of values of the program."""
        return len(self._slots)

    def slot(self, value: SSAValue) -> int:
        """The number of a value."""
        return self._slots.setdefault(value, len(self._slots))

    def program(self, program: HostOp) -> list[Step]:
        """The steps of a program. Raises LoadError, with the place, for a step that cannot run."""
        self._later = filled_first(program)
        self._next_track = max(1, program.stream_num.value.data)
        self.mutable = any(
            isinstance(op, LaunchOp | HostCallOp | ExecuteOp)
            and any(x not in self._later for x in op.outs)
            for op in program.walk()
        )
        self._context = replace(self._context, mutable=self.mutable)
        return self._block(program.body.block, ())

    # Blocks

    def _block(self, block: Block, kept: Sequence[SSAValue]) -> list[Step]:
        """The steps of a block; values that are defined in it are dropped behind their last reader, but for `kept`."""
        last_readers = self._last_readers(block)
        for value in kept:
            last_readers.pop(value, None)
        dying: dict[Operation, list[int]] = {}
        for value, reader in last_readers.items():
            if isinstance(reader, FreeOp):
                continue
            dying.setdefault(reader, []).append(self.slot(value))
        steps: list[Step] = []
        unread = [self.slot(x) for x in block.args if x not in last_readers and x not in kept]
        if unread:
            steps.append(_dropping(unread))
        for op in block.ops:
            if isinstance(op, YieldOp):
                continue
            step = self._step(op)
            if step is not None:
                steps.append(step)
            for result in op.results:
                if result not in last_readers and result not in kept and _is_held(result):
                    dying.setdefault(op, []).append(self.slot(result))
            if op in dying:
                droppable = [x for x in dying[op] if x not in self.constants]
                if droppable:
                    steps.append(_dropping(droppable))
        return steps

    def _last_readers(self, block: Block) -> dict[SSAValue, Operation]:
        """Of each value that the block defines and reads: the last op of the block that reads it, itself or inside."""
        last: dict[SSAValue, Operation] = {}
        results = (result for op in block.ops for result in op.results)
        defined = {x for x in (*block.args, *results) if _is_held(x)}
        for op in block.ops:
            for inner in op.walk() if op.regions else (op,):
                for operand in inner.operands:
                    if operand in defined:
                        last[operand] = op
        return last

    def _step(self, op: Operation) -> Step | None:
        compile_ = self._compilers.get(type(op))
        if compile_ is None:
            raise LoadError(f"'{op.name}' is no step of a host program", location_text(op))
        return compile_(op)

    def _ins(self, op: Operation) -> list[int]:
        return [self.slot(x) for x in op.operands]

    def _results(self, op: Operation) -> list[int]:
        return [self.slot(x) for x in op.results]

    def _groups(self, op: Operation) -> tuple[list[int], list[int]]:
        """Slots of `ins` and `outs`."""
        ins, outs, _ = operand_groups(op)
        return [self.slot(x) for x in ins], [self.slot(x) for x in outs]

    # One function a kind of step

    def _nothing(self, op: Operation) -> None:
        for result in op.results:
            self.slot(result)

    def _output(self, op: HostOutputOp) -> Step:
        index, slot = number(op, "index"), self.slot(op.operands[0])

        def step(state: HostState) -> None:
            state.outputs[index] = state.values[slot]

        return step

    def _const(self, op: HostConstOp) -> None:
        name = text_of(op.io_name) or op.results[0].name_hint or "constant"
        value = array_of(op.value, name, location_text(op))
        if not value.flags.aligned:
            value = value.copy()
        self.constants[self.slot(op.results[0])] = value
        self.constant_bytes += size_of(value)

    def _variable(self, op: HostVariableOp) -> None:
        type = op.results[0].type
        assert isinstance(type, PlacedTensorType)
        if op.value is not None:
            value = array_of(op.value, text_of(op.io_name) or "variable").copy()
        else:
            dtype, shape = _described(type, op)
            value = np.zeros(shape, dtype)
        self.constants[self.slot(op.results[0])] = value
        self.constant_bytes += size_of(value)

    def _node(self, op: LaunchOp | HostCallOp) -> Step:
        ins, _ = self._groups(op)
        outs = [self._destination(x) for x in op.outs]
        step, opaque = node_step(op, ins, outs, self._results(op), self._context)
        if opaque:
            self.opaque.append(text_of(op.type) or "")
        return step

    def _destination(self, value: SSAValue) -> Destination:
        made = value.owner
        if value not in self._later or not isinstance(made, AllocOp):
            return Destination(self.slot(value))
        shape = self.slot(made.operands[0]) if made.operands else None
        type = made.result.type
        assert isinstance(type, PlacedTensorType)
        dtype, static = _described(type, made, shape is None)
        return Destination(self.slot(value), True, shape, static, dtype)

    def _execute(self, op: ExecuteOp) -> Step:
        name = op.model.root_reference.data
        model = self._models.get(name)
        if model is None:
            raise LoadError(f"there is no task list @{name} beside the program", location_text(op))
        ins, outs = self._groups(op)
        first = self._next_track
        self._next_track += max(0, model.streams - 1)
        return execute_step(op, model, ins, outs, self._results(op), first)

    def _infer(self, op: InferShapeOp) -> Step:
        return infer_step(op, self._ins(op), self._results(op))

    def _tiling(self, op: TilingOp) -> Step:
        return tiling_step(op, self._results(op), [self.slot(x) for x in op.outs])

    def _shape_of(self, op: Operation) -> Step:
        return memory.shape_of(self.slot(op.operands[0]), self.slot(op.results[0]))

    def _read_shape(self, op: Operation) -> Step:
        return memory.read_shape(self._ins(op), self._results(op), number(op, "stream"))

    def _shape_const(self, op: ShapeConstOp) -> None:
        self.constants[self.slot(op.results[0])] = numbers(op, "dims")

    def _free(self, op: Operation) -> Step:
        return memory.free(self.slot(op.operands[0]))

    def _sync(self, op: Operation) -> Step:
        return memory.sync(number(op, "stream"))

    def _event(self, make: Callable[[int, int], Step], op: Operation) -> Step:
        return make(number(op, "event"), number(op, "stream"))

    def _list_new(self, op: Operation) -> Step:
        return memory.list_new(self.slot(op.results[0]))

    def _list_append(self, op: Operation) -> Step:
        return memory.list_append(self.slot(op.operands[0]), self.slot(op.operands[1]))

    def _alloc(self, op: AllocOp) -> Step:
        type = op.results[0].type
        assert isinstance(type, PlacedTensorType)
        shape = self.slot(op.operands[0]) if op.operands else None
        dtype, static = _described(type, op, shape is None)
        result, fill = self.slot(op.results[0]), self._options.fill_byte
        pool = pool_of(type, number(op, "stream"))
        if op.result in self._later:
            width = 16 if dtype.hasobject else dtype.itemsize
            filler = self._later[op.result]
            name = text_of(filler.attributes.get("ge.name")) or "alloc"
            index = number(filler, "op_index")
            return memory.alloc_later(shape, static, width, result, pool, name, index)
        return memory.alloc(shape, static, dtype, fill, result, pool)

    def _view(self, op: ViewOp) -> Step:
        type = op.results[0].type
        assert isinstance(type, PlacedTensorType)
        shape = self.slot(op.operands[1]) if len(op.operands) > 1 else None
        dtype, static = _described(type, op, shape is None)
        return memory.view(
            self.slot(op.operands[0]), shape, static, dtype, self.slot(op.results[0])
        )

    def _move(self, kind: str, op: H2dOp | D2hOp) -> Step:
        source, result = self.slot(op.operands[0]), self.slot(op.results[0])
        return memory.move(kind, source, result, number(op, "stream"))

    def _ensure(self, wanted: Placement, op: EnsureDeviceOp | EnsureHostOp) -> Step:
        type = op.operands[0].type
        known = type.placement.data if isinstance(type, PlacedTensorType) else Placement.ANY
        source, result = self.slot(op.operands[0]), self.slot(op.results[0])
        plain = isinstance(op.operands[0].owner, HostInputOp)
        return memory.ensure(wanted, known, source, result, plain)

    def _list_stack(self, op: ListStackOp) -> Step:
        type = op.results[0].type
        assert isinstance(type, PlacedTensorType)
        dtype, shape = _described(type, op, False)
        return memory.list_stack(
            self.slot(op.operands[0]),
            number(op, "axis"),
            op.reverse is not None,
            dtype,
            shape,
            self.slot(op.results[0]),
            pool_of(type),
        )

    # Regions

    def _region(self, region: Region) -> tuple[list[Step], list[int], list[Attribute]]:
        """Steps of a region, the slots that it yields and their types."""
        last = region.block.last_op
        yielded = tuple(last.operands) if isinstance(last, YieldOp) else ()
        steps = self._block(region.block, yielded)
        return steps, [self.slot(x) for x in yielded], [x.type for x in yielded]

    def _if(self, op: IfOp) -> Step:
        return self._choice(op, lambda state, slot: 0 if state.truth(slot) else 1)

    def _case(self, op: CaseOp) -> Step:
        count = len(op.regions)

        def pick(state: HostState, slot: int) -> int:
            index = state.index(slot)
            return index if 0 <= index < count else count - 1

        return self._choice(op, pick)

    def _choice(self, op: IfOp | CaseOp, pick: Callable[[HostState, int], int]) -> Step:
        condition = self.slot(op.operands[0])
        results = self._results(op)
        branches: list[tuple[list[Step], Step]] = []
        for region in op.regions:
            steps, yielded, types = self._region(region)
            own = self._defined_in(region, yielded)
            branches.append((steps, memory.hand_over(yielded, types, results, own)))

        def step(state: HostState) -> None:
            state.count("branch")
            steps, hand_over = branches[pick(state, condition)]
            for each in steps:
                each(state)
            hand_over(state)

        return step

    def _while(self, op: WhileOp) -> Step:
        results = self._results(op)
        init = [self.slot(x) for x in op.operands]
        arguments = [[self.slot(x) for x in region.block.args] for region in op.regions]
        check, condition, _ = self._region(op.cond)
        body, yielded, yielded_types = self._region(op.body)
        types = [result.type for result in op.results]
        into_loop = memory.hand_over(init, [x.type for x in op.operands], results)
        into_cond = memory.hand_over(results, types, arguments[0])
        into_body = memory.hand_over(results, types, arguments[1], results)
        own = self._defined_in(op.body, yielded)
        out_of_body = memory.hand_over(yielded, yielded_types, results, own)
        condition_is_own = self._defined_in(op.cond, condition)

        def step(state: HostState) -> None:
            state.count("loop")
            into_loop(state)
            while True:
                into_cond(state)
                for each in check:
                    each(state)
                goes_on = state.truth(condition[0])
                for slot in condition_is_own:
                    state.drop(slot)
                if not goes_on:
                    return
                state.count("iteration")
                into_body(state)
                for each in body:
                    each(state)
                out_of_body(state)

        return step

    def _defined_in(self, region: Region, yielded: Sequence[int]) -> list[int]:
        """Which of the yielded slots belong to the region itself, so that handing them over ends them."""
        block = region.block
        inside = {
            self.slot(value)
            for value in (*block.args, *(result for op in block.ops for result in op.results))
        }
        return [x for x in dict.fromkeys(yielded) if x in inside and x not in self.constants]


def _is_held(value: SSAValue) -> bool:
    """Whether a value holds storage: shapes and tilings are numbers, which nobody gives back."""
    return not isinstance(value.type, ShapeType | TilingType)


def _dropping(slots: Sequence[int]) -> Step:
    def step(state: HostState) -> None:
        for slot in slots:
            state.drop(slot)

    return step


def _described(
    type: PlacedTensorType, op: Operation, static: bool = True
) -> tuple[np.dtype, tuple[int, ...]]:
    """Element type and shape of a tensor type, unknown dimensions as -1. Raises LoadError for types numpy lacks."""
    tensor = type.tensor
    try:
        dtype = dtype_of(tensor.element_type).numpy
    except KeyError:
        dtype = None
    if dtype is None:
        raise LoadError(
            f"'{op.name}' of {tensor}: numpy has no such element type", location_text(op)
        )
    shape = dims_of(tensor)
    if static and (shape is None or -1 in shape):
        raise LoadError(f"'{op.name}' of {tensor} needs a shape", location_text(op))
    return dtype, shape or ()
