"""Which nodes of a dynamic graph can be sunk together: known shapes, in groups that no path leaves and enters again.

Each node gets a stage: on every path it is the number of times that the path has gone from a node the host schedules to
one of known shape. A path never goes back to a lower stage, so nodes of known shape and equal stage can be joined
without making a cycle, and joining all that touch gives as few and as large clusters as this rule allows. One sweep,
linear in nodes and edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.known_shape import node_reason, type_reason
from ge_dialect.dialects.engine_table import HOST_CPU
from ge_dialect.dialects.engine_types import VIEW_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    get_text,
    is_absent,
    is_control,
    source_op,
)
from ge_dialect.dialects.ge.access import ge_type as type_of
from ge_dialect.dialects.ge.graph import GateOp, TokenOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import ConstantOp, DataOp, NetOutputOp, VariableOp
from ge_dialect.transforms.host.roles import SHAPE_INSPECTORS

_NO_MEMBERS = (DataOp, ConstantOp, VariableOp, NetOutputOp)


@dataclass(slots=True)
class Cluster:
    """Nodes of known shape that become one graph, in order."""

    members: list[Operation]

    @property
    def size(self) -> int:
        """How many of the nodes compute; views only rename memory."""
        return sum(type_of(op) not in VIEW_TYPES for op in self.members)


@dataclass(slots=True)
class Partition:
    """The clusters of a graph in the order of their first nodes, and why each other node is scheduled by the host."""

    clusters: list[Cluster]
    unknown: dict[Operation, tuple[str, str]]


def partition(ops: Sequence[Operation]) -> Partition:
    """The clusters among `ops`, which are in topological order."""
    on_host: set[Operation] = set()
    unknown: dict[Operation, tuple[str, str]] = {}
    stages: dict[Operation, int] = {}
    known: dict[Operation, int] = {}
    groups: list[int] = []
    members: list[Operation] = []
    for op in ops:
        producers = [x for value in op.operands if (x := _producer(value)) is not None]
        reason = _unknown_reason(op, on_host)
        if reason is not None:
            stages[op] = max((stages[x] for x in producers), default=0)
            if isinstance(op, GeNode) and not isinstance(op, _NO_MEMBERS):
                unknown[op] = reason
                if reason[0] == "host":
                    on_host.add(op)
            continue
        stage = max((stages[x] + (x not in known) for x in producers), default=1)
        stages[op] = max(stage, 1)
        known[op] = len(members)
        groups.append(len(members))
        members.append(op)
        for producer in producers:
            if producer in known and stages[producer] == stages[op]:
                _join(groups, known[producer], known[op])
    found: dict[int, Cluster] = {}
    for number, op in enumerate(members):
        found.setdefault(_root(groups, number), Cluster([])).members.append(op)
    return Partition(list(found.values()), unknown)


def _producer(value: SSAValue) -> Operation | None:
    """The node behind a value; none for constants, which every cluster has for itself, and absent slots."""
    owner = value.owner
    if not isinstance(owner, Operation) or isinstance(owner, ConstantOp) or is_absent(value):
        return None
    return owner


def _unknown_reason(op: Operation, on_host: set[Operation]) -> tuple[str, str] | None:
    """Why a node cannot be sunk, as condition and sentence; None when it can."""
    if not isinstance(op, GeNode) or isinstance(op, _NO_MEMBERS):
        return "no-node", "it computes nothing"
    operands = data_operands(op)
    first = _producer(operands[0]) if operands else None
    kind = type_of(op)
    if get_text(op, "ge.engine") == HOST_CPU:
        return "host", "it runs on the host CPU"
    if kind in SHAPE_INSPECTORS and source_op(op) is None:
        return "host", f"{kind} reads a shape, which is on the host"
    if kind in VIEW_TYPES and first in on_host:
        return "host", "it is a view of a value on the host"
    if any(is_control(x) for x in (*op.operands, *op.results)):
        return "control", "it has control edges"
    if any(isinstance(_producer(x), VariableOp) for x in operands):
        return "variable", "it reads a variable, which may be written through"
    if any(isinstance(_producer(x), GateOp | TokenOp) for x in operands):
        return "control", "a gate delays its input"
    for index, value in enumerate(operands):
        if not is_absent(value) and (reason := type_reason(value.type)) is not None:
            return "unknown", f"input {index} {reason}"
    reason = node_reason(op)
    return None if reason is None else ("unknown", reason)


def _root(groups: list[int], number: int) -> int:
    while groups[number] != number:
        groups[number] = groups[groups[number]]
        number = groups[number]
    return number


def _join(groups: list[int], one: int, other: int) -> None:
    first, second = _root(groups, one), _root(groups, other)
    groups[max(first, second)] = min(first, second)
