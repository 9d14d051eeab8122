"""What nodes without task save: counted once, when a task list is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.runtime.properties import number


@dataclass(frozen=True, slots=True)
class Savings:
    """`nodes` without task; of these `inits` have a kernel that needs no initialisation (spec/no_task.md section 11).
    A step does without `launches` tasks and copies `bytes` less."""

    nodes: int
    inits: int
    launches: int
    bytes: int


def savings_of(model: ModelOp) -> Savings:
    """The savings of one task list."""
    nodes = model.virtuals()
    tasks = [number(op, "saved_tasks") for op in nodes]
    return Savings(
        len(nodes),
        sum(count > 0 for count in tasks),
        sum(tasks),
        sum(number(op, "saved_bytes") for op in nodes),
    )
