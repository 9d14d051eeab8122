"""How many tasks a node makes, and how much of its stream's hardware queue they take.

The lowering to a task list emits by the same plan and checks itself against it; stream splitting counts with it.
Sources: spec/tasks.md sections 1.1 and 3.4, spec/streams.md section 8.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.attached import attached_streams
from ge_dialect.analysis.marks import NO_TASK, flag
from ge_dialect.analysis.memory.marks import marks_of
from ge_dialect.analysis.sizes import value_bytes
from ge_dialect.analysis.task_kinds import (
    TaskRule,
    lib_of_engine,
    lib_of_type,
    rule_of,
)
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    get_flag,
    get_int,
    get_text,
    graph_of,
    is_absent,
    node_name,
    slot_attrs,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError

DEVICE_COPY_PIECE = 4 << 30
"""Bytes of one copy task between two places of device memory."""

OTHER_COPY_PIECE = 64 << 20
"""Bytes of one copy task of any other kind."""

DESCRIPTOR_OFFSET = "_tensor_desc_mem_offset"
"""Of a slot: the byte of the feature map at which its descriptor lies, where a kernel reads the shape at run time."""

DESCRIPTOR_BYTES = 1008
"""Bytes of a descriptor in memory."""

DEVICE_TO_DEVICE = 3
_KIND_AS_WRITTEN = MappingProxyType({6: 1, 7: 2})
_SQE_COPY_UNIT = 64 << 20
_RECV_MEM_SQES = 4
COUNTED_COLLECTIVES = frozenset(
    """HcomBroadcast HcomAllGather HcomAllReduce HcomReduceScatter HcomReduce HcomAllToAllV HcomGatherAllToAllV
    HcomAllToAllVC HcomAllToAll""".split()
)
"""Types whose attributes give their queue entries, whatever kernel lib builds them."""


class TaskGenerationError(GeError):
    """A node of a known-shape graph cannot become tasks."""


def task_error(op: Operation, problem: str) -> TaskGenerationError:
    """The error about one node, with its name, type and place."""
    return TaskGenerationError(
        f'node "{node_name(op)}" of type {ge_type(op)} {problem}', location_text(op)
    )


# --- the node's rule --------------------------------------------------------------------------------------------


def kernel_lib(op: Operation) -> str:
    """The kernel lib that builds the node's tasks; "" only where the node says so itself.

    It is `ge.kernel_lib`, else the lib of `ge.engine`, else what the type alone decides (GE local, RTS). Raises
    TaskGenerationError for a node that none of these places.
    """
    lib = get_text(op, "ge.kernel_lib")
    if lib is not None:
        return lib
    engine = get_text(op, "ge.engine")
    if engine:
        lib = lib_of_engine(engine)
        if lib is None:
            raise task_error(
                op, f"is placed on an unknown engine '{engine}' and has no ge.kernel_lib"
            )
        return lib
    lib = lib_of_type(ge_type(op))
    if lib is None:
        raise task_error(op, "has no engine: run ge-assign-engines first")
    return lib


def makes_no_task(op: Operation) -> bool:
    """Whether the node is marked as one without task, by a pass of this project or by its source."""
    return flag(op, NO_TASK)


def task_rule(op: Operation) -> TaskRule:
    """What the node becomes; NONE for a marked node and one without kernel lib.

    Raises TaskGenerationError for a node whose kernel lib is unknown or does not know its type, for one of the types
    that have to be gone by now, and for one that no builder supports.
    """
    if makes_no_task(op):
        return TaskRule.NONE
    lib = kernel_lib(op)
    if lib == "":
        return TaskRule.NONE
    if owns_ffts_graph(op):
        return TaskRule.FFTS_PLUS
    rule = rule_of(ge_type(op), lib)
    if rule is None:
        raise task_error(op, f"cannot become a task: kernel lib '{lib}' has no builder for it")
    if rule is TaskRule.GONE:
        raise task_error(
            op, "should be gone before task generation: fold or replace it (ge-canonicalize)"
        )
    if rule is TaskRule.REFUSED:
        raise task_error(op, "has no task: task generation for it is not supported")
    return rule


def owns_ffts_graph(op: Operation) -> bool:
    """Whether the node calls an FFTS(+) sub-graph: it makes one task, the nodes inside make none."""
    return "subgraphs" in op.properties and (
        ge_attr(op, "_ffts_plus_sub_graph") is not None
        or ge_attr(op, "_ffts_sub_graph") is not None
    )


# --- sizes ------------------------------------------------------------------------------------------------------


def input_type(op: Operation, index: int) -> Attribute:
    """The type that the node sees in input slot `index`: the slot's own, else that of the value."""
    if "ge.arg_attrs" in op.attributes:
        own = slot_attrs(op, "arg", index).data.get("type")
        if own is not None:
            return own
    return data_operands(op)[index].type


