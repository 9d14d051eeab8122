"""If and Case: a switch to one of several labels, and copies of what the branches give into one place."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge.access import data_operands, data_results
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.transforms.control_flow.expander import Expander
from ge_dialect.transforms.control_flow.flat_graph import BOOL, FlatGraph, shape_of
from ge_dialect.transforms.control_flow.routes import Routes, replace_result


def lower_if(expander: Expander, op: Operation) -> None:
    """Graph 0 runs when the condition is true, graph 1 when it is not."""
    index = expander.flat.truth(op, data_operands(op)[0])
    _branches(expander, op, index, [1, 0])


def lower_case(expander: Expander, op: Operation) -> None:
    """Graph number `index` runs, the last one for any index that no graph has."""
    count = len(expander.owned(op))
    index = _bounded(expander.flat, op, data_operands(op)[0], count)
    _branches(expander, op, index, list(range(count)))


def _bounded(flat: FlatGraph, op: Operation, value: SSAValue, count: int) -> SSAValue:
    """The index as int32, where it is not in [0, count) the last one."""
    flags = tensor_type(BOOL, shape_of(value))
    dtype = flat.dtype(value)
    zero, end, last = (flat.constant(np.array(x, dtype)) for x in (0, count, count - 1))
    low = flat.node(op, "GreaterEqual", [value, zero], flags)
    high = flat.node(op, "Less", [value, end], flags)
    inside = flat.node(op, "LogicalAnd", [low, high], flags)
    return flat.cast(op, flat.node(op, "SelectV2", [inside, value, last], value.type))


def _branches(expander: Expander, op: Operation, index: SSAValue, order: list[int]) -> None:
    """`order[v]` is the graph that runs for index `v`. Graphs stand in slot order; the last falls through."""
    flat = expander.flat
    graphs = expander.owned(op)
    routes = Routes()
    operands = data_operands(op)
    for graph in graphs:
        for formal in graph.formals:
            routes.add(operands[graph.index_of(formal) or 0])
    labels = [flat.new_label() for _ in graphs]
    leave = flat.new_label()
    handed = flat.label_switch(op, index, [labels[k] for k in order], routes.values)
    first = flat.last
    results = [x for x in data_results(op) if x.first_use is not None]
    joined: list[SSAValue | None] = [None] * len(results)
    for number, graph in enumerate(graphs):
        flat.label_set(op, labels[number])
        values = {
            formal: routes.inner(operands[graph.index_of(formal) or 0], handed)
            for formal in graph.formals
        }
        outputs = expander.splice(op, graph, values)
        for k, result in enumerate(results):
            joined[k] = flat.copy(op, outputs[result.index], joined[k])
        if number < len(graphs) - 1:
            flat.label_goto(op, leave)
    ends = flat.label_set(op, leave, [x for x in joined if x is not None])
    for result, value in zip(results, ends, strict=True):
        replace_result(result, value)
    expander.order_edges(op, first, flat.last)
