"""Launches and host calls of a host program, as functions on the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge_task import HostCallOp, LaunchOp, PlacedTensorType, Placement
from ge_dialect.dialects.location import location_text
from ge_dialect.kernels import Array, OpSpec, UnsupportedOpError, Value, find
from ge_dialect.kernels.device_profile import DeviceProfile
from ge_dialect.kernels.kernel import as_value
from ge_dialect.kernels.shapes.facts import is_data_dependent
from ge_dialect.kernels.shapes.unknown_types import UnknownShapeType, unknown_shape_type
from ge_dialect.kernels.spec import is_array, spec_of
from ge_dialect.kernels.work import counter_of
from ge_dialect.runtime.allocator import HOST_POOL, size_of
from ge_dialect.runtime.collectives import alone, collective_of, is_collective
from ge_dialect.runtime.compute import Operand, opaque_thunk
from ge_dialect.runtime.errors import LoadError, TaskError
from ge_dialect.runtime.faults import KERNEL_FAULTS, task_fault
from ge_dialect.runtime.host_memory import read_back, synchronise
from ge_dialect.runtime.host_state import HostState
from ge_dialect.runtime.memory import Extent
from ge_dialect.runtime.options import DeviceOptions
from ge_dialect.runtime.properties import number

Step: TypeAlias = Callable[[HostState], None]
Compute: TypeAlias = Callable[[Sequence[Value]], list[Value]]

Account: TypeAlias = Callable[[HostState, Sequence[Value], Sequence[Value]], None]
"""Counts a step with its inputs and results, and charges it to the clocks."""


def compute_of(
    op: Operation, outputs: Sequence[Attribute], options: DeviceOptions
) -> tuple[Compute, OpSpec, bool]:
    """The function that computes a node, and whether it is opaque (choice E20).

    Raises LoadError for an operator type without a kernel, unless opaque bytes will do and the types of `outputs` say
    how many there are.
    """
    spec = spec_of(op, len(outputs))
    static = [_static(type) for type in outputs]
    try:
        kernel = find(spec, wide_sums=options.accumulate == "float64")
    except UnsupportedOpError as error:
        if is_collective(spec.type) and None not in static:
            return _alone(spec, [x for x in static if x is not None]), spec, False
        if options.unknown_kernels == "opaque" and None not in static:
            return _opaque(spec, [x for x in static if x is not None]), spec, True
        raise LoadError(f"{node_name_of(op, spec)}: {error.message}", location_text(op)) from error
    evaluate, count = kernel.evaluate, spec.n_outputs

    def compute(inputs: Sequence[Value]) -> list[Value]:
        return [as_value(result) for result in evaluate(spec, inputs)[:count]]

    return compute, spec, False


def node_name_of(op: Operation, spec: OpSpec) -> str:
    """The step in an error message."""
    name = text_of(op.attributes.get("ge.name"))
    return f'step "{name}" ({spec.type})' if name else f"step {spec.type}"


def _static(type: Attribute) -> tuple[np.dtype, tuple[int, ...]] | None:
    """Element type and shape that a type tells, None when it leaves something open."""
    if not isinstance(type, PlacedTensorType):
        return None
    shape = dims_of(type.tensor)
    try:
        dtype = dtype_of(type.tensor.element_type).numpy
    except KeyError:
        return None
    return None if dtype is None or shape is None or -1 in shape else (dtype, shape)


def _new(outputs: Sequence[tuple[np.dtype, tuple[int, ...]]]) -> list[Array]:
    return [np.zeros(shape, dtype) for dtype, shape in outputs]


def _opaque(spec: OpSpec, outputs: Sequence[tuple[np.dtype, tuple[int, ...]]]) -> Compute:
    def compute(inputs: Sequence[Value]) -> list[Value]:
        results = _new(outputs)
        arrays = [x if is_array(x) else None for x in inputs]
        opaque_thunk(spec, arrays, results)()
        return list(results)

    return compute


def _alone(spec: OpSpec, outputs: Sequence[tuple[np.dtype, tuple[int, ...]]]) -> Compute:
    """A host program runs on one rank, where collectives copy (choice E21)."""

    def compute(inputs: Sequence[Value]) -> list[Value]:
        results = _new(outputs)
        nowhere = Extent("", 0, 0)
        found = collective_of(
            spec, [Operand(x, nowhere) for x in inputs], [Operand(x, nowhere) for x in results]
        )
        assert found is not None
        alone(found)()
        return list(results)

    return compute


def checker_of(
    types: Sequence[Attribute], told: str, shapes: bool = True
) -> Callable[[Sequence[Value]], None]:
    """Compares results with the types that the program gives them, without `shapes` only their elements.

    Raises TaskError where they contradict.
    """
    wanted = [
        (index, *_expected(type))
        for index, type in enumerate(types)
        if isinstance(type, PlacedTensorType)
    ]

    def check(results: Sequence[Value]) -> None:
        for index, dtype, rank, known in wanted:
            value = results[index] if index < len(results) else None
            if not is_array(value):
                raise TaskError(f"{told}: output {index} is a {type_name(value)}, not a tensor")
            if dtype is not None and value.dtype != dtype:
                raise TaskError(f"{told}: output {index} is {value.dtype}, its type says {dtype}")
            shape = value.shape
            if rank is None or not shapes:
                continue
            if len(shape) != rank:
                raise TaskError(
                    f"{told}: output {index} has rank {len(shape)}, its type says {rank}"
                )
            for axis, size in known:
                if shape[axis] != size:
                    raise TaskError(
                        f"{told}: output {index} has the shape {list(shape)}, "
                        f"its type says {size} for dimension {axis}"
                    )

    return check


def _expected(
    type: PlacedTensorType,
) -> tuple[np.dtype | None, int | None, tuple[tuple[int, int], ...]]:
    """Element type, rank, and (axis, size) of the known dimensions; None for what the type leaves open."""
    try:
        dtype = dtype_of(type.tensor.element_type).numpy
    except KeyError:
        dtype = None
    shape = dims_of(type.tensor)
    if shape is None:
        return dtype, None, ()
    return dtype, len(shape), tuple((axis, size) for axis, size in enumerate(shape) if size >= 0)


def type_name(value: object) -> str:
    """The Python type of a value, in words."""
    return type(value).__name__


@dataclass(frozen=True, slots=True)
class NodeContext:
    """What the steps of a program have in common.

    `mutable`: some step of the program writes into storage, so a result that is no view by type must not share its
    input's.
    """

    profile: DeviceProfile
    options: DeviceOptions
    mutable: bool


def pool_of(type: Attribute, stream: int = 0) -> int:
    """The allocator's pool for values of a type that work on `stream` makes."""
    if isinstance(type, PlacedTensorType) and type.placement.data is not Placement.HOST:
        return stream
    return HOST_POOL


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an output goes: a slot, and for storage that this step fills first the shape that it was made with.

    `later`: the storage has no bytes yet, it gets the result's; then `shape` is the slot of its shape, or None and
    `static` is it. Otherwise the result is written into the bytes that are there.
    """

    slot: int
    later: bool = False
    shape: int | None = None
    static: tuple[int, ...] = ()
    dtype: np.dtype | None = None


def node_step(
    op: LaunchOp | HostCallOp,
    ins: Sequence[int],
    outs: Sequence[Destination],
    results: Sequence[int],
    context: NodeContext,
) -> tuple[Step, bool]:
    """The step of a `launch` or `host_call`, and whether it is opaque. Raises LoadError as `compute_of` does."""
    types = [x.type for x in (op.outs if outs else op.results)]
    compute, spec, opaque = compute_of(op, types, context.options)
    told = node_name_of(op, spec)
    account = (
        launch_account(op, spec, context.profile, ins, bool(results))
        if isinstance(op, LaunchOp)
        else call_account(op, spec, context.profile, bool(results))
    )
    if outs:
        return _fill_step(op, spec, ins, outs, compute, account, context.mutable), opaque
    check = checker_of(types, told)
    stream = number(op, "stream")
    pools = [pool_of(type, stream) for type in types]
    is_view, mutable = spec.type in VIEW_TYPES, context.mutable

    def step(state: HostState) -> None:
        slots = state.values
        inputs = [slots[slot] for slot in ins]
        try:
            values = compute(inputs)
        except KERNEL_FAULTS as error:
            raise task_fault(told, error) from error
        account(state, inputs, values)
        check(values)
        for slot, value, pool in zip(results, values, pools, strict=False):
            if is_view:
                value = _viewed(value, inputs)
            elif mutable:
                value = _unshared(value, inputs)
            state.define_new(slot, value, ins, pool)

    return step, opaque


def _fill_step(
    op: LaunchOp | HostCallOp,
    spec: OpSpec,
    ins: Sequence[int],
    outs: Sequence[Destination],
    compute: Compute,
    account: Account,
    mutable: bool,
) -> Step:
    """A step with destinations. With `may_be_empty` it does nothing when all of them are empty."""
    told = node_name_of(op, spec)
    guarded = isinstance(op, LaunchOp) and op.may_be_empty is not None
    publishes = is_data_dependent(spec)
    check = checker_of([x.type for x in op.outs], told, shapes=not publishes)
    all_later = all(x.later for x in outs)

    def step(state: HostState) -> None:
        slots = state.values
        shapes = [_shape_of(x, slots) for x in outs]
        if guarded and all(0 in shape for shape in shapes):
            state.count(SKIPPED)
            for target, shape in zip(outs, shapes, strict=True):
                if target.later:
                    slots[target.slot] = np.empty(shape, target.dtype)
            return
        inputs = [slots[slot] for slot in ins]
        try:
            values = compute(inputs)
        except KERNEL_FAULTS as error:
            raise task_fault(told, error) from error
        account(state, inputs, values)
        if not all_later:
            store(state, told, [x.slot for x in outs], values)
            return
        check(values)
        for target, value, shape in zip(outs, values, shapes, strict=True):
            if value.shape != shape:
                _publish(state, told, target.slot, value, shape, publishes)
            slots[target.slot] = _unshared(value, inputs) if mutable else value

    return step


def _shape_of(target: Destination, slots: Sequence[Value]) -> tuple[int, ...]:
    """The shape that a destination was made with."""
    if target.shape is not None:
        return slots[target.shape]
    return target.static if target.later else np.shape(slots[target.slot])


def _publish(
    state: HostState, told: str, slot: int, value: Array, shape: tuple[int, ...], allowed: bool
) -> None:
    """A kernel that finds its own shape tells it; raises TaskError when it may not, or has no room."""
    if not allowed:
        raise TaskError(
            f"{told}: the kernel gives the shape {list(value.shape)}, its shape function says {list(shape)}"
        )
    if value.size > prod(shape):
        raise TaskError(f"{told}: {list(value.shape)} does not fit into {list(shape)}")
    state.storages[slot].published = value.shape


SKIPPED = "skipped_launch"
"""The count of launches that had nothing to compute."""

_SHAPE_BYTES = 8


def launch_account(
    op: Operation, spec: OpSpec, profile: DeviceProfile, ins: Sequence[int], allocates: bool
) -> Account:
    """The host issues a kernel; in the self-allocating form it infers shapes, tiles and allocates before
    (spec/host_execution.md 10.2).

    One with results of unknown shape of which all turn out to be empty is not tiled and not launched. One whose result
    shapes only the kernel knows makes the host wait for the stream and read them back (step 6); where nothing bounds
    them, a second task copies the results to where there is room then.
    """
    stream, index = number(op, "stream"), number(op, "op_index")
    name = text_of(op.attributes.get("ge.name")) or spec.type
    kind = spec.type
    parts = ("infer_shape", "tiling", "alloc", "launch") if allocates else ("launch",)
    costs = [(part, profile.host[part].of()) for part in parts]
    fixed = sum(cost for _, cost in costs)
    kernel = profile.kernel(kind, text_of(op.properties.get("engine")) or "")
    work = counter_of(spec) if kernel.counts_work else None
    unknown = allocates and any(_static(x.type) is None for x in op.results)
    finds_shape = allocates and is_data_dependent(spec)
    copies_out = unknown and unknown_shape_type(spec, len(ins)) is UnknownShapeType.COMPUTE

    def account(state: HostState, inputs: Sequence[Value], values: Sequence[Value]) -> None:
        clock = state.clock
        if unknown and not copies_out and _all_empty(values):
            state.count(SKIPPED)
            for part in ("infer_shape", "alloc"):
                clock.on_host(part, name, kind, index)
            return
        state.count("launch")
        duration = kernel.fixed_us if work is None else kernel.of_work(work(inputs, values))
        if clock.record:
            for part in parts[:-1]:
                clock.on_host(part, name, kind, index)
            issued = clock.on_host("launch", name, kind, index)
            clock.on_stream(stream, duration, "kernel", name, kind, index, issued)
        else:
            clock.host += fixed
            spent = clock.host_us
            for part, cost in costs:
                spent[part] = spent.get(part, 0.0) + cost
            clock.on_stream(stream, duration, "kernel", name)
        state.device_tasks["kernel"] = state.device_tasks.get("kernel", 0) + 1
        if len(clock.streams) > 1:
            for slot in ins:
                state.allocator.read_on(state.storages[slot], stream)
        if finds_shape or copies_out:
            synchronise(state, stream)
            read_back(
                state, stream, sum(_SHAPE_BYTES * (1 + x.ndim) for x in values if is_array(x))
            )
        if copies_out:
            state.count("launch")
            issued = clock.on_host("launch", name, kind, index)
            size = sum(map(size_of, values))
            clock.on_stream(
                stream, profile.task("memcpy", size), "memcpy", name, kind, index, issued
            )
            state.device_tasks["memcpy"] = state.device_tasks.get("memcpy", 0) + 1

    return account


def _all_empty(values: Sequence[Value]) -> bool:
    return bool(values) and all(is_array(x) and x.size == 0 for x in values)


def call_account(op: Operation, spec: OpSpec, profile: DeviceProfile, allocates: bool) -> Account:
    """The host computes; in the self-allocating form it infers shapes and allocates before (spec 10.3)."""
    index, kind = number(op, "op_index"), spec.type
    name = text_of(op.attributes.get("ge.name")) or kind
    cost = profile.host["host_call"]
    work = counter_of(spec) if cost.bytes_per_us else None
    before = ("infer_shape", "alloc") if allocates else ()

    def account(state: HostState, inputs: Sequence[Value], values: Sequence[Value]) -> None:
        state.count("host_call")
        clock = state.clock
        for part in before:
            clock.on_host(part, name, kind, index)
        size = 0 if work is None else work(inputs, values).bytes
        clock.host_for(cost.of(size), "host_call", name, kind, index)

    return account


VIEW_TYPES = frozenset(
    {"Reshape", "Bitcast", "ExpandDims", "Squeeze", "SqueezeV2", "SqueezeV3", "Unsqueeze", "UnsqueezeV2",
     "UnsqueezeV3", "Flatten", "FlattenV2", "ReFormat"}
)  # fmt: skip
"""Node types whose output is the storage of input 0 (spec/host_execution.md 10.3)."""


def _viewed(value: Value, inputs: Sequence[Value]) -> Value:
    """The result of a view type in the storage of input 0, where numpy can see it so."""
    source = inputs[0] if inputs else None
    if is_array(value) and is_array(source) and value.dtype == source.dtype:
        return source.reshape(value.shape)
    return value


def _unshared(value: Value, inputs: Sequence[Value]) -> Value:
    if is_array(value) and any(is_array(x) and np.may_share_memory(value, x) for x in inputs):
        return value.copy()
    return value


def store(state: HostState, told: str, outs: Sequence[int], values: Sequence[Value]) -> None:
    """Write results into the storage of destinations.

    A result with fewer elements than its destination fills the beginning, and its shape is published for `read_shape`.
    Raises TaskError when a result does not fit.
    """
    for index, (slot, value) in enumerate(zip(outs, values, strict=False)):
        target = state.values[slot]
        if target is None:
            continue
        if not is_array(target) or not is_array(value):
            raise TaskError(f"{told}: output {index} is no tensor")
        if target.dtype != value.dtype or value.size > target.size:
            raise TaskError(
                f"{told}: output {index} is {value.dtype} {list(value.shape)}, "
                f"its destination {target.dtype} {list(target.shape)}"
            )
        target.reshape(-1)[: value.size] = value.reshape(-1)
        state.storages[slot].published = tuple(value.shape)
