"""Nodes without task in a task list: what stays of them for whoever debugs or counts."""

from __future__ import annotations

from xdsl.ir import Operation

from ge_dialect.analysis.sizes import value_bytes
from ge_dialect.analysis.task_count import kernel_lib, planned_tasks
from ge_dialect.analysis.task_kinds import TaskRule, rule_of
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import data_results, ge_type
from ge_dialect.dialects.ge_task import VirtualOp
from ge_dialect.lowering.tasks.buffers import BufferTable
from ge_dialect.lowering.tasks.emit import node_properties

_NEVER_RUN = (None, TaskRule.NONE, TaskRule.GONE, TaskRule.REFUSED)


def virtual_op(op: Operation, op_index: int, buffers: BufferTable) -> VirtualOp:
    """The entry of a node that is marked `ge.no_task`, with the tasks and bytes that the mark saves."""
    tasks = _tasks_without_mark(op)
    copied = sum(value_bytes(value.type) or 0 for value in data_results(op)) if tasks else 0
    kept = {name: value for name, value in node_properties(op).items() if name != "source"}
    name = op.attributes.get("ge.name")
    made = VirtualOp.make(
        buffers.inputs(op),
        buffers.outputs(op),
        {**kept, "op_index": i64(op_index), "saved_tasks": i64(tasks), "saved_bytes": i64(copied)},
        {} if name is None else {"ge.name": name},
    )
    made.location = op.location
    return made


def _tasks_without_mark(op: Operation) -> int:
    """How many tasks the node would make; 0 for a type that never makes any (PhonyConcat)."""
    lib = kernel_lib(op)
    rule = rule_of(ge_type(op), lib) if lib else None
    if rule in _NEVER_RUN:
        return 0
    return len(planned_tasks(op, brackets=False, rule=rule))
