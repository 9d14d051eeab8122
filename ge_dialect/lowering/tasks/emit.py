"""From one node to its tasks, by the rule that `ge_dialect.analysis.task_kinds` gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.task_count import (
    DESCRIPTOR_BYTES,
    DEVICE_TO_DEVICE,
    active_streams,
    attached_stream,
    copied_descriptors,
    copied_slots,
    copy_bytes,
    copy_kind,
    ends_model,
    has_kernel_list,
    is_partly_supported,
    merge_bytes,
    mix_notifies,
    pieces,
    task_error,
)
from ge_dialect.analysis.task_kinds import TaskRule
from ge_dialect.dialects.attrs import i64, segments, string, string_attr
from ge_dialect.dialects.ge.access import data_operands, data_results, ge_attr, ge_type
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge_task import (
    BufferOp,
    CmoOp,
    CustomKernelOp,
    DsaOp,
    DvppOp,
    EndGraphOp,
    EventRecordOp,
    EventWaitOp,
    FftsPlusOp,
    FusionEndOp,
    FusionStartOp,
    HcclOp,
    KernelExOp,
    KernelOp,
    KernelWithHandleOp,
    LabelSetOp,
    MemcpyAddrAsyncOp,
    MemcpyAsyncOp,
    MemEventRecordOp,
    MemEventWaitOp,
    ModelExitOp,
    NotifyRecordOp,
    NotifyWaitOp,
    NpuClearDebugFloatStatusOp,
    NpuClearFloatStatusOp,
    NpuGetDebugFloatStatusOp,
    NpuGetFloatStatusOp,
    StreamActiveOp,
    StreamLabelGotoOp,
    StreamLabelSwitchByIndexOp,
    StreamSwitchNOp,
    StreamSwitchOp,
    VectorAllKernelOp,
    VectorKernelOp,
)
from ge_dialect.dialects.ge_task.sync import FlagTaskOp
from ge_dialect.dialects.ge_task.task import (
    AuxiliaryTaskOp,
    KernelTaskOp,
    SimpleTaskOp,
    TaskOp,
)
from ge_dialect.lowering.tasks.buffers import BufferTable
from ge_dialect.lowering.tasks.companions import fallback_of, memset_of
from ge_dialect.lowering.tasks.merges import merged_places

AI_CORE_KERNEL, AI_CPU_KERNEL, CUSTOM_AI_CPU_KERNEL, HOST_CPU_KERNEL = 2, 6, 7, 8
"""Values of `kernel_type` (spec/tasks.md section 2)."""


@dataclass(slots=True)
class NodeTasks:
    """What the builders are told about one node."""

    op: Operation
    graph: GraphOp
    buffers: BufferTable
    stream: int
    op_index: int
    brackets: bool

    def names(self) -> dict[str, Attribute]:
        """The attributes of a task: the node's name."""
        name = self.op.attributes.get("ge.name")
        return {} if name is None else {"ge.name": name}


# --- kernels ----------------------------------------------------------------------------------------------------


def node_attrs(op: Operation) -> DictionaryAttr | None:
    """The node's GE attributes as one dictionary under GE's names; a foreign op's are its properties."""
    attrs = op.properties.get("attrs")
    own = attrs if isinstance(attrs, DictionaryAttr) else None
    if not isinstance(op, GeNode):
        return DictionaryAttr(op.properties) if op.properties else None
    typed = {
        spelling: op.properties[name]
        for name, spelling in op.GE_ATTRS.items()
        if name in op.properties and name not in ("source", "value")
    }
    if not typed:
        return own
    return DictionaryAttr({**(own.data if own is not None else {}), **typed})


def node_properties(op: Operation) -> dict[str, Attribute]:
    """The properties that kernel-like ops take over from a node: type, engine, source, attributes."""
    found = op.properties
    kind = found.get("type")
    properties: dict[str, Attribute] = {"type": string(ge_type(op)) if kind is None else kind}
    engine = op.attributes.get("ge.engine")
    if engine is not None:
        properties["engine"] = engine
    if isinstance(op, GeNode) and "source" in found:
        properties["source"] = found["source"]
    attrs = node_attrs(op)
    if attrs is not None:
        properties["attrs"] = attrs
    return properties


