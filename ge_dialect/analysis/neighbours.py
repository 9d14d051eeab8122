"""The nodes before and after a node, in GE's order of edges.

`ge.token` and `ge.gate` are no nodes: edges through them are seen as edges between the nodes on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.order import consumers
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp, TokenOp
from ge_dialect.dialects.ge.types import ControlType


def _sources(value: SSAValue) -> Iterator[Operation]:
    if not isinstance(value, OpResult) or isinstance(value.op, AbsentOp):
        return
    if isinstance(value.op, GateOp | TokenOp):
        for operand in value.op.operands:
            yield from _sources(operand)
        return
    yield value.op


def in_nodes(op: Operation) -> Iterator[Operation]:
    """Who the node waits for: one node an edge, data edges by slot, then control edges."""
    for operand in op.operands:
        yield from _sources(operand)


def control_in_nodes(op: Operation) -> Iterator[Operation]:
    """Who the node waits for by control edges."""
    for operand in op.operands:
        if isinstance(operand.type, ControlType):
            yield from _sources(operand)


def _readers(value: SSAValue, place: Mapping[Operation, int]) -> Iterator[Operation]:
    for reader, _ in consumers(value, place):
        if isinstance(reader, GateOp | TokenOp):
            for result in reader.results:
                yield from _readers(result, place)
        else:
            yield reader


def out_nodes(op: Operation, place: Mapping[Operation, int]) -> Iterator[Operation]:
    """Who waits for the node: one node an edge, data edges by output and consumer order, then control edges.

    `place` orders the ops of the graph's block (`analysis.order.positions`).
    """
    for result in op.results:
        if result.first_use is not None:
            yield from _readers(result, place)
