"""The stable topological order on random graphs, against a slow restatement of the rule."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block, Operation

from ge_dialect.analysis.order import consumers, is_sorted, positions, topological_order
from ge_dialect.dialects.attrs import string
from ge_dialect.dialects.ge import GraphOp, OpOp
from ge_dialect.formats.errors import GeError

T = TensorType(f32, [2])


def shuffled_graph(seed: int, count: int) -> list[Operation]:
    """A block of nodes with random edges, in random order."""
    rng = random.Random(seed)
    ops: list[Operation] = []
    for index in range(count):
        inputs = [rng.choice(ops).results[0] for _ in range(rng.randrange(3))] if ops else []
        ops.append(OpOp.make(inputs, [T], {"type": string("N")}, {"ge.name": string(f"n{index}")}))
    rng.shuffle(ops)
    Block(ops)
    return ops


def restated(ops: list[Operation]) -> list[Operation]:
    """Again and again: the first in the list whose producers are all placed."""
    left, placed = list(ops), []
    while left:
        chosen = next(op for op in left if not any(value.owner in left for value in op.operands))
        left.remove(chosen)
        placed.append(chosen)
    return placed


@given(st.integers(0, 10**6), st.integers(0, 30))
def test_ready_nodes_come_in_list_order(seed: int, count: int) -> None:
    ops = shuffled_graph(seed, count)
    order = topological_order(ops)
    assert order == restated(ops)
    assert is_sorted(order)
    assert topological_order(order) == order


def test_a_cycle_names_its_nodes_only() -> None:
    a = OpOp.make([], [T], {"type": string("A")}, {"ge.name": string("a")})
    b = OpOp.make([a.results[0]], [T], {"type": string("B")}, {"ge.name": string("b")})
    c = OpOp.make([b.results[0]], [T], {"type": string("C")}, {"ge.name": string("c")})
    a.operands = [b.results[0]]
    Block([c, a, b])
    assert not is_sorted([c, a, b])
    with pytest.raises(
        GeError, match=r'^(node "[ab]": )?cycle of nodes: "([ab])" -> "[ab]" -> "\2"$'
    ):
        topological_order([c, a, b])


def test_a_node_that_reads_itself_is_a_cycle() -> None:
    a = OpOp.make([], [T], {"type": string("A")}, {"ge.name": string("a")})
    a.operands = [a.results[0]]
    Block([a])
    assert not is_sorted([a])
    with pytest.raises(GeError, match='cycle of nodes: "a" -> "a"'):
        topological_order([a])


def test_consumers_are_in_block_order() -> None:
    graph = GraphOp("g")
    a = OpOp.make([], [T], {"type": string("A")})
    readers = [OpOp.make([a.results[0]] * 2, [T], {"type": string("R")}) for _ in range(3)]
    graph.block.add_ops([a, readers[2], readers[0], readers[1]])
    found = consumers(a.results[0], positions(graph))
    assert found == [(op, index) for op in (readers[2], readers[0], readers[1]) for index in (0, 1)]
