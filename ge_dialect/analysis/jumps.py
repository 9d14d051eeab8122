"""Stretches of a block inside which jumps happen: what must stay together, in order and on one stream.

A graph with labels is a program: block order is what runs, but for jumps. From the first node that names a label to
the last, nothing may be put in between, taken out or moved, and all of it is one queue (labels are positions in the
queue of their jumps, spec/tasks.md 3.2). Labels whose stretches overlap make one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_attr
from ge_dialect.dialects.ge.nodes import LabelGotoOp, LabelSetOp, LabelSwitchOp

JUMPS = (LabelSetOp, LabelGotoOp, LabelSwitchOp)
"""The nodes that name labels."""


@dataclass(frozen=True, slots=True)
class Region:
    """From position `first` to position `last` of a list of nodes, both included."""

    first: int
    last: int

    def __contains__(self, position: int) -> bool:
        return self.first <= position <= self.last


def has_jumps(ops: Iterable[Operation]) -> bool:
    """Whether some node names a label."""
    return any(isinstance(op, JUMPS) for op in ops)


def labels_of(op: Operation) -> Sequence[int]:
    """The labels that a node sets or jumps to."""
    if isinstance(op, LabelSwitchOp):
        return ge_attr(op, "_label_switch_list", [])
    if isinstance(op, LabelSetOp | LabelGotoOp):
        label = ge_attr(op, "_label_switch_index")
        return () if label is None else (label,)
    return ()


def jump_regions(ops: Sequence[Operation]) -> list[Region]:
    """The stretches of a list of nodes in block order, ascending and disjoint. Linear."""
    last: dict[int, int] = {}
    named: list[tuple[int, Sequence[int]]] = []
    for position, op in enumerate(ops):
        if labels := labels_of(op):
            named.append((position, labels))
            last.update(dict.fromkeys(labels, position))
    found: list[Region] = []
    first = end = -1
    for position, labels in named:
        if position > end:
            if first >= 0:
                found.append(Region(first, end))
            first = end = position
        end = max(end, *(last[label] for label in labels))
    if first >= 0:
        found.append(Region(first, end))
    return found
