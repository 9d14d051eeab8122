"""GE's While."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge.access import data_operands, data_results
from ge_dialect.transforms.control_flow.expander import Expander
from ge_dialect.transforms.control_flow.loop import Turn, build_loop
from ge_dialect.transforms.control_flow.routes import replace_result
from ge_dialect.transforms.control_flow.turns import Turns


def lower_while(expander: Expander, op: Operation) -> None:
    """Graph 0 says whether there is another turn, graph 1 is the turn; all inputs are carried."""
    condition, body = expander.owned(op)
    turns = Turns(expander, op, body, [(k, k) for k in range(len(data_operands(op)))])
    turns.reads(condition)
    turns.reads(body)

    def another(states: Sequence[SSAValue], outer: Sequence[SSAValue]) -> SSAValue:
        (go,) = turns.splice(condition, states, outer)
        return expander.flat.truth(op, go)

    def turn(states: Sequence[SSAValue], outer: Sequence[SSAValue]) -> Turn:
        return Turn(turns.nexts(turns.splice(body, states, outer)))

    ends = build_loop(expander, op, turns.initial, turns.routes, another, turn)
    for result in data_results(op):
        replace_result(result, turns.end(result.index, ends))
