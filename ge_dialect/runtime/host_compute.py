"""Shape functions, tiling and embedded models of a host program, as functions on the state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge_task import (
    ExecuteOp,
    InferShapeOp,
    PlacedTensorType,
    Placement,
    TilingOp,
)
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.dtypes import dtype_by_name, dtype_of_numpy
from ge_dialect.kernels import Value
from ge_dialect.kernels.shapes import TensorInfo, infer, value_dependent_inputs
from ge_dialect.kernels.shapes.unknown_types import bound_of
from ge_dialect.kernels.spec import is_array, spec_of
from ge_dialect.runtime.allocator import BORROWED
from ge_dialect.runtime.errors import LoadError, TaskError
from ge_dialect.runtime.executor import ModelExecutable
from ge_dialect.runtime.faults import KERNEL_FAULTS, task_fault
from ge_dialect.runtime.host_nodes import Step, node_name_of, pool_of, store
from ge_dialect.runtime.host_state import HostState
from ge_dialect.runtime.properties import number

_UNKNOWN_TYPE = dtype_by_name("UNDEFINED")


def infer_step(op: InferShapeOp, ins: Sequence[int], results: Sequence[int]) -> Step:
    """`infer_shape`: the node's shape function on the shapes, and on the values that it reads.

    What it found for the last shapes and values is kept: most steps see the same again. Raises TaskError when the
    inputs do not go together.
    """
    spec = spec_of(op, len(results))
    told = node_name_of(op, spec)
    name = text_of(op.attributes.get("ge.name")) or spec.type
    index, kind = number(op, "op_index"), spec.type
    bound = bound_of(spec) if op.bound is not None else None
    if op.bound is not None and bound is None:
        raise LoadError(f"{told}: nothing bounds its output shapes", location_text(op))
    read = frozenset(value_dependent_inputs(spec, len(ins))) if bound is None else frozenset[int]()
    valued = [
        k in read
        and isinstance(x.type, PlacedTensorType)
        and x.type.placement.data is Placement.HOST
        for k, x in enumerate(op.operands)
    ]
    seen: list[Any] = []
    found: list[tuple[int, ...]] = []

    def look(inputs: Sequence[Value]) -> list[tuple[int, ...]]:
        if bound is not None:
            return [tuple(x) for x in bound(spec, [shape_of_value(value) for value in inputs])]
        known = [
            value if here and is_array(value) else None
            for value, here in zip(inputs, valued, strict=True)
        ]
        shapes: list[tuple[int, ...]] = []
        for info in infer(spec, [info_of(value) for value in inputs], known):
            if not isinstance(info, TensorInfo) or info.shape is None or not info.static:
                given = ", ".join(_text(x, y) for x, y in zip(inputs, known, strict=True))
                raise TaskError(f"{told}: no output shape follows from the inputs {given}")
            shapes.append(info.shape)
        return shapes

    def step(state: HostState) -> None:
        nonlocal seen, found
        state.count("infer_shape")
        state.clock.on_host("infer_shape", name, kind, index)
        values = state.values
        inputs = [values[slot] for slot in ins]
        key: list[Any] = [
            (value.shape, value.dtype, value.tobytes() if here else None)
            if is_array(value)
            else value
            for value, here in zip(inputs, valued, strict=True)
        ]
        if key != seen or not found:
            try:
                found = look(inputs)
            except KERNEL_FAULTS as error:
                raise task_fault(told, error) from error
            seen = key
        for slot, shape in zip(results, found, strict=True):
            state.define(slot, shape, BORROWED)

    return step


def _text(value: Value, known: Value) -> str:
    """An input in an error message: its shape, and what a shape function reads of it."""
    if value is None:
        return "(absent)"
    if known is not None and known.size <= 8:
        return f"{list(shape_of_value(value) or ())} = {known.tolist()}"
    return str(list(shape_of_value(value) or ()))


def info_of(value: Value) -> TensorInfo | None:
    """What a shape function is told about a value; a shape alone has no element type."""
    if is_array(value):
        return TensorInfo(dtype_of_numpy(value.dtype), tuple(value.shape))
    return None if value is None else TensorInfo(_UNKNOWN_TYPE, value)


def shape_of_value(value: Value) -> tuple[int, ...] | None:
    """The shape of a tensor or a shape; None for an absent slot."""
    return tuple(value.shape) if is_array(value) else value


def tiling_step(op: TilingOp, results: Sequence[int], shapes: Sequence[int]) -> Step:
    """`tiling`: numpy kernels need none, and no workspaces. Nothing is tiled for outputs that are all empty."""
    kind = text_of(op.type) or ""
    name = text_of(op.attributes.get("ge.name")) or kind
    index, may_be_empty = number(op, "op_index"), op.may_be_empty is not None

    def step(state: HostState) -> None:
        values = state.values
        if not may_be_empty or not all(0 in values[slot] for slot in shapes):
            state.count("tiling")
            state.clock.on_host("tiling", name, kind, index)
        for slot in results[1:]:
            state.define_shape(slot, (0,))

    return step


def execute_step(
    op: ExecuteOp,
    model: ModelExecutable,
    ins: Sequence[int],
    outs: Sequence[int],
    results: Sequence[int],
    first_track: int,
) -> Step:
    """`execute`: one step of the embedded task list, whose streams but the first are tracks from `first_track` on."""
    name = op.model.root_reference.data
    stream = number(op, "stream")
    index = number(op, "op_index")
    pools = [pool_of(result.type, stream) for result in op.results]
    # The list's first stream is the one that executes it, its others have tracks of their own.
    tracks = {
        f"stream {k}": f"stream {first_track + k - 1 if k else stream}"
        for k in range(model.streams)
    }

    def step(state: HostState) -> None:
        inputs = [state.values[slot] for slot in ins][: len(model.inputs)]
        result = model.run(inputs)
        state.count("execute")
        state.avoided_launches += result.report.avoided_launches
        state.unmoved_bytes += result.report.unmoved_bytes
        issued = state.clock.on_host("execute", name, "", index)
        tasks = result.timeline[0] if result.timeline else ()
        arrows = result.flows[0] if result.flows else ()
        state.clock.run_list(stream, model.device_time, name, index, issued, tasks, arrows, tracks)
        for kind, count in result.report.by_kind.items():
            state.device_tasks[kind] = state.device_tasks.get(kind, 0) + count
        values = list(result.outputs.values())
        if outs:
            store(state, f"model @{name}", outs, values)
            return
        for slot, value, pool in zip(results, values, pools, strict=False):
            state.define_new(slot, value, (), pool)

    return step