def _kernel(
    node: NodeTasks,
    task: type[KernelTaskOp],
    kernel_type: int | None = None,
    stream: int | None = None,
) -> KernelTaskOp:
    op = node.op
    ins = node.buffers.inputs(op)
    outs = node.buffers.outputs(op)
    workspaces: Sequence[SSAValue] = ()
    if "ge.workspace_offsets" in op.attributes or "ge.workspace_bytes" in op.attributes:
        workspaces = node.buffers.workspaces(op)
    properties = node_properties(op)
    properties["operandSegmentSizes"] = segments(len(ins), len(outs), len(workspaces))
    properties["stream"] = i64(node.stream if stream is None else stream)
    properties["op_index"] = i64(node.op_index)
    if kernel_type is not None:
        properties["kernel_type"] = i64(kernel_type)
    return task.create(
        operands=(*ins, *outs, *workspaces),
        properties=properties,
        attributes=node.names(),
        location=op.location,
    )


def _ai_core(node: NodeTasks) -> list[TaskOp]:
    op = node.op
    handle = has_kernel_list(op)
    main = _kernel(node, KernelWithHandleOp if handle else KernelOp, AI_CORE_KERNEL)
    tasks: list[TaskOp] = [main]
    notifies = mix_notifies(op)
    side = attached_stream(op) if notifies is not None else None
    if notifies is not None and side is not None:
        vector = _kernel(
            node, VectorAllKernelOp if handle else VectorKernelOp, AI_CORE_KERNEL, side
        )
        first, second = notifies
        tasks = [
            _flag(node, NotifyRecordOp, first),
            main,
            _flag(node, NotifyWaitOp, first, side),
            vector,
            _flag(node, NotifyRecordOp, second, side),
            _flag(node, NotifyWaitOp, second),
        ]
    memset = memset_of(op, main)
    if memset is not None:
        tasks = [memset, *tasks]
    if node.brackets and "ge.is_first_node" in op.attributes:
        tasks = [_simple(node, FusionStartOp), *tasks]
    if node.brackets and "ge.is_last_node" in op.attributes:
        tasks.append(_simple(node, FusionEndOp))
    if is_partly_supported(op):
        tasks.append(fallback_of(main, AI_CPU_KERNEL))
    return tasks


def _kernel_builder(
    task: type[KernelTaskOp], kernel_type: int | None = None
) -> Callable[[NodeTasks], list[TaskOp]]:
    def build(node: NodeTasks) -> list[TaskOp]:
        return [_kernel(node, task, kernel_type)]

    return build


def _auxiliary_builder(task: type[AuxiliaryTaskOp]) -> Callable[[NodeTasks], list[TaskOp]]:
    def build(node: NodeTasks) -> list[TaskOp]:
        op = node.op
        ins, outs = node.buffers.inputs(op), node.buffers.outputs(op)
        made = task.make(
            ge_type(op),
            ins,
            outs,
            stream=node.stream,
            op_index=node.op_index,
            attributes=node.names(),
            attrs=node_attrs(op),
        )
        return [made]

    return build


# --- copies -----------------------------------------------------------------------------------------------------


def _view_of(node: NodeTasks, buffer: SSAValue, start: int, size: int) -> SSAValue:
    """`size` bytes from byte `start` of a buffer: the buffer itself when it is exactly that."""
    owner = buffer.owner
    assert isinstance(owner, BufferOp)
    if start == 0 and owner.size.value.data == size:
        return buffer
    return node.buffers.piece(owner.space.data, owner.offset.value.data + start, size)


def _copy_pieces(
    node: NodeTasks, source: SSAValue, target: SSAValue, size: int, kind: int
) -> list[TaskOp]:
    tasks: list[TaskOp] = []
    start = 0
    for count in pieces(size, kind):
        tasks.append(
            MemcpyAsyncOp.make(
                ge_type(node.op),
                [_view_of(node, source, start, count)],
                [_view_of(node, target, start, count)],
                stream=node.stream,
                op_index=node.op_index,
                attributes=node.names(),
                count=count,
                kind=None if kind == DEVICE_TO_DEVICE else kind,
            )
        )
        start += count
    return tasks


