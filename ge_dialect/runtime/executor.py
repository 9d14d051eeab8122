"""Loading a task list onto emulated devices, and running steps of it.

Everything that does not depend on data is done once: views of buffers, bound kernels and, where the list has no
decision that is taken from memory, even the order in which the streams take turns. A step then loops over functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NoReturn

import numpy as np
from xdsl.dialects.builtin import IntegerAttr

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge_task import (
    BufferOp,
    ModelOp,
    StreamActiveOp,
    StreamSwitchNOp,
    StreamSwitchOp,
)
from ge_dialect.kernels import Array, Value
from ge_dialect.kernels.device_profile import DeviceProfile, load_profile
from ge_dialect.runtime.cluster import Cluster
from ge_dialect.runtime.compute import Thunk
from ge_dialect.runtime.decode import Decoder, spaces_written
from ge_dialect.runtime.device import Device
from ge_dialect.runtime.errors import LoadError, RunError
from ge_dialect.runtime.faults import KERNEL_FAULTS, task_fault
from ge_dialect.runtime.feeds import Feeds, TensorSlot, order_feeds
from ge_dialect.runtime.instruction import Instruction
from ge_dialect.runtime.memory import WEIGHT_SPACE, Memory, extent_of
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.properties import number, numbers
from ge_dialect.runtime.report import RunReport
from ge_dialect.runtime.savings import savings_of
from ge_dialect.runtime.timeline import Flow, Interval
from ge_dialect.runtime.trap import trapped


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a step gave: outputs by name (of rank 0, in the order of the program's outputs) and the report.

    `ranks` holds the outputs of every rank. Outputs are the caller's: later steps do not change them.
    """

    outputs: dict[str, Value]
    report: RunReport
    ranks: tuple[dict[str, Value], ...]
    timeline: tuple[tuple[Interval, ...], ...] = ()
    flows: tuple[tuple[Flow, ...], ...] = ()

    def __getitem__(self, name: str) -> Value:
        """The output called `name` of rank 0. Raises KeyError."""
        return self.outputs[name]


@dataclass(slots=True)
class _Rank:
    """One device with its memory; `inputs`/`outputs` hold the views of each model input and output."""

    device: Device
    inputs: list[list[Array]]
    outputs: list[Array]
    instructions: list[Instruction]


@dataclass(slots=True)
class _Plan:
    """One order of a step: what to call, and what the device said when the order was found."""

    thunks: list[Thunk] = field(default_factory=list[Thunk])
    tasks: list[Instruction | None] = field(default_factory=list["Instruction | None"])


