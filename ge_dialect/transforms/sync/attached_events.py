"""Events to and from attached streams: spec/streams.md sections 6.6 and 6.7."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from xdsl.ir import Operation, OpResult

from ge_dialect.analysis.attached import STREAM_LIST, attached_ids, attached_streams
from ge_dialect.analysis.order import consumers
from ge_dialect.analysis.references import producer
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    node_name,
    slot_attrs,
)
from ge_dialect.dialects.ge.nodes import NetOutputOp
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.insertion import has_any, owns_ffts
from ge_dialect.transforms.sync.model import (
    FIRST_ACTIVE,
    NO_STREAM,
    SyncModel,
    is_set,
    sync_error,
)

STREAM_INFO = "_attached_stream_info"
DEPENDENCIES = "_attached_resource_depend_value_list_int"
OLD_DEPENDENCIES = "_attached_stream_depend_value_list"
IR_NAMES, IR_KINDS = "_ir_inputs_key", "_ir_inputs_value"
DYNAMIC = 2
"""Kind of an IR input that stands for any number of slots (required: 0, optional: 1)."""

_READY_AT_LOAD = frozenset({"Data", "Const", "Constant", "ConstPlaceHolder"})
_VARIABLES = frozenset({"Variable", "VariableV2", "RefData"})


# --- the rule of a pair ---------------------------------------------------------------------------------------------


def insert_attached_pair(source: Operation, op: Operation, events: Events) -> bool:
    """Let the attached stream of `op` wait for `source` where it has to (section 6.6, step 3); whether it has to.

    Only events do this, never notifies. Raises SyncError when either node has several attached streams.
    """
    if events.kind != "event" or ge_type(source) in _READY_AT_LOAD:
        return False
    before, after = _one_attached(source), _one_attached(op)
    if before == after:
        return False
    send = None if before == NO_STREAM else before
    recv = None if after == NO_STREAM else after
    events.add_side(source, send, op, recv)
    return True


def _one_attached(op: Operation) -> int:
    ids = attached_ids(op)
    if len(ids) > 1:
        raise sync_error(
            op, f"has {len(ids)} attached streams; at most one may take part in events of values"
        )
    return ids[0] if ids else NO_STREAM


# --- who is waited for ----------------------------------------------------------------------------------------------


def _dependencies(op: Operation) -> list[int]:
    """The IR inputs whose values the attached stream of the node needs."""
    listed = ge_attr(op, STREAM_LIST)
    indices: list[int] = []
    if listed is not None:
        for entry in cast("list[dict[str, Any]]", listed):
            indices += entry.get(DEPENDENCIES, ())
        return indices
    info = ge_attr(op, STREAM_INFO)
    entries = cast("list[dict[str, Any]]", info if isinstance(info, list) else [info or {}])
    for entry in entries:
        for text in str(entry.get(OLD_DEPENDENCIES, "")).split(","):
            if text.strip():
                try:
                    indices.append(int(text))
                except ValueError:
                    raise sync_error(
                        op, f"has '{text}' in {OLD_DEPENDENCIES}, expected input numbers"
                    ) from None
    return indices


def slots_of_ir_input(op: Operation, index: int) -> Sequence[int]:
    """The data slots that IR input `index` stands for: several for a dynamic one, whose slots are called after it.

    Without a list of IR inputs (`_ir_inputs_key`) they are the slots. Raises SyncError for an unknown index.
    """
    count = len(data_operands(op))
    names = ge_attr(op, IR_NAMES)
    if names is None:
        if 0 <= index < count:
            return (index,)
        raise sync_error(op, f"has no input {index}, on which its attached stream depends")
    if not 0 <= index < len(names):
        raise sync_error(op, f"has no IR input {index}, on which its attached stream depends")
    kinds = list(ge_attr(op, IR_KINDS, ()))
    slot_names = [text_of(slot_attrs(op, "arg", slot).data.get("name")) for slot in range(count)]
    slot = 0
    for number, name in enumerate(names):
        taken = 1
        if number < len(kinds) and kinds[number] == DYNAMIC:
            taken = _dynamic_slots(slot_names[slot:], name)
        if number == index:
            return range(slot, min(slot + taken, count))
        slot += taken
    raise AssertionError("unreachable: the index was checked")


def _dynamic_slots(names: Sequence[str | None], prefix: str) -> int:
    taken = 0
    while taken < len(names) and names[taken] == f"{prefix}{taken}":
        taken += 1
    return taken


def _last_writer(model: SyncModel, value: OpResult, reader: Operation) -> Operation:
    """Who made a value last before `reader`: for a variable, the last node that updates it in place."""
    op = value.op
    if ge_type(op) not in _VARIABLES:
        return op
    found = op
    for user, slot in consumers(value, model.place):
        if model.place[user] > model.place[reader] or not is_set(user, "reference"):
            continue
        name = text_of(slot_attrs(user, "arg", slot).data.get("name"))
        outputs = range(len(data_results(user)))
        if name is None or all(
            text_of(slot_attrs(user, "res", k).data.get("name")) != name for k in outputs
        ):
            continue
        if found is op or model.place[user] >= model.place[found]:
            found = user
    return found


def _head_after(model: SyncModel, source: Operation) -> Operation:
    """What starts the sub-graph of `source`, when that comes after it."""
    graph = model.graph_of[source]
    for op in model.direct_nodes(graph):
        if (
            ge_type(op) == "StreamActive"
            and is_set(op, FIRST_ACTIVE)
            and model.place[source] < model.place[op]
        ):
            return op
    return source


def _sources(model: SyncModel, op: Operation) -> Iterator[Operation]:
    for index in _dependencies(op):
        for slot in slots_of_ir_input(op, index):
            value = producer(data_operands(op)[slot])
            if value is not None:
                yield _head_after(model, _last_writer(model, value, op))


def insert_value_dependencies(model: SyncModel, events: Events) -> int:
    """Events from who makes the values that attached streams need (section 6.6). The number of events added.

    Raises SyncError for an unknown input and for several attached streams on one node.
    """
    before = events.count
    for op in model.nodes:
        if not has_any(op, (STREAM_INFO, STREAM_LIST)) or owns_ffts(op):
            continue
        sources = dict.fromkeys(_sources(model, op))
        for source in sorted(sources, key=lambda source: model.place[source]):
            insert_attached_pair(source, op, events)
    return events.count - before


# --- the end of the step --------------------------------------------------------------------------------------------


def cover_attached_streams(model: SyncModel, events: Events) -> list[Operation]:
    """Let the graph's output wait for each attached stream (section 6.7). The nodes whose graph has no output."""
    last: dict[int, Operation] = {}
    for op in model.nodes:
        for stream in attached_streams(op):
            last[stream] = op
    outputs = {
        model.graph_of[op]: op for op in reversed(model.nodes) if isinstance(op, NetOutputOp)
    }
    uncovered: list[Operation] = []
    for stream in sorted(last):
        op = last[stream]
        output = outputs.get(model.graph_of[op])
        if output is None:
            uncovered.append(op)
        else:
            events.add_side(op, stream, output, None)
    return uncovered


def describe_uncovered(op: Operation) -> str:
    """Why an attached stream has no event to the output."""
    return f'the graph of "{node_name(op)}" has no output that could wait for its attached stream'
