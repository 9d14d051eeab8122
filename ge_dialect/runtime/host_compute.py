"""Shape functions, tiling and embedded models of a host program, as functions on the state."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ge_dialect.dialects.ge_task import ExecuteOp, PlacedTensorType
from ge_dialect.formats.dtypes import dtype_by_name, dtype_of_numpy
from ge_dialect.kernels import Value
from ge_dialect.kernels.shapes import TensorInfo, infer
from ge_dialect.kernels.spec import is_array, spec_of
from ge_dialect.runtime.errors import TaskError
from ge_dialect.runtime.executor import ModelExecutable
from ge_dialect.runtime.host_nodes import Step, node_name_of, pool_of, store
from ge_dialect.runtime.host_state import HostState
from ge_dialect.runtime.properties import number

_UNKNOWN_TYPE = dtype_by_name("UNDEFINED")


def infer_step(op: Operation, ins: Sequence[int], results: Sequence[int]) -> Step:
    """`infer_shape`: the node's shape function on the shapes, and on the values of inputs that are tensors."""
    spec = spec_of(op, len(results))
    told = node_name_of(op, spec)
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
    index = number(op, "op_index")
    pools = [pool_of(result.type, stream) for result in op.results]

    def step(state: HostState) -> None:
        inputs = [state.values[slot] for slot in ins][: len(model.inputs)]
        result = model.run(inputs)
        state.count("execute")
        state.avoided_launches += result.report.avoided_launches
        state.unmoved_bytes += result.report.unmoved_bytes
        issued = state.clock.on_host("execute", name, "", index)
        state.clock.on_stream(stream, model.device_time, "execute", name, "", index, issued)
        for kind, count in result.report.by_kind.items():
            state.device_tasks[kind] = state.device_tasks.get(kind, 0) + count
        values = list(result.outputs.values())
        if outs:
            store(state, f"model @{name}", outs, values)
            return
        for slot, value, pool in zip(results, values, pools, strict=False):
            state.define_new(slot, value, (), pool)

    return step