class ModelExecutable:
    """A `ge_task.model` on one or several emulated devices."""

    def __init__(
        self,
        models: Sequence[ModelOp],
        options: DeviceOptions,
        profile: DeviceProfile | None = None,
    ) -> None:
        """`models`: one for all ranks, or one a rank.

        Raises LoadError when a list cannot run: memory, kinds of tasks, kernels; ProfileError for the profile.
        """
        self.options = options
        self.profile = profile or load_profile(options.profile)
        self._model = models[0]
        if len(models) not in (1, options.ranks):
            raise LoadError(f"{len(models)} programs are given for {options.ranks} ranks")
        self._load_warnings: dict[str, None] = {}
        self._ranks = [
            self._load_rank(models[rank if len(models) > 1 else 0], rank)
            for rank in range(options.ranks)
        ]
        self._cluster = Cluster([rank.device for rank in self._ranks], options)
        self.savings = savings_of(self._model)
        self._opaque = sum(x.opaque for x in self._ranks[0].instructions)
        self._step = 0
        self._plan: _Plan | None = None
        self._is_static = self._decide_static()

    def _load_rank(self, model: ModelOp, rank: int) -> _Rank:
        buffers = model.buffers()
        memory = Memory(model.arena_sizes(), buffers, spaces_written(model), self.options.fill_byte)
        decoder = Decoder(memory, self.options, self.profile, self._load_warnings.setdefault)
        instructions = [decoder.decode(op, index) for index, op in enumerate(model.tasks())]
        slots, inputs = _io(model, buffers, memory, "input")
        output_slots, outputs = _io(model, buffers, memory, "output")
        if rank == 0:
            self.inputs, self.outputs = slots, output_slots
        elif (self.inputs, self.outputs) != (slots, output_slots):
            raise LoadError(
                f"the program of rank {rank} has other inputs or outputs than that of rank 0"
            )
        if self.options.trap_uninitialised:
            known = [extent_of(x) for x in buffers if x.value is not None or x.input is not None]
            trapped(instructions, memory.sizes, known)
        device = Device(
            rank,
            instructions,
            model.stream_num.value.data,
            not_started(model),
            self.options,
        )
        return _Rank(device, inputs, [views[0] for views in outputs], instructions)

    def _decide_static(self) -> bool:
        """Whether one order serves every step: nothing is decided from memory and no order is drawn."""
        if self.options.order == "random" or self.options.trap_uninitialised:
            return False
        return all(x.choose is None for rank in self._ranks for x in rank.instructions)

    def run(self, feeds: Feeds) -> RunResult:
        """One step with the same inputs on every rank, given by name or in order.

        Raises FeedError for wrong inputs, TaskError, DeadlockError, RunawayError and RunError.
        """
        return self.run_ranks([feeds] * len(self._ranks))

    def run_ranks(self, feeds: Sequence[Feeds]) -> RunResult:
        """One step with inputs of its own for each rank. Raises what `run` raises."""
        if len(feeds) != len(self._ranks):
            raise RunError(f"inputs for {len(feeds)} ranks are given, there are {len(self._ranks)}")
        begun = perf_counter()
        for rank, given in zip(self._ranks, feeds, strict=True):
            for views, value in zip(rank.inputs, order_feeds(self.inputs, given), strict=True):
                for view in views:
                    np.copyto(view, value)
        with np.errstate(all="ignore"):
            self._execute()
        outputs = tuple(
            {slot.name: view.copy() for slot, view in zip(self.outputs, rank.outputs, strict=True)}
            for rank in self._ranks
        )
        wall = (perf_counter() - begun) * 1e6
        report = self._report(wall)
        if not self.options.record_timeline:
            return RunResult(outputs[0], report, outputs)
        devices = [rank.device for rank in self._ranks]
        timeline = tuple(tuple(device.intervals) for device in devices)
        flows = tuple(tuple(device.flows) for device in devices)
        return RunResult(outputs[0], report, outputs, timeline, flows)

    def _execute(self) -> None:
        if not self._is_static:
            self._step += 1
            self._cluster.run(self._step, _run_task, _call)
            return
        if self._plan is None:
            self._plan = self._make_plan()
        thunk: Thunk | None = None
        try:
            for thunk in self._plan.thunks:
                thunk()
        except KERNEL_FAULTS as error:
            self._fail(self._plan, thunk, error)

    def _make_plan(self) -> _Plan:
        """Run the scheduler once without computing: it raises what it would raise in a step."""
        plan = _Plan()

        def task(instruction: Instruction) -> None:
            assert instruction.run is not None
            plan.thunks.append(instruction.run)
            plan.tasks.append(instruction)

        def collective(thunk: Thunk) -> None:
            plan.thunks.append(thunk)
            plan.tasks.append(None)

        self._cluster.run(0, task, collective)
        return plan

    def _fail(self, plan: _Plan, thunk: Thunk | None, error: Exception) -> NoReturn:
        for candidate, task in zip(plan.thunks, plan.tasks, strict=True):
            if candidate is thunk and task is not None:
                raise task_fault(str(task), error) from error
        raise error

    def _report(self, wall: float) -> RunReport:
        model = self._model
        rank = self._ranks[0]
        device = rank.device
        arenas = model.arena_sizes()
        moved_in = [views[0].nbytes for views in rank.inputs]
        moved_out = [view.nbytes for view in rank.outputs]
        host = self.profile.host
        host_us = {
            "h2d": sum(host["h2d"].issue_us + host["h2d"].of(size) for size in moved_in),
            "execute": host["execute"].of(),
            "idle": self.device_time,
            "stream_sync": host["stream_sync"].of(),
            "d2h": sum(host["d2h"].issue_us + host["d2h"].of(size) for size in moved_out),
        }
        bound = model.attributes.get("ge.lower_bound_bytes")
        plain_bound = model.attributes.get("ge.plain_bound_bytes")
        warnings = dict.fromkeys([*self._load_warnings, *device.warnings])
        return RunReport(
            model=text_of(model.sym_name) or "",
            profile=self.profile.name,
            tasks=device.executed,
            by_kind=dict(sorted(device.counts.items())),
            launches=1,
            h2d=len(moved_in),
            d2h=len(moved_out),
            syncs=1,
            streams=model.stream_num.value.data,
            events=model.event_num.value.data,
            allocations=sum(1 for size in arenas.values() if size),
            opaque_tasks=self._opaque,
            virtual_nodes=self.savings.nodes,
            skipped_inits=self.savings.inits,
            avoided_launches=self.savings.launches,
            unmoved_bytes=self.savings.bytes,
            peak_bytes=arenas.get("hbm", 0),
            feature_map_bytes=arenas.get("hbm", 0) - model.zero_copy_size.value.data,
            lower_bound_bytes=bound.value.data if isinstance(bound, IntegerAttr) else None,
            lower_bound_kind=text_of(model.attributes.get("ge.lower_bound_kind")) or "",
            plain_bound_bytes=plain_bound.value.data
            if isinstance(plain_bound, IntegerAttr)
            else None,
            weight_bytes=arenas.get(WEIGHT_SPACE, 0),
            arenas=arenas,
            moved_bytes=sum(moved_in) + sum(moved_out),
            simulated_us=sum(host_us.values()),
            host_us=host_us,
            device_us=dict(device.worked),
            wall_us=wall,
            warnings=list(warnings),
        )

    @property
    def feature_map_bytes(self) -> int:
        """Bytes of device memory that the list keeps for itself; inputs and outputs are the caller's."""
        arena = self._model.arena_sizes().get("hbm", 0)
        return arena - self._model.zero_copy_size.value.data

    @property
    def weight_bytes(self) -> int:
        """Bytes of the list's constants."""
        return self._model.arena_sizes().get(WEIGHT_SPACE, 0)

    @property
    def streams(self) -> int:
        """The number of the list's streams."""
        return self._model.stream_num.value.data

    @property
    def device_time(self) -> float:
        """Simulated microseconds that the devices took for the last step, without the host's part."""
        return max(rank.device.time for rank in self._ranks)

    def opaque_types(self) -> list[str]:
        """The operator types that are computed as opaque bytes (choice E20), in alphabetical order."""
        return sorted({x.type for rank in self._ranks for x in rank.instructions if x.opaque})


