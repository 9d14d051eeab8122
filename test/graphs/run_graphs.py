"""Graphs in which concats and splits make no task: runs of tensors end to end, nested and shared."""

from __future__ import annotations

import random

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser

from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.ge import ConcatOp, DataOp, GraphOp, NetOutputOp, OpOp, SplitOp
from ge_dialect.dialects.ge.access import get_ints, graphs, node_name
from ge_dialect.program import context

COLUMNS = 8


def rows(count: int) -> TensorType[Attribute]:
    """The type of a tensor of `count` rows of 32 bytes."""
    return TensorType(f32, [count, COLUMNS])


def rows_of(value: SSAValue) -> int:
    """How many rows a value has."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()[0]


def _marks(name: str, side: str) -> dict[str, Attribute]:
    return {
        "ge.name": string(name),
        "ge.no_task": UNIT,
        f"ge.no_padding_continuous_{side}": UNIT,
        "ge.output_reuse_input": UNIT,
        "ge.reuse_input_on_dim_index": i64(0),
    }


def concat(name: str, inputs: list[SSAValue]) -> ConcatOp:
    """A concat along axis 0 without task."""
    total = sum(rows_of(x) for x in inputs)
    properties: dict[str, Attribute] = {"type": string("PhonyConcat"), "concat_dim": i64(0)}
    return ConcatOp.make(inputs, [rows(total)], properties, _marks(name, "input"))


def split(name: str, source: SSAValue, sizes: list[int]) -> SplitOp:
    """A split along axis 0 without task."""
    properties: dict[str, Attribute] = {"type": string("PhonySplit"), "split_dim": i64(0)}
    return SplitOp.make(
        [source], [rows(size) for size in sizes], properties, _marks(name, "output")
    )


def node(name: str, inputs: list[SSAValue], count: int, **attrs: Attribute) -> OpOp:
    """An ordinary node with one output."""
    properties: dict[str, Attribute] = {"type": string("Foo")}
    if attrs:
        properties["attrs"] = DictionaryAttr(attrs)
    return OpOp.make(inputs, [rows(count)], properties, {"ge.name": string(name)})


def graph_of(*ops: Operation) -> GraphOp:
    """A graph of these nodes."""
    graph = GraphOp("main")
    graph.block.add_ops(ops)
    return graph


def data(name: str = "x", count: int = 4, index: int = 0) -> DataOp:
    """A graph input."""
    return DataOp.make((), [rows(count)], {"index": i64(index)}, {"ge.name": string(name)})


def random_runs(seed: int, count: int, streams: int = 1) -> GraphOp:
    """Nodes, views, and concats and splits without task on whatever there is."""
    rng = random.Random(seed)
    ops: list[Operation] = [data()]
    values: list[SSAValue] = [ops[0].results[0]]
    for index in range(count):
        name = f"n{index}"
        recent = values[-7:]
        kind = rng.random()
        made: Operation
        if kind < 0.2 and len(set(recent)) > 2:
            made = concat(name, rng.sample(recent, rng.randrange(2, min(4, len(recent)) + 1)))
        elif kind < 0.3 and rows_of(recent[-1]) > 2:
            total = rows_of(recent[-1])
            cut = rng.randrange(1, total)
            made = split(name, recent[-1], [cut, total - cut])
        elif kind < 0.4:
            shape = TensorType(f32, [rows_of(recent[0]), COLUMNS])
            properties: dict[str, Attribute] = {"type": string("Reshape")}
            made = OpOp.make([recent[0]], [shape], properties, {"ge.name": string(name)})
        else:
            read = [rng.choice(recent) for _ in range(rng.randrange(1, 4))]
            made = node(name, read, rng.randrange(1, 40))
        if streams > 1 and (kind >= 0.4 or kind < 0.1):
            made.attributes["ge.stream"] = i64(rng.randrange(streams))
        ops.append(made)
        values.extend(made.results)
    outputs = [rng.choice(values) for _ in range(rng.randrange(1, 4))]
    ops.append(NetOutputOp.make(outputs, (), {}, {"ge.name": string("out")}))
    return graph_of(*ops)


def parsed(text: str) -> ModuleOp:
    """The module of a text in our dialect."""
    return Parser(context(), text).parse_module()


def op_named(module: ModuleOp, name: str) -> Operation:
    """The node of the root graph that has this name. Raises StopIteration."""
    return next(op for op in graphs(module)[0].block.ops if node_name(op) == name)


def offsets(module: ModuleOp) -> dict[str, int]:
    """The place of every output of the root graph, as `node:output`."""
    return {
        f"{node_name(op)}:{index}": offset
        for op in graphs(module)[0].block.ops
        for index, offset in enumerate(get_ints(op, "ge.offsets") or ())
    }
