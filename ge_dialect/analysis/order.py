"""Orders that analyses and passes stand on: block positions, consumers of a value, a topological order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.dialects.attrs import array_items, text_of
from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError


def positions(graph: GraphOp) -> dict[Operation, int]:
    """The place of every op in the graph's block, counted from 0: dense ids for this state of the graph."""
    return {op: index for index, op in enumerate(graph.block.ops)}


def consumers(value: SSAValue, place: Mapping[Operation, int]) -> list[tuple[Operation, int]]:
    """Who reads a value, as (op, operand index), in the order (block position, operand index).

    This, not `value.uses` (newest first), is the order of GE's peers (design.md section 4). Control uses do not occur:
    they are uses of another value. What the producer's `ge.consumers` lists comes first, in its order.
    """
    found = [(use.operation, use.index) for use in value.uses]
    if len(found) < 2:
        return found
    found.sort(key=lambda item: (place[item[0]], item[1]))
    owner = value.owner
    if isinstance(owner, Operation) and "ge.consumers" in owner.attributes:
        listed = [text_of(item) for item in array_items(owner.attributes["ge.consumers"])]
        rank = {text: number for number, text in enumerate(listed)}
        assert isinstance(value, OpResult)
        found.sort(
            key=lambda item: rank.get(f"{value.index}:{node_name(item[0])}:{item[1]}", len(rank))
        )
    return found


def operands_within(op: Operation) -> Iterator[SSAValue]:
    """What an op reads, ops inside its regions included."""
    if not op.regions:
        yield from op.operands
        return
    for inner in op.walk():
        yield from inner.operands


def topological_order(ops: Sequence[Operation]) -> list[Operation]:
    """A stable topological order of the ops of one block: among those that are ready, the first in list order.

    Raises GeError, naming the nodes of one cycle, when there is none. O((n + edges) log n).
    """
    place = {op: index for index, op in enumerate(ops)}
    missing = [0] * len(ops)
    readers: list[list[int]] = [[] for _ in ops]
    for index, op in enumerate(ops):
        for operand in operands_within(op):
            if (
                isinstance(operand, OpResult)
                and (source := place.get(operand.op)) is not None
                and source != index
            ):
                readers[source].append(index)
                missing[index] += 1
            elif isinstance(operand, OpResult) and operand.op is op:
                raise _cycle_error([op])
    ready = [index for index, count in enumerate(missing) if count == 0]  # ascending, hence a heap
    order: list[Operation] = []
    while ready:
        index = heappop(ready)
        order.append(ops[index])
        for reader in readers[index]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heappush(ready, reader)
    if len(order) < len(ops):
        raise _cycle_error(_find_cycle(ops, place, missing))
    return order


def _find_cycle(
    ops: Sequence[Operation], place: dict[Operation, int], missing: list[int]
) -> list[Operation]:
    """One cycle: from any op that never got ready, walk back along operands that never did either."""
    at = next(index for index, count in enumerate(missing) if count)
    seen: dict[int, int] = {}
    path: list[int] = []
    while at not in seen:
        seen[at] = len(path)
        path.append(at)
        at = next(
            place[operand.op]
            for operand in operands_within(ops[at])
            if isinstance(operand, OpResult) and operand.op in place and missing[place[operand.op]]
        )
    return [ops[index] for index in reversed(path[seen[at] :])]


def _cycle_error(cycle: list[Operation]) -> GeError:
    names = [f'"{node_name(op) or op.name}"' for op in cycle]
    return GeError(f"cycle of nodes: {' -> '.join([*names, names[0]])}", location_text(cycle[0]))


def is_sorted(ops: Sequence[Operation]) -> bool:
    """Whether every op of the block stands behind what it reads."""
    waiting = set(ops)
    for op in ops:
        for operand in operands_within(op):
            if (
                isinstance(operand, OpResult)
                and operand.op in waiting
                and (operand.op is op or not op.regions)
            ):
                return False
        waiting.discard(op)
    return True