def _known_bytes(op: Operation, kind: Attribute) -> int:
    size = value_bytes(kind)
    if size is None:
        raise task_error(op, f"copies {kind}, whose bytes are not known at compile time")
    return size


def copy_kind(op: Operation) -> int:
    """The `kind` that copy tasks of the node carry."""
    kind = ge_attr(op, "_rt_memcpy_kind", DEVICE_TO_DEVICE)
    return _KIND_AS_WRITTEN.get(kind, kind)


def copy_bytes(op: Operation, index: int) -> int:
    """Bytes to copy from input `index` to output `index`: not more than either has."""
    size = _known_bytes(op, input_type(op, index))
    listed = slot_attrs(op, "res", index).data.get("size")
    if isinstance(listed, IntegerAttr):
        return min(size, listed.value.data)
    return min(size, _known_bytes(op, data_results(op)[index].type))


def copied_slots(op: Operation) -> list[int]:
    """The slots that a copying node copies: input i to output i where both are wired."""
    ins, outs = data_operands(op), data_results(op)
    return [
        i
        for i in range(min(len(ins), len(outs)))
        if not is_absent(ins[i]) and not is_absent(outs[i])
    ]


def copied_descriptors(op: Operation) -> list[tuple[int, int]]:
    """Where a copying node has to copy tensor descriptors too, from and to which byte of the feature map: for inputs
    whose descriptor lies in memory. Raises TaskGenerationError where the output's does not."""
    if "ge.arg_attrs" not in op.attributes:
        return []
    found: list[tuple[int, int]] = []
    for i in copied_slots(op):
        source = slot_attrs(op, "arg", i).data.get(DESCRIPTOR_OFFSET)
        if not isinstance(source, IntegerAttr):
            continue
        target = slot_attrs(op, "res", i).data.get(DESCRIPTOR_OFFSET)
        if not isinstance(target, IntegerAttr):
            raise task_error(
                op, f"copies the descriptor of input {i}, output {i} has no place for it"
            )
        found.append((source.value.data, target.value.data))
    return found


def merge_bytes(op: Operation) -> int:
    """Bytes that a merging node copies: the largest input."""
    ins = data_operands(op)
    sizes = [_known_bytes(op, input_type(op, i)) for i in range(len(ins)) if not is_absent(ins[i])]
    return max(sizes, default=0)


def pieces(size: int, kind: int) -> list[int]:
    """`size` bytes cut into what one copy task of this kind takes; nothing for 0 bytes."""
    limit = DEVICE_COPY_PIECE if kind == DEVICE_TO_DEVICE else OTHER_COPY_PIECE
    whole, rest = divmod(size, limit)
    return [limit] * whole + ([rest] if rest else [])


def active_streams(op: Operation) -> Sequence[int]:
    """The streams that the node starts."""
    return ge_attr(op, "active_stream_list", [])


# --- the plan ---------------------------------------------------------------------------------------------------

_PLAIN: Mapping[TaskRule, tuple[str, ...]] = MappingProxyType(
    {
        TaskRule.NONE: (),
        TaskRule.AI_CPU: ("kernel",),
        TaskRule.AI_CPU_CUSTOM: ("kernel",),
        TaskRule.HOST_CPU: ("kernel",),
        TaskRule.KERNEL_EX: ("kernel_ex",),
        TaskRule.CUSTOM: ("custom_kernel",),
        TaskRule.HCCL: ("hccl",),
        TaskRule.DVPP: ("dvpp",),
        TaskRule.DSA: ("dsa",),
        TaskRule.FFTS_PLUS: ("ffts_plus",),
        TaskRule.EVENT_RECORD: ("event_record",),
        TaskRule.EVENT_WAIT: ("event_wait",),
        TaskRule.NOTIFY_RECORD: ("notify_record",),
        TaskRule.NOTIFY_WAIT: ("notify_wait",),
        TaskRule.MEM_EVENT_RECORD: ("mem_event_record",),
        TaskRule.MEM_EVENT_WAIT: ("mem_event_wait",),
        TaskRule.STREAM_SWITCH: ("stream_switch",),
        TaskRule.STREAM_SWITCH_N: ("stream_switch_n",),
        TaskRule.LABEL_SET: ("label_set",),
        TaskRule.LABEL_GOTO: ("stream_label_goto",),
        TaskRule.LABEL_SWITCH: ("stream_label_switch_by_index",),
        TaskRule.MODEL_EXIT: ("model_exit",),
        TaskRule.GET_STATUS: ("npu_get_float_status",),
        TaskRule.CLEAR_STATUS: ("npu_clear_float_status",),
        TaskRule.GET_DEBUG_STATUS: ("npu_get_debug_float_status",),
        TaskRule.CLEAR_DEBUG_STATUS: ("npu_clear_debug_float_status",),
        TaskRule.CMO: ("cmo",),
    }
)


