from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, f32

from ge_dialect.analysis.streams.structure import check_structure, note_structure, structure_of
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import GraphOp, OpOp
from ge_dialect.dialects.ge.access import add_control_edge
from ge_dialect.formats.errors import GeError

TENSOR = TensorType(f32, [2])


def _graph() -> GraphOp:
    graph = GraphOp("main")
    ops: list[OpOp] = []
    for name in "abc":
        operands = [ops[-1].results[0]] if ops else []
        ops.append(OpOp.make(operands, [TENSOR], {"type": string("T")}, {"ge.name": string(name)}))
    graph.block.add_ops(ops)
    return graph


def test_streams_do_not_matter() -> None:
    graph = _graph()
    note_structure(graph)
    for op in graph.block.ops:
        op.attributes["ge.stream"] = i64(3)
    check_structure(graph, keep=True)
    check_structure(graph)
    assert "ge.structure" not in graph.attributes
    check_structure(graph)


def test_the_number_does_not_depend_on_the_run() -> None:
    assert structure_of(_graph()) == structure_of(_graph())


@pytest.mark.parametrize("change", ["edge", "order", "name", "node", "control"])
def test_a_change_is_seen(change: str) -> None:
    graph = _graph()
    note_structure(graph)
    first, second, third = graph.block.ops
    if change == "edge":
        third.operands = [first.results[0]]
    elif change == "order":
        first.detach()
        graph.block.add_op(first)
    elif change == "name":
        second.attributes["ge.name"] = string("d")
    elif change == "node":
        graph.block.add_op(OpOp.make([], [TENSOR], {"type": string("T")}, {"ge.name": string("d")}))
    else:
        add_control_edge(first, third)
    with pytest.raises(GeError, match="@main changed while streams were being assigned"):
        check_structure(graph)
