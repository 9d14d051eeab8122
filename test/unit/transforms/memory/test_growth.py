"""Planning takes about as many steps a node in large graphs as in small ones, whatever their shape."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from run_graphs import concat, data, graph_of, node, split
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.attrs import i64, string
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory

Shape = Callable[[int], list[Operation]]


def add(name: str, *sources: Operation, count: int = 4) -> Operation:
    """A node that may write over its first operand."""
    made = node(name, [source.results[0] for source in sources], count)
    made.properties["type"] = string("Add")
    return made


def chain(count: int) -> list[Operation]:
    """Each may write over the one before: all is one piece of memory."""
    ops: list[Operation] = [data(), node("first", [], 4)]
    for index in range(count):
        ops.append(add(f"n{index}", ops[-1], ops[-1]))
    return ops


def fan(count: int) -> list[Operation]:
    """One value that all read, the last of them in place."""
    source = node("first", [], 4)
    return [source, *(add(f"n{index}", source, source) for index in range(count))]


def parts(count: int) -> list[Operation]:
    """A split into many parts, and a concat of what comes of them."""
    source = node("first", [], 2 * count)
    pieces = split("split", source.results[0], [2] * count)
    made = [node(f"n{index}", [piece], 2) for index, piece in enumerate(pieces.results)]
    return [source, pieces, *made, concat("concat", [x.results[0] for x in made])]


def nested(count: int) -> list[Operation]:
    """Concats in concats, each of them read."""
    ops: list[Operation] = [node("first", [], 1)]
    last = ops[0]
    for index in range(count // 3):
        piece = node(f"p{index}", [], 1)
        last = concat(f"c{index}", [last.results[0], piece.results[0]])
        ops += [piece, last, node(f"r{index}", [last.results[0]], 1)]
    return ops


def calls(shape: Shape, count: int, streams: int) -> int:
    """How many Python functions, and steps of generators, planning calls."""
    ops = shape(count)
    for index, op in enumerate(ops):
        op.attributes["ge.stream"] = i64(index // 3 % streams)
    module = ModuleOp([graph_of(*ops)])
    found = 0

    def count_call(frame: FrameType, event: str, arg: object) -> None:
        nonlocal found
        found += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        GePlanMemory().apply(Context(), module)
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("shape", [chain, fan, parts, nested])
def test_steps_grow_with_the_graph(shape: Shape, streams: int) -> None:
    assert calls(shape, 1200, streams) < 5 * calls(shape, 300, streams)