def mix_notifies(op: Operation) -> tuple[int, int] | None:
    """The two notifies of an AI Core operator whose cube and vector halves run on two streams; None for others."""
    ids: object = ge_attr(op, "notify_id")
    if not isinstance(ids, list) or attached_stream(op) is None:
        return None
    numbers = cast("list[int]", ids)
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def attached_stream(op: Operation) -> int | None:
    """The node's attached stream (spec/streams.md section 5): the first valid id of the list, else the single id."""
    listed = ge_attr(op, "_attached_stream_info_list")
    if listed is not None:
        ids = [int(entry.get("_attached_resource_id", -1)) for entry in listed]
        return next((stream for stream in ids if stream != -1), None)
    stream = ge_attr(op, "_attached_stream_id", -1)
    return None if stream == -1 else stream


def has_kernel_list(op: Operation) -> bool:
    """Whether the operator's kernels stand behind one handle."""
    return ge_attr(op, "_kernel_list_first_name") is not None


def own_memset(op: Operation) -> tuple[int, ...]:
    """The outputs that an AI Core node zeroes with a kernel of its own before it runs (`need_gentask_atomic`)."""
    attrs = op.properties.get("attrs")
    if not isinstance(attrs, DictionaryAttr) or "need_gentask_atomic" not in attrs.data:
        return ()
    marks = marks_of(op)
    return marks.atomic_outputs if marks.zeroes_itself else ()


PARTLY_SUPPORTED = "partially_supported"


def is_partly_supported(op: Operation) -> bool:
    """Whether the node's AI Core kernel may refuse its inputs, so that an AI CPU variant stands behind it."""
    attrs = op.properties.get("attrs")
    return (
        isinstance(attrs, DictionaryAttr)
        and PARTLY_SUPPORTED in attrs.data
        and bool(ge_attr(op, PARTLY_SUPPORTED))
    )


def _ai_core(op: Operation, brackets: bool) -> tuple[str, ...]:
    handle = has_kernel_list(op)
    main: tuple[str, ...] = ("kernel_with_handle" if handle else "kernel",)
    if mix_notifies(op) is not None:
        vector = "vector_all_kernel" if handle else "vector_kernel"
        main = ("notify_record", *main, "notify_wait", vector, "notify_record", "notify_wait")
    if own_memset(op):
        main = ("kernel", *main)
    if brackets and "ge.is_first_node" in op.attributes:
        main = ("fusion_start", *main)
    if brackets and "ge.is_last_node" in op.attributes:
        main = (*main, "fusion_end")
    return (*main, "kernel") if is_partly_supported(op) else main


def _copies(op: Operation, _brackets: bool) -> tuple[str, ...]:
    kind = copy_kind(op)
    copies = sum(len(pieces(copy_bytes(op, i), kind)) for i in copied_slots(op))
    return ("memcpy_async",) * copies + ("memcpy_addr_async",) * len(copied_descriptors(op))


def _indirect_copies(op: Operation, _brackets: bool) -> tuple[str, ...]:
    return ("memcpy_addr_async",) * sum(copy_bytes(op, i) > 0 for i in copied_slots(op))


def _merge(op: Operation, _brackets: bool) -> tuple[str, ...]:
    return ("memcpy_async",) * len(pieces(merge_bytes(op), DEVICE_TO_DEVICE))


def _activations(op: Operation, _brackets: bool) -> tuple[str, ...]:
    return ("stream_active",) * len(active_streams(op))


def _end_graph(op: Operation, _brackets: bool) -> tuple[str, ...]:
    return ("end_graph",) if ends_model(op, graph_of(op)) else ()


_COUNTED: Mapping[TaskRule, Callable[[Operation, bool], tuple[str, ...]]] = MappingProxyType(
    {
        TaskRule.AI_CORE: _ai_core,
        TaskRule.COPY: _copies,
        TaskRule.COPY_INDIRECT: _indirect_copies,
        TaskRule.MERGE: _merge,
        TaskRule.STREAM_ACTIVE: _activations,
        TaskRule.END_GRAPH: _end_graph,
    }
)


