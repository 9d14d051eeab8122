"""ONNX's Loop: a trip count, a condition (each may be absent), carried values, and outputs joined from slices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.control_flow.loop_form import CARRIED, GIVEN, LIMIT, always_true
from ge_dialect.analysis.control_flow.owned_graph import own_inputs
from ge_dialect.dialects.ge.access import data_operands, data_results, is_absent
from ge_dialect.transforms.control_flow.counting import Counter
from ge_dialect.transforms.control_flow.expander import Expander
from ge_dialect.transforms.control_flow.loop import Turn, Update, build_loop
from ge_dialect.transforms.control_flow.routes import replace_result
from ge_dialect.transforms.control_flow.slices import SliceWriter
from ge_dialect.transforms.control_flow.turns import Turns


def lower_loop(expander: Expander, op: Operation) -> None:
    flat = expander.flat
    (body,) = expander.owned(op)
    limit, given = data_operands(op)[LIMIT], data_operands(op)[GIVEN]
    count = own_inputs(op, body) - CARRIED
    turns = Turns(expander, op, body, [(CARRIED + k, 1 + k) for k in range(count)])
    turns.reads(body)
    if not is_absent(limit):
        turns.routes.add(limit)
    writers = {
        turns.state(writer.memory()): writer
        for result in data_results(op)[count:]
        if result.first_use is not None
        and (writer := SliceWriter(flat, op, result, body.outputs[1 + result.index].type))
    }
    true = flat.constant(np.array(True))
    going: int | None = None
    if not always_true(body, given):
        start = true if is_absent(given) else given
        going = turns.state(flat.copy(op, flat.as_type(op, start, body.outputs[0].type)))
    counter = Counter(flat, op, turns)

    def another(states: Sequence[SSAValue], outer: Sequence[SSAValue]) -> SSAValue:
        flags = [] if going is None else [states[going]]
        if not is_absent(limit):
            flags.append(counter.less(states, turns.routes.inner(limit, outer)))
        return flat.truth(op, counter.all_of(flags or [true]))

    def turn(states: Sequence[SSAValue], outer: Sequence[SSAValue]) -> Turn:
        own: dict[str | int, SSAValue] = {
            "iteration": counter.value(states),
            "condition": true if going is None else states[going],
        }
        outputs = turns.splice(body, states, outer, own)
        nexts = turns.nexts(outputs)
        if going is not None:
            nexts[going] = outputs[0]
        during: dict[int, Update] = {
            state: writer.at(counter.value(states), outputs[1 + writer.result.index])
            for state, writer in writers.items()
        }
        return Turn(nexts, during, counter.updates())

    ends = build_loop(expander, op, turns.initial, turns.routes, another, turn)
    for result in data_results(op)[:count]:
        replace_result(result, turns.end(CARRIED + result.index, ends))
    for state, writer in writers.items():
        replace_result(writer.result, writer.finished(ends[state]))
