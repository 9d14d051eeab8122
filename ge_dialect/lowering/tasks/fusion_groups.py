"""Nodes that a fusion of buffers ties together: their tasks are issued in a row (spec/tasks.md section 1, rule 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.task_count import task_error
from ge_dialect.dialects.ge.access import ge_attr, get_int, node_name
from ge_dialect.dialects.ge_task import BufferOp, VirtualOp
from ge_dialect.dialects.ge_task.control import FusionEndOp, FusionStartOp, NopOp, TraceTaskOp
from ge_dialect.dialects.ge_task.sync import EventRecordOp, MemEventRecordOp, NotifyRecordOp
from ge_dialect.dialects.ge_task.task import OperandTaskOp, TaskOp

GROUP_IDS = ("_l1_fusion_group_id", "_l2_fusion_group_id")
_STREAM_FACTOR = 100_000

_PASSABLE = (
    FusionStartOp,
    FusionEndOp,
    NopOp,
    TraceTaskOp,
    EventRecordOp,
    NotifyRecordOp,
    MemEventRecordOp,
)
"""Tasks without data that a task may be issued in front of: it is then still behind all that it waits for."""


@dataclass(slots=True)
class Issue:
    """What one node makes."""

    op: Operation
    made: list[TaskOp | VirtualOp]

    @property
    def has_tasks(self) -> bool:
        """Whether anything is issued for the node."""
        return any(isinstance(each, TaskOp) for each in self.made)


def group_key(op: Operation) -> int | None:
    """The group of a node: its group id, told apart by stream; None for a node in no group."""
    if "attrs" not in op.properties:
        return None
    for name in GROUP_IDS:
        group = ge_attr(op, name)
        if isinstance(group, int):
            return group + (get_int(op, "ge.stream", -1) or 0) * _STREAM_FACTOR
    return None


def in_groups(issues: Sequence[Issue]) -> list[Issue]:
    """The issues with those of a group at the place of its first, all of whose tasks have the name of its first node.

    Raises TaskGenerationError where a node would come in front of a task that it has to stand behind.
    """
    members: dict[int, list[int]] = {}
    keys = [group_key(issue.op) if issue.has_tasks else None for issue in issues]
    for place, key in enumerate(keys):
        if key is not None:
            members.setdefault(key, []).append(place)
    for key, places in members.items():
        _check(issues, places, key)
    result: list[Issue] = []
    for place, (issue, key) in enumerate(zip(issues, keys, strict=True)):
        if key is None:
            result.append(issue)
        elif members[key][0] == place:
            group = [issues[member] for member in members[key]]
            _name(group)
            result += group
    return result


def _name(group: Sequence[Issue]) -> None:
    first = group[0].op.attributes.get("ge.name")
    if first is None:
        return
    for issue in group[1:]:
        for task in issue.made:
            if isinstance(task, TaskOp):
                task.attributes["ge.name"] = first


def _check(issues: Sequence[Issue], places: Sequence[int], key: int) -> None:
    passed: list[Issue] = []
    for before, place in pairwise(places):
        passed += issues[before + 1 : place]
        for other in passed:
            if other.op is not issues[place].op and _must_follow(issues[place], other):
                raise task_error(
                    issues[place].op,
                    f'cannot be issued with fusion group {key}: it has to stand behind "{node_name(other.op)}"',
                )


def _must_follow(issue: Issue, other: Issue) -> bool:
    """Whether a task of `issue` must not be issued in front of those of `other`."""
    streams = {task.stream.value.data for task in issue.made if isinstance(task, TaskOp)}
    for task in other.made:
        if not isinstance(task, TaskOp) or task.stream.value.data not in streams:
            continue
        if not isinstance(task, OperandTaskOp):
            if not isinstance(task, _PASSABLE):
                return True
            continue
        for mine in issue.made:
            if isinstance(mine, OperandTaskOp) and _clash(mine, task):
                return True
    return False


def _clash(one: OperandTaskOp, other: OperandTaskOp) -> bool:
    """Whether one of the two tasks writes what the other reads or writes."""
    pairs = (
        ((*one.outs, *one.workspaces), tuple(other.operands)),
        (tuple(one.operands), (*other.outs, *other.workspaces)),
    )
    return any(
        a.space == b.space
        and a.offset.value.data < b.offset.value.data + b.size.value.data
        and b.offset.value.data < a.offset.value.data + a.size.value.data
        for left, right in pairs
        for a in _buffers(left)
        for b in _buffers(right)
    )


def _buffers(values: Sequence[SSAValue]) -> Iterator[BufferOp]:
    for value in values:
        if isinstance(value.owner, BufferOp):
            yield value.owner