def ends_model(op: Operation, graph: GraphOp) -> bool:
    """Whether a NetOutput node tells the host that the model is complete: that of the root graph does.

    A graph below another one ends a model of its own when its shapes are known and those of the graph above are not
    (the graph above has an unknown shape or was cut into dynamic parts).
    """
    if graph.prev_op is None or not _has_owner(graph) or (owner := _owning_graph(graph)) is None:
        return True
    return not get_flag(graph, "ge.unknown_shape") and (
        get_flag(owner, "ge.unknown_shape") or get_flag(owner, "ge.dynamic_shape_partitioned")
    )


def _has_owner(graph: GraphOp) -> bool:
    """Whether another graph of the model comes first: the first graph is the root."""
    previous = graph.prev_op
    while previous is not None:
        if isinstance(previous, GraphOp):
            return True
        previous = previous.prev_op
    return False


def _owning_graph(graph: GraphOp) -> GraphOp | None:
    name = graph.sym_name.data
    block = graph.parent
    assert block is not None
    for other in block.ops:
        if isinstance(other, GraphOp):
            for op in other.block.ops:
                owned = op.properties.get("subgraphs")
                if owned is not None and any(ref.string_value() == name for ref in owned.data):  # pyright: ignore
                    return other
    return None


def planned_tasks(
    op: Operation, brackets: bool = True, rule: TaskRule | None = None
) -> tuple[str, ...]:
    """The kinds of the node's tasks in order, as op names without the dialect (`kernel`, `memcpy_async`, ...).

    AI Core nodes are read with their marks `ge.is_first_node` and `ge.is_last_node` (`analysis.segments`); `brackets`
    false leaves FUSION_START and FUSION_END out. `rule` is the node's `task_rule` where the caller has it already.
    Raises TaskGenerationError.
    """
    found = task_rule(op) if rule is None else rule
    plain = _PLAIN.get(found)
    return _COUNTED[found](op, brackets) if plain is None else plain


def task_count(op: Operation, brackets: bool = True) -> int:
    """Tasks that the node makes. Raises TaskGenerationError."""
    return len(planned_tasks(op, brackets))


# --- the hardware queue -----------------------------------------------------------------------------------------


def assigned_sqe_num(op: Operation, *, attached: bool = False) -> int | None:
    """Queue entries that the node says it takes (on its attached stream, if asked for), None when it does not say."""
    rule = TaskRule.NONE if makes_no_task(op) else task_rule(op)
    count = ge_attr(op, "_node_sqe_num")
    if count is None and ge_type(op) == "MemcpyAsync" and rule is TaskRule.COPY:
        units = (value_bytes(value.type) or 0 for value in data_results(op))
        count = max(3, sum(size // _SQE_COPY_UNIT for size in units))
    if count is None and rule is TaskRule.MEM_EVENT_WAIT:
        count = _RECV_MEM_SQES
    if count is None and (rule is TaskRule.HCCL or ge_type(op) in COUNTED_COLLECTIVES):
        count = ge_attr(op, "_hccl_attached_task_num" if attached else "_hccl_task_num")
    if not count or count < 0:
        return None
    return count + 1 if ge_type(op) in ("Recv", "RecvMem") else count


def hardware_tasks(op: Operation, brackets: bool = True) -> int:
    """Entries that the node's tasks take in hardware queues, over all its streams (spec/tasks.md section 3.4)."""
    assigned = assigned_sqe_num(op)
    if assigned is not None:
        return assigned
    kinds = planned_tasks(op, brackets)
    return len(kinds) + kinds.count("event_wait")


def hardware_tasks_by_stream(op: Operation, brackets: bool = True) -> dict[int, int]:
    """Queue entries by stream: the node's main stream (-1 counts as 0) and its attached one (spec/streams.md 8.3).

    A node without stream and without tasks has no entry. A StreamActive node counts one entry a listed stream here;
    stream splitting, which knows the length of those streams, replaces it.
    """
    stream = get_int(op, "ge.stream", -1)
    assert stream is not None
    kinds = planned_tasks(op, brackets)
    if stream < 0 and not kinds:
        return {}
    main = max(stream, 0)
    count = len(kinds) + kinds.count("event_wait")
    side = attached_stream(op)
    counts = {main: count}
    if side is not None:
        if mix_notifies(op) is not None and task_rule(op) is TaskRule.AI_CORE:
            counts = {main: count - 3, side: 3}
        assigned_side = assigned_sqe_num(op, attached=True)
        if assigned_side is not None:
            counts |= dict.fromkeys(attached_streams(op), assigned_side)
    assigned = assigned_sqe_num(op)
    if assigned is not None:
        counts[main] = assigned
    return counts
