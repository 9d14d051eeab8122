"""The checker against the definition: mutated plans are found wrong exactly when two buffers that conflict share bytes.

The definition is written down here a second time, pair by pair and with a dense closure, for graphs without runs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_graphs import random_mixed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult

from ge_dialect.analysis.aliases import aliased_operand, is_view
from ge_dialect.analysis.liveness import stream_of
from ge_dialect.analysis.memory_check import arenas_of, check_plan, place_of
from ge_dialect.analysis.sizes import aligned, stored_size, value_bytes
from ge_dialect.dialects.attrs import i64_array
from ge_dialect.dialects.ge import DataOp, GraphOp, NetOutputOp
from ge_dialect.dialects.ge.access import data_results, get_ints
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory

END, THERE = -1, -2
"""As a user: the caller, who reads model outputs behind everything; as a writer: there before the first node."""


@dataclass
class Buffer:
    """Bytes [start, end), who writes them first and who uses them."""

    start: int
    end: int
    writer: int
    users: set[int] = field(default_factory=set[int])


def closure(ops: list[Operation]) -> list[set[int]]:
    """For each op those that are done before it."""
    place = {op: index for index, op in enumerate(ops)}
    streams = {stream_of(op) for op in ops} - {None}
    before: list[set[int]] = []
    for index, op in enumerate(ops):
        if len(streams) <= 1:
            before.append(set(range(index)))
            continue
        found: set[int] = set()
        for operand in op.operands:
            assert isinstance(operand, OpResult)
            found |= {place[operand.op]} | before[place[operand.op]]
        if stream_of(op) is not None:
            for earlier in range(index):
                if stream_of(ops[earlier]) == stream_of(op):
                    found |= {earlier} | before[earlier]
        before.append(found)
    return before


def buffers_of(ops: list[Operation]) -> list[Buffer] | None:
    """All memory with its uses; None when an output has no place, or a reference another than what it refers to."""
    buffers: list[Buffer] = []
    of: dict[OpResult, Buffer] = {}
    for index, op in enumerate(ops):
        renames = is_view(op)
        for operand in op.operands:
            assert isinstance(operand, OpResult)
            if operand in of and not renames:
                of[operand].users.add(END if isinstance(op, NetOutputOp) else index)
        for number, result in enumerate(data_results(op)):
            exact, place = value_bytes(result.type), place_of(op, number)
            assert exact is not None
            if place is None:
                return None
            source = aliased_operand(result)
            end = place[1] + stored_size(exact)
            if source is None:
                writer = THERE if isinstance(op, DataOp) else index
                buffers.append(Buffer(place[1], end, writer))
                of[result] = buffers[-1]
            else:
                assert isinstance(source, OpResult)
                of[result] = of[source]
                if place[1] != of[source].start:
                    return None
                of[source].end = max(of[source].end, end)
            if not renames and not isinstance(op, DataOp):
                of[result].users.add(index)
        offsets = get_ints(op, "ge.workspace_offsets") or []
        for at, length in zip(offsets, get_ints(op, "ge.workspace_bytes") or [], strict=True):
            buffers.append(Buffer(at, at + length, index, {index}))
    return buffers


def is_safe(graph: GraphOp) -> bool:
    """The definition."""
    ops = list(graph.block.ops)
    before = closure(ops)
    size = arenas_of(graph)["hbm"]
    buffers = buffers_of(ops)
    if buffers is None or any(x.start % 512 or aligned(x.end) > size for x in buffers):
        return False

    def follows(second: Buffer, first: Buffer) -> bool:
        return second.writer != THERE and first.users <= before[second.writer]

    return all(
        follows(first, second) or follows(second, first)
        for first, second in combinations(buffers, 2)
        if first.start < second.end and second.start < first.end
    )


def planned(graph: GraphOp) -> GraphOp:
    GePlanMemory(budget_ms=0).apply(Context(), ModuleOp([graph]))
    return graph


def mutate(graph: GraphOp, rng: random.Random) -> None:
    """Move one output or workspace somewhere else."""
    places: list[tuple[Operation, str, int]] = [
        (op, name, index)
        for op in graph.block.ops
        for name in ("ge.offsets", "ge.workspace_offsets")
        for index, at in enumerate(get_ints(op, name) or [])
        if at >= 0
    ]
    op, name, index = rng.choice(places)
    changed = get_ints(op, name) or []
    size = arenas_of(graph)["hbm"]
    step = rng.choice([-512, 512, 512 * rng.randrange(-8, 9), 32, size])
    changed[index] = max(0, changed[index] + step)
    op.attributes[name] = i64_array(changed)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 4), st.integers(0, 3))
def test_the_checker_says_what_the_definition_says(
    seed: int, count: int, streams: int, mutations: int
) -> None:
    graph = planned(random_mixed(seed, count, streams))
    rng = random.Random(seed)
    for _ in range(mutations):
        mutate(graph, rng)
    problems = check_plan(graph)
    assert (problems == []) == is_safe(graph), problems
    assert mutations or not problems


@pytest.mark.parametrize("streams", [1, 3])
def test_most_shifts_of_a_tight_plan_are_wrong(streams: int) -> None:
    """The test above would say nothing if all mutations were harmless."""
    caught = 0
    for seed in range(40):
        graph = planned(random_mixed(seed, 20, streams))
        mutate(graph, random.Random(seed))
        caught += bool(check_plan(graph))
    assert caught > 25
