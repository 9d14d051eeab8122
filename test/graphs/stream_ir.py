"""Small graphs for the tests of stream assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import Attribute, DictionaryAttr, ModuleOp, TensorType, f32
from xdsl.passes import ModulePass

from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import GraphOp, OpOp
from ge_dialect.dialects.ge.access import get_int, graphs, node_name
from ge_dialect.dialects.ge.attr_values import from_python

TENSOR = TensorType(f32, [2])


def graph_of(
    sources: Sequence[Sequence[int]],
    streams: Sequence[int] | None = None,
    engines: Sequence[str] | None = None,
    attrs: Mapping[int, Mapping[str, Any]] | None = None,
    name: str = "main",
) -> ModuleOp:
    """One graph of nodes `n0`, `n1`, ...: what each reads, its stream (-1: none), engine and GE attributes."""
    ops: list[OpOp] = []
    for index, own in enumerate(sources):
        attributes: dict[str, Attribute] = {"ge.name": string(f"n{index}")}
        if streams is not None and streams[index] >= 0:
            attributes["ge.stream"] = i64(streams[index])
        if engines is not None:
            attributes["ge.engine"] = string(engines[index])
        properties: dict[str, Attribute] = {"type": string("T")}
        if attrs is not None and index in attrs:
            properties["attrs"] = DictionaryAttr(
                {key: from_python(value) for key, value in attrs[index].items()}
            )
        operands = [ops[source].results[0] for source in own]
        ops.append(OpOp.make(operands, [TENSOR], properties, attributes))
    graph = GraphOp(name)
    graph.block.add_ops(ops)
    return ModuleOp([graph])


def apply(module: ModuleOp, *passes: ModulePass) -> ModuleOp:
    """Run passes on a module."""
    for module_pass in passes:
        module_pass.apply(Context(), module)
    return module


def streams_of(module: ModuleOp) -> list[int]:
    """The stream of each node of the root graph, -1 for none."""
    return [
        -1 if (stream := get_int(op, "ge.stream")) is None else stream
        for op in graphs(module)[0].block.ops
        if node_name(op)
    ]
