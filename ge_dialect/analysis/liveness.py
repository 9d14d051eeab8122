"""When memory of a graph is in use: one interval of block positions for every set of values that share it.

Source: spec/memory.md section 3. Time is the position in the block; a block of memory is in use from the node that
writes it to the last node that reads any value in it, both included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.aliases import alias_roots, is_view
from ge_dialect.analysis.sizes import aligned, block_size, value_bytes
from ge_dialect.dialects.engine_types import CONSTANT_TYPES, DATA_TYPES, VARIABLE_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_type,
    get_int,
    get_ints,
    is_absent,
)
from ge_dialect.dialects.ge.graph import GateOp, GraphOp
from ge_dialect.dialects.ge.nodes import DataOp


class Role(Enum):
    """What a piece of memory is for."""

    FEATURE = "feature map"
    OUTPUT = "model output"
    INPUT = "model input"
    WEIGHT = "constant"
    VARIABLE = "variable"


@dataclass(slots=True)
class Memory:
    """Memory that one or more values share.

    `bytes`: whole blocks. `start`/`end`: positions of the first and the last node that touch it, both included.
    `io`: number of the model input or output that it is (`Role.INPUT`, `Role.OUTPUT`). `streams`: of the nodes that
    touch it (None: a node without stream), the writer's first.
    """

    values: list[OpResult]
    bytes: int
    start: int
    end: int
    role: Role = Role.FEATURE
    io: int = 0
    streams: dict[int | None, None] = field(default_factory=dict[int | None, None])


@dataclass(slots=True)
class Workspace:
    """Scratch memory number `index` of a node, in use while it runs."""

    op: Operation
    index: int
    bytes: int
    at: int


@dataclass(slots=True)
class Liveness:
    """All memory of a graph. `memory` is in the order of the values that own it; `of` finds a value's."""

    memory: list[Memory]
    of: dict[SSAValue, Memory]
    workspaces: list[Workspace]
    length: int

    def lower_bound(self) -> int:
        """The most bytes of feature map that are in use at one position: no plan for this order needs less."""
        change = [0] * (self.length + 1)
        for item in self.memory:
            if item.role is Role.FEATURE:
                change[item.start] += item.bytes
                change[item.end + 1] -= item.bytes
        for space in self.workspaces:
            change[space.at] += space.bytes
            change[space.at + 1] -= space.bytes
        most = live = 0
        for step in change:
            live += step
            most = max(most, live)
        return most


def _role(op: Operation) -> Role:
    kind = ge_type(op)
    if kind in DATA_TYPES:
        return Role.INPUT
    if kind in CONSTANT_TYPES:
        return Role.WEIGHT
    return Role.VARIABLE if kind in VARIABLE_TYPES else Role.FEATURE


def stream_of(op: Operation) -> int | None:
    """The node's stream, None without one."""
    stream = get_int(op, "ge.stream", -1)
    return None if stream is None or stream < 0 else stream


def liveness(graph: GraphOp) -> Liveness:
    """The memory of a graph whose types are all static. Linear in nodes and edges.

    An output without reader is in use at its own node only. Values of types without a size (absent outputs, control
    edges) have no memory.
    """
    ops = list(graph.block.ops)
    roots = alias_roots(ops)
    found = Liveness([], {}, [], len(ops))
    inputs = 0
    for at, op in enumerate(ops):
        stream = stream_of(op)
        touches = not (isinstance(op, GateOp) or is_view(op))  # the others only rename
        for operand in op.operands:
            if (memory := found.of.get(operand)) is not None:
                memory.end = at
                if touches:
                    memory.streams[stream] = None
        for result in data_results(op):
            if (exact := value_bytes(result.type)) is None:
                continue
            memory = found.of.get(roots[result])
            if memory is None:
                memory = Memory([], 0, at, at, _role(op), streams={stream: None})
                if memory.role is Role.INPUT:
                    memory.io = _input_number(op, inputs)
                    inputs += 1
                found.memory.append(memory)
            memory.values.append(result)
            memory.bytes = max(memory.bytes, block_size(exact))
            memory.end = at
            found.of[result] = memory
        for index, size in enumerate(get_ints(op, "ge.workspace_bytes") or ()):
            found.workspaces.append(Workspace(op, index, aligned(size), at))
        if ge_type(op) == "NetOutput":
            _mark_outputs(op, found)
    return found


def _input_number(op: Operation, default: int) -> int:
    index = op.index if isinstance(op, DataOp) else None
    return default if index is None else index.value.data


def _mark_outputs(op: Operation, found: Liveness) -> None:
    """What NetOutput reads stays: it is the model's output, unless it lives elsewhere already."""
    for number, operand in enumerate(data_operands(op)):
        memory = None if is_absent(operand) else found.of.get(operand)
        if memory is not None and memory.role is Role.FEATURE:
            memory.role, memory.io = Role.OUTPUT, number
