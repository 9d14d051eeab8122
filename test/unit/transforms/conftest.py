"""A tiny interpreter: what a graph computes, node by node, by the kernels alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ge_dialect.dialects.ge import AbsentOp, ConstantOp, DataOp, GraphOp, NetOutputOp
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_type,
    get_int,
    graph_table,
    graphs,
    node_name,
    subgraph_names,
)
from ge_dialect.dialects.ge.weights import array_of
from ge_dialect.kernels import evaluate
from ge_dialect.kernels.spec import spec_of

Interpreter = Callable[[ModuleOp, Mapping[str, np.ndarray]], list[Any]]


def _run(
    table: Mapping[str, GraphOp], graph: GraphOp, inputs: Callable[[DataOp], Any]
) -> list[Any]:
    values: dict[SSAValue, Any] = {}
    for op in graph.block.ops:
        read = [values[value] for value in data_operands(op)]
        if isinstance(op, NetOutputOp):
            return read
        if isinstance(op, AbsentOp):
            made: Sequence[Any] = [None]
        elif isinstance(op, DataOp):
            made = [inputs(op)]
        elif isinstance(op, ConstantOp):
            made = [array_of(op.value)]
        elif ge_type(op) == "If":
            inner = table[subgraph_names(op)[0 if read[0].all() else 1]]
            made = _run(
                table,
                inner,
                lambda formal, read=read: read[get_int(formal, "ge.parent_node_index") or 0],
            )
        else:
            made = evaluate(spec_of(op), read)
        values.update(zip(data_results(op), made, strict=True))
    return []


@pytest.fixture
def interpret() -> Interpreter:
    """Runs the root graph of a module on inputs by name; the outputs in order. Knows If, no loops."""

    def run(module: ModuleOp, inputs: Mapping[str, np.ndarray]) -> list[Any]:
        return _run(graph_table(module), graphs(module)[0], lambda op: inputs[node_name(op)])

    return run
