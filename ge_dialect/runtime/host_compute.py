"""Steps of a host program that compute, as functions on the state: launches, host calls, shapes, embedded models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import dims_of
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge_task import ExecuteOp, PlacedTensorType
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.dtypes import dtype_by_name, dtype_of_numpy
from ge_dialect.kernels import Array, OpSpec, UnsupportedOpError, Value, find
from ge_dialect.kernels.shapes import TensorInfo, infer
from ge_dialect.kernels.spec import is_array, spec_of
from ge_dialect.runtime.collectives import alone, collective_of, is_collective
from ge_dialect.runtime.compute import Operand, opaque_thunk
from ge_dialect.runtime.errors import LoadError, TaskError
from ge_dialect.runtime.executor import ModelExecutable
from ge_dialect.runtime.faults import KERNEL_FAULTS, task_fault
from ge_dialect.runtime.host_state import HostState
from ge_dialect.runtime.memory import Extent
from ge_dialect.runtime.properties import number, operand_groups

Step: TypeAlias = Callable[[HostState], None]
Compute: TypeAlias = Callable[[Sequence[Value]], list[Value]]

_UNKNOWN_TYPE = dtype_by_name("UNDEFINED")


def compute_of(
    op: Operation, outputs: Sequence[Attribute], allow_opaque: bool
) -> tuple[Compute, OpSpec, bool]:
    """The function that computes a node, and whether it is opaque (choice E20).

    Raises LoadError for an operator type without a kernel, unless opaque bytes will do and the types of `outputs` say
    how many there are.
    """
    spec = spec_of(op, len(outputs))
    static = [_static(type) for type in outputs]
    try:
        kernel = find(spec)
    except UnsupportedOpError as error:
        if is_collective(spec.type) and None not in static:
            return _alone(spec, [x for x in static if x is not None]), spec, False
        if allow_opaque and None not in static:
            return _opaque(spec, [x for x in static if x is not None]), spec, True
        raise LoadError(f"{_told(op, spec)}: {error.message}", location_text(op)) from error
    evaluate = kernel.evaluate
    return (lambda inputs: evaluate(spec, inputs)), spec, False


def _told(op: Operation, spec: OpSpec) -> str:
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


def checker_of(types: Sequence[Attribute], told: str) -> Callable[[Sequence[Value]], None]:
    """Compares results with the types that the program gives them; raises TaskError where they contradict."""
    wanted: list[tuple[int, np.dtype | None, tuple[int, ...] | None]] = []
    for index, type in enumerate(types):
        if isinstance(type, PlacedTensorType):
            tensor = type.tensor
            try:
                dtype = dtype_of(tensor.element_type).numpy
            except KeyError:
                dtype = None
            shape = dims_of(tensor)
            wanted.append((index, dtype, shape))

    def check(results: Sequence[Value]) -> None:
        for index, dtype, shape in wanted:
            value = results[index] if index < len(results) else None
            if not is_array(value):
                raise TaskError(f"{told}: output {index} is a {type_name(value)}, not a tensor")
            if dtype is not None and value.dtype != dtype:
                raise TaskError(f"{told}: output {index} is {value.dtype}, its type says {dtype}")
            if shape is not None and (
                len(shape) != value.ndim
                or any(a not in (-1, b) for a, b in zip(shape, value.shape, strict=True))
            ):
                raise TaskError(
                    f"{told}: output {index} has the shape {list(value.shape)}, its type says {list(shape)}"
                )

    return check


def type_name(value: object) -> str:
    """The Python type of a value, in words."""
    return type(value).__name__


def node_step(
    op: Operation,
    ins: Sequence[int],
    outs: Sequence[int],
    results: Sequence[int],
    on_device: bool,
    allow_opaque: bool,
    mutable: bool,
) -> tuple[Step, bool]:
    """The step of a `launch` (`on_device`) or `host_call`, and whether it is opaque.

    `mutable`: some step of the program writes into storage, so a result that is no view by type must not share its
    input's. Raises LoadError as `compute_of` does.
    """
    types = [x.type for x in op.results]
    compute, spec, opaque = compute_of(
        op, types or [x.type for x in operand_groups(op)[1]], allow_opaque
    )
    told = _told(op, spec)
    check = checker_of(types, told)
    name = text_of(op.attributes.get("ge.name")) or spec.type
    index = number(op, "op_index")
    stream = number(op, "stream")
    kind = "launch" if on_device else "host_call"

    def step(state: HostState) -> None:
        inputs = [state.values[slot] for slot in ins]
        try:
            values = compute(inputs)
        except KERNEL_FAULTS as error:
            raise task_fault(told, error) from error
        state.count(kind)
        size = sum(x.nbytes for x in (*inputs, *values) if is_array(x))
        clock = state.clock
        if on_device:
            if results:
                for part in ("infer_shape", "tiling", "alloc"):
                    clock.on_host(part, name, spec.type, index)
            clock.on_host("launch", name, spec.type, index)
            duration = clock.profile.task("kernel", spec.type, size)
            clock.on_stream(stream, duration, "kernel", name, spec.type, index)
            state.device_tasks["kernel"] = state.device_tasks.get("kernel", 0) + 1
        else:
            clock.on_host("host_call", name, spec.type, index, size)
        if outs:
            store(state, told, outs, values)
            return
        check(values)
        for slot, value in zip(results, values, strict=False):
            if spec.type in VIEW_TYPES:
                value = _viewed(value, inputs)
            elif mutable:
                value = _unshared(value, inputs)
            state.define_new(slot, value, ins)

    return step, opaque


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


def infer_step(op: Operation, ins: Sequence[int], results: Sequence[int]) -> Step:
    """`infer_shape`: the node's shape function on the shapes, and on the values of inputs that are tensors."""
    spec = spec_of(op, len(results))
    told = _told(op, spec)
    on_host = [
        isinstance(x.type, PlacedTensorType) and x.type.placement.data.value == "host"
        for x in op.operands
    ]

    def step(state: HostState) -> None:
        state.count("infer_shape")
        state.clock.on_host("infer_shape", told, spec.type)
        inputs = [state.values[slot] for slot in ins]
        infos = [info_of(value) for value in inputs]
        known = [
            value if here and is_array(value) else None
            for value, here in zip(inputs, on_host, strict=True)
        ]
        for slot, found in zip(results, infer(spec, infos, known), strict=True):
            if not isinstance(found, TensorInfo) or not found.static:
                raise TaskError(f"{told}: its shape function does not know the shape")
            state.define_shape(slot, found.shape or ())

    return step


