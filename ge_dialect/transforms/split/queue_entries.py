"""How much of each stream's queue a node takes when streams are split: spec/streams.md section 8.3."""

from __future__ import annotations

from typing import Protocol

from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_streams
from ge_dialect.analysis.segments import FIRST, LAST, mark_first_and_last
from ge_dialect.analysis.task_count import (
    assigned_sqe_num,
    attached_stream,
    mix_notifies,
    owns_ffts_graph,
    planned_tasks,
    task_rule,
)
from ge_dialect.analysis.task_kinds import TaskRule
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_type
from ge_dialect.transforms.split.limits import RESERVED_TASKS
from ge_dialect.transforms.sync.activation import active_streams
from ge_dialect.transforms.sync.model import NO_STREAM, STREAM, SyncModel, stream_of

_MIX_TASKS_ON_SIDE = 3

EntryTable = dict[Operation, dict[int, int]]
"""Node -> stream -> queue entries."""


class QueueCounts(Protocol):
    """Where the numbers come from."""

    def generated(self, op: Operation) -> dict[int, int]:
        """Entries of the tasks that the node makes, by stream (-1 for a node without stream); none without tasks."""
        ...

    def assigned(self, op: Operation, *, attached: bool = False) -> int | None:
        """Entries that the node itself says it takes on its main (attached) stream, None when it does not say."""
        ...


class PlannedCounts:
    """The tasks that the lowering will make (`analysis.task_count`)."""

    def __init__(self, model: SyncModel) -> None:
        """Marks the first and last nodes of segments, on which the number of tasks depends: see `close`."""
        mark_first_and_last(model.nodes)
        self._model = model
        emitted = walk_nodes(model.module, lambda op: not owns_ffts_graph(op))
        self._emitted = {op for op, _ in emitted}

    def close(self) -> None:
        """Take the marks away: segments are others once streams are cut."""
        for op in self._model.nodes:
            op.attributes.pop(FIRST, None)
            op.attributes.pop(LAST, None)

    def generated(self, op: Operation) -> dict[int, int]:
        """Raises TaskGenerationError for a node that cannot become tasks."""
        if op not in self._emitted:
            return {}
        rule = task_rule(op)
        if rule is TaskRule.NONE:
            return {}
        kinds = planned_tasks(op, rule=rule)
        count = len(kinds) + kinds.count("event_wait")
        if count == 0:
            return {}
        side = attached_stream(op)
        if rule is TaskRule.AI_CORE and side is not None and mix_notifies(op) is not None:
            return {stream_of(op): count - _MIX_TASKS_ON_SIDE, side: _MIX_TASKS_ON_SIDE}
        return {stream_of(op): count}

    def assigned(self, op: Operation, *, attached: bool = False) -> int | None:
        """Raises TaskGenerationError for a node that cannot become tasks."""
        return assigned_sqe_num(op, attached=attached) if op in self._emitted else None


def entry_table(model: SyncModel, counts: QueueCounts, max_tasks: int) -> EntryTable:
    """The entries of every node by stream. A node with tasks and without stream is put on stream 0.

    A StreamActive counts one entry for each piece that the streams it starts may be cut into.
    """
    table: EntryTable = {}
    totals: dict[int, int] = {}
    for op in model.nodes:
        generated = counts.generated(op)
        stream = stream_of(op)
        if stream == NO_STREAM:
            if not generated:
                continue
            op.attributes[STREAM] = i64(0)
            stream = 0
        entries = {stream: 0}
        for each, count in generated.items():
            key = stream if each == NO_STREAM else each
            entries[key] = entries.get(key, 0) + count
        if assigned := counts.assigned(op):
            entries[stream] = assigned
        if attached := attached_streams(op):
            assigned = counts.assigned(op, attached=True)
            if assigned:
                entries.update(dict.fromkeys(attached, assigned))
        table[op] = entries
        for each, count in entries.items():
            totals[each] = totals.get(each, 0) + count
    for op, entries in table.items():
        if ge_type(op) == "StreamActive":
            entries[stream_of(op)] = sum(
                -(-totals.get(each, 0) // max_tasks) for each in active_streams(op)
            )
    return table


def needs_huge_stream(model: SyncModel, counts: QueueCounts, max_tasks: int) -> bool:
    """Whether all tasks of a model do not fit into one normal stream (section 8.2)."""
    return single_stream_entries(model, counts) > max_tasks


def single_stream_entries(model: SyncModel, counts: QueueCounts) -> int:
    """The queue entries of all tasks of a model on one stream, with those in reserve."""
    total = RESERVED_TASKS
    for op in model.nodes:
        if generated := counts.generated(op):
            total += counts.assigned(op) or sum(generated.values())
    return total