def _run_task(instruction: Instruction) -> None:
    assert instruction.run is not None
    try:
        instruction.run()
    except KERNEL_FAULTS as error:
        raise task_fault(str(instruction), error) from error


def _call(thunk: Thunk) -> None:
    thunk()


def not_started(model: ModelOp) -> frozenset[int]:
    """Streams that do not run before they are activated (spec/tasks.md 3.1).

    They are the targets of switches, and of the StreamActive nodes that stand for a branch: those carry
    `_switch_branch_node_label` in their payload.
    """
    found: set[int] = set()
    for op in model.body.block.ops:
        if isinstance(op, StreamSwitchOp):
            found.add(number(op, "true_stream"))
        elif isinstance(op, StreamSwitchNOp):
            found.update(numbers(op, "true_streams"))
        elif isinstance(op, StreamActiveOp):
            payload = op.payload
            if payload is not None and "_switch_branch_node_label" in payload.data:
                found.add(number(op, "active_stream"))
    return frozenset(found)


def _io(
    model: ModelOp, buffers: Sequence[BufferOp], memory: Memory, role: str
) -> tuple[list[TensorSlot], list[list[Array]]]:
    """The model's inputs or outputs in order, each with all its views (one for every place it lies at).

    Raises LoadError when a number is left out.
    """
    found: dict[int, list[BufferOp]] = {}
    for buffer in buffers:
        if role in buffer.properties:
            found.setdefault(number(buffer, role), []).append(buffer)
    slots: list[TensorSlot] = []
    views: list[list[Array]] = []
    for index in range(max(found, default=-1) + 1):
        if index not in found:
            raise LoadError(f"@{text_of(model.sym_name)}: no buffer holds {role} {index}")
        places = {extent_of(buffer): buffer for buffer in reversed(found[index])}
        first = found[index][0]
        view = memory.view(first)
        name = next((text for x in found[index] if (text := text_of(x.io_name))), f"{role}{index}")
        slots.append(TensorSlot(name, view.dtype, view.shape))
        views.append([view, *(memory.view(x) for x in places.values() if x is not first)])
    return slots, views
