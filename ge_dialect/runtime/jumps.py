"""Where jumps lead in a task list: the stretches of each stream that may run any number of times."""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.dialects.ge_task import (
    LabelSetOp,
    StreamLabelGotoOp,
    StreamLabelSwitchByIndexOp,
    TaskOp,
)
from ge_dialect.runtime.properties import number, numbers


def labels_of(op: TaskOp) -> Sequence[int]:
    """The labels that a task sets or jumps to."""
    if isinstance(op, LabelSetOp | StreamLabelGotoOp):
        return (number(op, "label"),)
    if isinstance(op, StreamLabelSwitchByIndexOp):
        return numbers(op, "labels")
    return ()


def between_jumps(queue: Sequence[TaskOp]) -> list[bool]:
    """For each task of one stream: does it stand between the first and the last mention of a label? Linear."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, op in enumerate(queue):
        for label in labels_of(op):
            first.setdefault(label, place)
            last[label] = place
    change = [0] * (len(queue) + 1)
    for label, place in first.items():
        change[place] += 1
        change[last[label]] -= 1
    found: list[bool] = []
    depth = 0
    for step in change[:-1]:
        found.append(depth > 0)
        depth += step
    return found
