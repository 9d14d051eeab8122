"""Host programs: compiled once to a list of functions on a state, then run.

The emulated host takes the steps in their order and computes at once what it issues to streams; the streams exist on
the simulated clock. Values are dropped behind their last reader, which gives their storage back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from xdsl.ir import Attribute

from ge_dialect.dialects.attrs import array_items, text_of
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge_task import (
    HostInputOp,
    HostOp,
    HostOutputOp,
    ModelOp,
    PlacedTensorType,
    Placement,
)
from ge_dialect.kernels import Value
from ge_dialect.kernels.device_profile import DeviceProfile, load_profile
from ge_dialect.kernels.spec import is_array
from ge_dialect.runtime.allocator import BORROWED, Allocator, Cache, Storage, size_of
from ge_dialect.runtime.errors import LoadError, RunError
from ge_dialect.runtime.executor import ModelExecutable, RunResult
from ge_dialect.runtime.feeds import Feeds, TensorSlot, check_dims, dims_of, order_feeds
from ge_dialect.runtime.host_compile import Compiler
from ge_dialect.runtime.host_state import Clock, HostState
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.report import RunReport


class HostExecutable:
    """A `ge_task.host` program with the task lists that it executes."""

    def __init__(
        self,
        program: HostOp,
        models: Mapping[str, ModelOp],
        options: DeviceOptions,
        profile: DeviceProfile | None = None,
    ) -> None:
        """Raises LoadError for several ranks and for types without a kernel, and what loading the lists raises."""
        if options.ranks != 1:
            raise LoadError("a host program runs on one rank; only task lists run on several")
        self.options = options
        self.profile = profile or load_profile(options.profile)
        self._program = program
        loaded = {
            name: ModelExecutable([model], options, self.profile) for name, model in models.items()
        }
        self._models = loaded
        self._cache = Cache()
        self._compiler = compiler = Compiler(loaded, options, self.profile)
        self._steps = compiler.program(program)
        inputs = [op for op in program.body.block.ops if isinstance(op, HostInputOp)]
        outputs = [op for op in program.body.block.ops if isinstance(op, HostOutputOp)]
        inputs.sort(key=lambda op: op.index.value.data)
        outputs.sort(key=lambda op: op.index.value.data)
        self.inputs = [
            _slot("input", op.index.value.data, text_of(op.io_name), op.result.type)
            for op in inputs
        ]
        self.outputs = [
            _slot("output", op.index.value.data, text_of(op.io_name), op.value.type)
            for op in outputs
        ]
        self._dim_names = [_dim_names(op) for op in inputs]
        self._input_slots = [compiler.slot(op.result) for op in inputs]
        self._on_device = [_place(op.result.type) is Placement.DEVICE for op in inputs]
        self._output_numbers = [op.index.value.data for op in outputs]
        self._device_outputs = [_place(op.value.type) is Placement.DEVICE for op in outputs]

    def run(self, feeds: Feeds) -> RunResult:
        """One run on `feeds`, by name or in order. Raises FeedError, TaskError, RunawayError and RunError."""
        begun = perf_counter()
        values = order_feeds(self.inputs, feeds)
        check_dims(self.inputs, self._dim_names, values)
        state = self._fresh_state()
        for slot, value, moved in zip(self._input_slots, values, self._on_device, strict=True):
            if moved:
                self._move(state, "h2d", size_of(value))
            if self._compiler.mutable and is_array(value):
                value = value.copy()
            state.define(slot, value, state.new_storage(size_of(value), 0) if moved else BORROWED)
        with np.errstate(all="ignore"):
            for step in self._steps:
                step(state)
        outputs: dict[str, Value] = {}
        for slot, number, moved in zip(
            self.outputs, self._output_numbers, self._device_outputs, strict=True
        ):
            value = state.outputs[number]
            if moved:
                self._move(state, "d2h", size_of(value))
            outputs[slot.name] = value.copy() if is_array(value) else value
        clock = state.clock
        for stream in range(len(clock.streams)):
            clock.wait_for(stream)
        state.finish()
        wall = (perf_counter() - begun) * 1e6
        report = self._report(state, wall)
        if not self.options.record_timeline:
            return RunResult(outputs, report, (outputs,))
        return RunResult(
            outputs, report, (outputs,), (tuple(clock.intervals),), (tuple(clock.flows),)
        )

    def run_ranks(self, feeds: Sequence[Feeds]) -> RunResult:
        """`run` with the inputs of the one rank there is. Raises RunError for another number of them."""
        if len(feeds) != 1:
            raise RunError(f"inputs for {len(feeds)} ranks are given, a host program has one")
        return self.run(feeds[0])

    def opaque_types(self) -> list[str]:
        """The operator types that are computed as opaque bytes (choice E20), in alphabetical order."""
        found = set(self._compiler.opaque)
        for model in self._models.values():
            found.update(model.opaque_types())
        return sorted(found)

    def _fresh_state(self) -> HostState:
        compiler = self._compiler
        clock = Clock(
            self.profile,
            [0.0] * max(1, self._program.stream_num.value.data),
            self.options.record_timeline,
        )
        values: list[Value] = [None] * compiler.slots
        storages: list[Storage] = [BORROWED] * compiler.slots
        for slot, value in compiler.constants.items():
            values[slot] = value
        allocator = Allocator(self._cache)
        return HostState(values, storages, {}, clock, self.options.max_tasks, allocator)

    def _move(self, state: HostState, kind: str, size: int) -> None:
        """A copy of a model input or output between the memories, which the caller waits for."""
        state.counts[kind] = state.counts.get(kind, 0) + 1
        state.moved += size
        clock = state.clock
        if kind == "d2h":
            for stream in range(len(clock.streams)):
                clock.wait_for(stream)
        clock.copy(kind, 0, size)
        clock.wait_for(0)

    def _report(self, state: HostState, wall: float) -> RunReport:
        counts = state.counts
        allocator, clock = state.allocator, state.clock
        arenas = {name: model.feature_map_bytes for name, model in self._models.items()}
        known = ("launch", "execute", "host_call", "h2d", "d2h", "sync")
        return RunReport(
            model=text_of(self._program.sym_name) or "",
            profile=self.profile.name,
            tasks=sum(state.device_tasks.values()),
            by_kind=dict(sorted(state.device_tasks.items())),
            steps={kind: n for kind, n in sorted(counts.items()) if kind not in known},
            launches=counts.get("launch", 0) + counts.get("execute", 0),
            host_calls=counts.get("host_call", 0),
            h2d=counts.get("h2d", 0),
            d2h=counts.get("d2h", 0),
            syncs=counts.get("sync", 0),
            streams=self._program.stream_num.value.data,
            events=self._program.event_num.value.data,
            allocations=allocator.allocations,
            cache_misses=allocator.missed,
            opaque_tasks=len(self._compiler.opaque),
            virtual_nodes=sum(model.savings.nodes for model in self._models.values()),
            skipped_inits=sum(model.savings.inits for model in self._models.values()),
            avoided_launches=state.avoided_launches,
            unmoved_bytes=state.unmoved_bytes,
            peak_bytes=allocator.peak + sum(arenas.values()),
            feature_map_bytes=allocator.peak + sum(arenas.values()),
            host_peak_bytes=allocator.host_peak,
            reserved_bytes=allocator.cache.reserved + sum(arenas.values()),
            weight_bytes=self._compiler.constant_bytes
            + sum(model.weight_bytes for model in self._models.values()),
            arenas=arenas,
            moved_bytes=state.moved,
            simulated_us=clock.end,
            host_us=dict(clock.host_us),
            device_us=dict(clock.device_us),
            wall_us=wall,
        )


def _dim_names(op: HostInputOp) -> list[str] | None:
    """The names of an input's dimensions, None when the model has not told any."""
    names = array_items(op.attributes.get("ge.dim_names"))
    return [text_of(x) or "" for x in names] or None


def _place(type: Attribute) -> Placement | None:
    return type.placement.data if isinstance(type, PlacedTensorType) else None


def _slot(role: str, index: int, name: str | None, type: Attribute) -> TensorSlot:
    """How an input or output is described; values that are no tensors have no element type."""
    shown = name if name is not None else f"{role}{index}"
    if not isinstance(type, PlacedTensorType):
        return TensorSlot(shown, None, None)
    try:
        dtype = dtype_of(type.tensor.element_type).numpy
    except KeyError:
        dtype = None
    shape = dims_of(type.tensor)
    return TensorSlot(shown, dtype, shape)
