"""ONNX's Scan: states, inputs that are cut into slices, outputs that are joined from slices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ge_dialect.analysis.control_flow.scan_form import scan_form
from ge_dialect.dialects.ge.access import data_operands, data_results
from ge_dialect.transforms.control_flow.counting import Counter
from ge_dialect.transforms.control_flow.expander import Expander
from ge_dialect.transforms.control_flow.loop import Turn, Update, build_loop
from ge_dialect.transforms.control_flow.routes import replace_result
from ge_dialect.transforms.control_flow.slices import SliceWriter, read_slice
from ge_dialect.transforms.control_flow.turns import Turns


def lower_scan(expander: Expander, op: Operation) -> None:
    flat = expander.flat
    (body,) = expander.owned(op)
    form = scan_form(op, body)
    operands = data_operands(op)
    turns = Turns(expander, op, body, [(k, k) for k in range(form.states)])
    turns.reads(body)
    read = [part for part in form.read if turns.is_read(body, part.slot)]
    writers: dict[int, SliceWriter] = {}
    for part in form.written:
        result = data_results(op)[part.slot]
        if result.first_use is not None:
            kind = body.outputs[part.slot].type
            writer = SliceWriter(flat, op, result, kind, part.axis, part.backward)
            writers[turns.state(writer.memory())] = writer
    counter = Counter(flat, op, turns)
    length = flat.number(form.length)
    turns_back = any(x.backward for x in (*read, *writers.values()))

    def another(states: Sequence[SSAValue], outer: Sequence[SSAValue]) -> SSAValue:
        return flat.truth(op, counter.less(states, length))

    def turn(states: Sequence[SSAValue], outer: Sequence[SSAValue]) -> Turn:
        place = back = counter.value(states)
        if turns_back:
            last = flat.number(form.length - 1)
            back = flat.node(op, "Sub", [last, place], place.type)
        own: dict[str | int, SSAValue] = {}
        for part in read:
            source = turns.routes.inner(operands[part.slot], outer)
            own[part.slot] = read_slice(
                flat, op, source, back if part.backward else place, part.axis
            )
        outputs = turns.splice(body, states, outer, own)
        during: dict[int, Update] = {
            state: writer.at(back if writer.backward else place, outputs[writer.result.index])
            for state, writer in writers.items()
        }
        return Turn(turns.nexts(outputs), during, counter.updates())

    ends = build_loop(expander, op, turns.initial, turns.routes, another, turn)
    for result in data_results(op)[: form.states]:
        replace_result(result, turns.end(result.index, ends))
    for state, writer in writers.items():
        replace_result(writer.result, writer.finished(ends[state]))
