"""Graphs on several streams."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import DataOp, GraphOp, OpOp
from ge_dialect.dialects.ge.access import add_control_edge
from ge_dialect.program import context, make_passes

Run = Callable[[str, ModuleOp], None]
RandomModel = Callable[[random.Random], ModuleOp]
_KIND = TensorType(f32, [2])


@pytest.fixture
def run() -> Run:
    """Runs passes on a module and verifies it."""

    def apply(passes: str, module: ModuleOp) -> None:
        for each in make_passes(passes):
            each.apply(context(), module)
        module.verify()

    return apply


@pytest.fixture
def random_model() -> RandomModel:
    """A graph of 4 to 39 nodes with data and control edges to nodes not far back, on 1 to 5 streams at random."""

    def build(rng: random.Random) -> ModuleOp:
        graph = GraphOp("main")
        data = DataOp.make((), [_KIND], {"index": i64(0)}, {"ge.name": string("x")})
        graph.block.add_op(data)
        ops: list[OpOp] = []
        streams = rng.randrange(1, 6)
        for number in range(rng.randrange(4, 40)):
            near = ops[-8:]
            sources = [
                rng.choice(near).results[0] for _ in range(rng.choice((0, 1, 1, 2, 3))) if near
            ]
            op = OpOp.make(
                sources or [data.results[0]],
                [_KIND],
                {"type": string("Opaque")},
                {"ge.name": string(f"n{number}"), "ge.stream": i64(rng.randrange(streams))},
            )
            graph.block.add_op(op)
            if ops and rng.random() < 0.2:
                add_control_edge(rng.choice(ops), op)
            ops.append(op)
        return ModuleOp([graph])

    return build
