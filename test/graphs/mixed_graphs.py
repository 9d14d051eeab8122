"""Random graphs for memory planning: operators that may write in place and such that may not, views, control edges,
workspaces, several streams."""

from __future__ import annotations

import random

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge import DataOp, GraphOp, NetOutputOp, OpOp
from ge_dialect.dialects.ge.types import ControlType

SIZES = (100, 100, 120, 200, 1000)
UNARY, BINARY, OTHER = ("Relu", "Exp", "Neg"), ("Add", "Mul"), ("Foo", "Bar")


def _kind(rng: random.Random) -> TensorType[Attribute]:
    return TensorType(f32, [rng.choice(SIZES)])


def _random_node(
    rng: random.Random, name: str, values: list[SSAValue], controls: list[SSAValue], streams: int
) -> OpOp:
    recent = values[-6:]
    marks: dict[str, Attribute] = {"ge.name": string(name)}
    first = rng.choice(recent)
    results: list[Attribute] = [first.type]
    read = [first]
    roll = rng.random()
    if roll < 0.1:
        return OpOp.make(read, results, {"type": string("Reshape")}, marks)
    if roll < 0.4:
        kind = rng.choice(UNARY)
    elif roll < 0.65:
        kind = rng.choice(BINARY)
        read.append(rng.choice([value for value in recent if value.type == first.type]))
    else:
        kind = rng.choice(OTHER)
        read += rng.sample(recent, rng.randrange(min(3, len(recent))))
        results = [_kind(rng) for _ in range(rng.choice([1, 1, 2]))]
        if rng.random() < 0.15:
            marks["ge.workspace_bytes"] = i64_array([600])
    if streams > 1:
        marks["ge.stream"] = i64(rng.randrange(streams))
    if controls and rng.random() < 0.3:
        read.append(rng.choice(controls[-4:]))
    if rng.random() < 0.3:
        results.append(ControlType())
    return OpOp.make(read, results, {"type": string(kind)}, marks)


def random_mixed(seed: int, count: int, streams: int = 1) -> GraphOp:
    """A graph of `count` nodes; with several streams each node but views has one of them."""
    rng = random.Random(seed)
    ops: list[Operation] = []
    values: list[SSAValue] = []
    controls: list[SSAValue] = []
    for index in range(2):
        marks: dict[str, Attribute] = {"ge.name": string(f"x{index}")}
        ops.append(DataOp.make((), [_kind(rng)], {"index": i64(index)}, marks))
        values.append(ops[-1].results[0])
    for index in range(count):
        ops.append(_random_node(rng, f"n{index}", values, controls, streams))
        for result in ops[-1].results:
            (controls if isinstance(result.type, ControlType) else values).append(result)
    wanted = rng.sample(values, min(len(values), rng.randrange(1, 4)))
    out: dict[str, Attribute] = {"ge.name": string("out")}
    if streams > 1:
        out["ge.stream"] = i64(0)
    ops.append(NetOutputOp.make(wanted, (), {}, out))
    graph = GraphOp("main")
    graph.block.add_ops(ops)
    return graph