def info_of(value: Value) -> TensorInfo | None:
    """What a shape function is told about a value; a shape alone has no element type."""
    if is_array(value):
        return TensorInfo(dtype_of_numpy(value.dtype), tuple(value.shape))
    return None if value is None else TensorInfo(_UNKNOWN_TYPE, value)


def tiling_step(op: Operation, ins: Sequence[int], results: Sequence[int]) -> Step:
    """`tiling`: numpy kernels need none, and no workspaces."""
    spec = spec_of(op, 0)

    def step(state: HostState) -> None:
        state.count("tiling")
        state.clock.on_host("tiling", spec.type, spec.type)
        for slot in results[1:]:
            state.define_shape(slot, (0,))

    return step


def execute_step(
    op: ExecuteOp,
    model: ModelExecutable,
    ins: Sequence[int],
    outs: Sequence[int],
    results: Sequence[int],
) -> Step:
    """`execute`: one step of the embedded task list."""
    name = op.model.root_reference.data
    stream = number(op, "stream")

    def step(state: HostState) -> None:
        inputs = [state.values[slot] for slot in ins][: len(model.inputs)]
        result = model.run(inputs)
        state.count("execute")
        state.clock.on_host("execute", name)
        state.clock.on_stream(stream, model.device_time, "execute", name)
        for kind, count in result.report.by_kind.items():
            state.device_tasks[kind] = state.device_tasks.get(kind, 0) + count
        values = list(result.outputs.values())
        if outs:
            store(state, f"model @{name}", outs, values)
            return
        for slot, value in zip(results, values, strict=False):
            state.define_new(slot, value, ())

    return step