def _copies(node: NodeTasks) -> list[TaskOp]:
    op = node.op
    kind = copy_kind(op)
    outs = data_results(op)
    tasks: list[TaskOp] = []
    for i in copied_slots(op):
        source, target = node.buffers.input(op, i), node.buffers.of(outs[i])
        tasks += _copy_pieces(node, source, target, copy_bytes(op, i), kind)
    for start, end in copied_descriptors(op):
        tasks.append(
            MemcpyAddrAsyncOp.make(
                ge_type(op),
                [node.buffers.piece("hbm", start, DESCRIPTOR_BYTES)],
                [node.buffers.piece("hbm", end, DESCRIPTOR_BYTES)],
                stream=node.stream,
                op_index=node.op_index,
                attributes=node.names(),
                count=DESCRIPTOR_BYTES,
            )
        )
    return tasks


def _indirect_copies(node: NodeTasks) -> list[TaskOp]:
    op = node.op
    outs = data_results(op)
    tasks: list[TaskOp] = []
    for i in copied_slots(op):
        count = copy_bytes(op, i)
        if count == 0:
            continue
        tasks.append(
            MemcpyAddrAsyncOp.make(
                ge_type(op),
                [_view_of(node, node.buffers.input(op, i), 0, count)],
                [_view_of(node, node.buffers.of(outs[i]), 0, count)],
                stream=node.stream,
                op_index=node.op_index,
                attributes=node.names(),
                count=count,
            )
        )
    return tasks


def _merge(node: NodeTasks) -> list[TaskOp]:
    """All inputs share their memory, so input 0's address with the largest input's size is the one that came."""
    op = node.op
    if not data_operands(op) or not data_results(op):
        raise task_error(op, "merges nothing: it needs an input and an output")
    source, target = node.buffers.input(op, 0), node.buffers.of(data_results(op)[0])
    tasks = _copy_pieces(node, source, target, merge_bytes(op), DEVICE_TO_DEVICE)
    payload = merged_places(op, node.buffers)
    if payload is not None:
        for task in tasks:
            task.properties["payload"] = payload
    return tasks


# --- order and control ------------------------------------------------------------------------------------------


def _flag(
    node: NodeTasks, task: type[FlagTaskOp], number: int, stream: int | None = None
) -> TaskOp:
    return task.make(
        number,
        stream=node.stream if stream is None else stream,
        op_index=node.op_index,
        attributes=node.names(),
    )


def _simple(node: NodeTasks, task: type[SimpleTaskOp]) -> TaskOp:
    return task.make(stream=node.stream, op_index=node.op_index, attributes=node.names())


def _required(node: NodeTasks, name: str) -> int:
    value = ge_attr(node.op, name)
    if not isinstance(value, int):
        raise task_error(node.op, f"needs the integer attribute '{name}'")
    return value


def _required_list(node: NodeTasks, name: str) -> list[int]:
    value = ge_attr(node.op, name)
    if not isinstance(value, list) or not value:
        raise task_error(node.op, f"needs the list attribute '{name}'")
    return value  # pyright: ignore[reportUnknownVariableType]


def _flag_builder(task: type[FlagTaskOp], name: str) -> Callable[[NodeTasks], list[TaskOp]]:
    def build(node: NodeTasks) -> list[TaskOp]:
        return [_flag(node, task, _required(node, name))]

    return build


def _activations(node: NodeTasks) -> list[TaskOp]:
    """One task a stream. The head of a branch says so: its streams do not run before they are started."""
    tasks = [_flag(node, StreamActiveOp, stream) for stream in active_streams(node.op)]
    branch = ge_attr(node.op, "_switch_branch_node_label")
    if branch is not None:
        payload = DictionaryAttr({"_switch_branch_node_label": string_attr(branch)})
        for task in tasks:
            task.properties["payload"] = payload
    return tasks


def _stream_switch(node: NodeTasks) -> list[TaskOp]:
    targets = _required_list(node, "active_stream_list")
    if len(targets) != 1:
        raise task_error(
            node.op, f"needs exactly one stream in active_stream_list, got {len(targets)}"
        )
    return [
        StreamSwitchOp.make(
            node.buffers.inputs(node.op),
            stream=node.stream,
            op_index=node.op_index,
            attributes=node.names(),
            condition=_required(node, "switch_condition"),
            true_stream=targets[0],
            data_type=ge_attr(node.op, "_switch_data_type"),
        )
    ]


def _stream_switch_n(node: NodeTasks) -> list[TaskOp]:
    cases = _required(node, "_batch_num")
    rows = [_required_list(node, f"_pred_value_{i}") for i in range(cases)]
    if len({len(row) for row in rows}) > 1:
        raise task_error(node.op, "needs rows of one length in _pred_value_0, _pred_value_1, ...")
    targets = _required_list(node, "active_stream_list")
    if len(targets) < cases:
        raise task_error(
            node.op, f"needs {cases} streams in active_stream_list, got {len(targets)}"
        )
    return [
        StreamSwitchNOp.make(
            node.buffers.inputs(node.op)[:1],
            stream=node.stream,
            op_index=node.op_index,
            attributes=node.names(),
            targets=[value for row in rows for value in row],
            true_streams=targets[:cases],
            data_type=ge_attr(node.op, "_switch_data_type"),
        )
    ]


def _label_switch(node: NodeTasks) -> list[TaskOp]:
    return [
        StreamLabelSwitchByIndexOp.make(
            node.buffers.inputs(node.op)[:1],
            stream=node.stream,
            op_index=node.op_index,
            attributes=node.names(),
            labels=_required_list(node, "_label_switch_list"),
        )
    ]


def _simple_builder(task: type[SimpleTaskOp]) -> Callable[[NodeTasks], list[TaskOp]]:
    def build(node: NodeTasks) -> list[TaskOp]:
        return [_simple(node, task)]

    return build


def _end_graph(node: NodeTasks) -> list[TaskOp]:
    return [_simple(node, EndGraphOp)] if ends_model(node.op, node.graph) else []


BUILDERS: Mapping[TaskRule, Callable[[NodeTasks], list[TaskOp]]] = MappingProxyType(
    {
        TaskRule.AI_CORE: _ai_core,
        TaskRule.AI_CPU: _kernel_builder(KernelOp, AI_CPU_KERNEL),
        TaskRule.AI_CPU_CUSTOM: _kernel_builder(KernelOp, CUSTOM_AI_CPU_KERNEL),
        TaskRule.HOST_CPU: _kernel_builder(KernelOp, HOST_CPU_KERNEL),
        TaskRule.KERNEL_EX: _kernel_builder(KernelExOp),
        TaskRule.CUSTOM: _kernel_builder(CustomKernelOp),
        TaskRule.HCCL: _kernel_builder(HcclOp),
        TaskRule.DVPP: _kernel_builder(DvppOp),
        TaskRule.DSA: _kernel_builder(DsaOp),
        TaskRule.FFTS_PLUS: _kernel_builder(FftsPlusOp),
        TaskRule.EVENT_RECORD: _flag_builder(EventRecordOp, "event_id"),
        TaskRule.EVENT_WAIT: _flag_builder(EventWaitOp, "event_id"),
        TaskRule.NOTIFY_RECORD: _flag_builder(NotifyRecordOp, "notify_id"),
        TaskRule.NOTIFY_WAIT: _flag_builder(NotifyWaitOp, "notify_id"),
        TaskRule.MEM_EVENT_RECORD: _flag_builder(MemEventRecordOp, "event_id"),
        TaskRule.MEM_EVENT_WAIT: _flag_builder(MemEventWaitOp, "event_id"),
        TaskRule.COPY: _copies,
        TaskRule.COPY_INDIRECT: _indirect_copies,
        TaskRule.MERGE: _merge,
        TaskRule.STREAM_SWITCH: _stream_switch,
        TaskRule.STREAM_SWITCH_N: _stream_switch_n,
        TaskRule.STREAM_ACTIVE: _activations,
        TaskRule.LABEL_SET: _flag_builder(LabelSetOp, "_label_switch_index"),
        TaskRule.LABEL_GOTO: _flag_builder(StreamLabelGotoOp, "_label_switch_index"),
        TaskRule.LABEL_SWITCH: _label_switch,
        TaskRule.END_GRAPH: _end_graph,
        TaskRule.MODEL_EXIT: _simple_builder(ModelExitOp),
        TaskRule.GET_STATUS: _auxiliary_builder(NpuGetFloatStatusOp),
        TaskRule.CLEAR_STATUS: _auxiliary_builder(NpuClearFloatStatusOp),
        TaskRule.GET_DEBUG_STATUS: _auxiliary_builder(NpuGetDebugFloatStatusOp),
        TaskRule.CLEAR_DEBUG_STATUS: _auxiliary_builder(NpuClearDebugFloatStatusOp),
        TaskRule.CMO: _auxiliary_builder(CmoOp),
    }
)
"""Builder of each rule that makes tasks."""
