"""Types of what goes round a loop of ONNX, whose text does not say whether they stay the same from turn to turn.

By induction: if a carried value comes in as T, and the body turns values of the incoming types into T again, then it is
T in every turn. Whether the body does that shows when it is swept with these types, which is tried on a copy; the copy
takes the body's place when it does. A nested loop is swept with the copy, so every body is swept once, and a second
time for each loop around it that does not keep its types.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.control_flow.loop_form import CARRIED, GIVEN, LIMIT, trip_count
from ge_dialect.analysis.control_flow.owned_graph import (
    OwnedGraph,
    formal_kind,
    own_inputs,
    owned_graph,
)
from ge_dialect.analysis.control_flow.scan_form import scan_form
from ge_dialect.analysis.node_info import info_of_type
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    desc_of_type,
    is_absent,
    set_result_type,
    source_op,
    static_shape,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import DataOp
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.kernels.shapes.info import Info, TensorInfo
from ge_dialect.transforms.canonicalize.refine import narrowed

_FLAG = tensor_type(dtype_by_name("BOOL"), ())


def loop_kind(op: Operation) -> str | None:
    """`Loop` or `Scan` for a loop of ONNX that is treated here."""
    source = source_op(op)
    if source is None or source.domain != "ai.onnx" or len(subgraph_names(op)) != 1:
        return None
    if source.op == "Loop" and len(data_operands(op)) >= CARRIED:
        return "Loop"
    return "Scan" if source.op == "Scan" and source.version >= 9 else None


def carried_pairs(op: Operation, body: OwnedGraph) -> list[tuple[int, int, int]]:
    """Input of the node, output of the body and result of the node of each carried value.

    Raises ValueError where their numbers do not fit.
    """
    if loop_kind(op) == "Scan":
        return [(k, k, k) for k in range(scan_form(op, body).states)]
    count = own_inputs(op, body) - CARRIED
    if count < 0 or len(data_results(op)) < count or len(body.outputs) != 1 + len(data_results(op)):
        raise ValueError(f"it carries {count} values, its body gives {len(body.outputs)}")
    return [(CARRIED + k, 1 + k, k) for k in range(count)]


def assumed_types(op: Operation, body: OwnedGraph) -> dict[int, Attribute] | None:
    """Types for the body's inputs, by place among its formals; None when there is nothing to find out.

    Raises ValueError where the loop contradicts itself.
    """
    operands = data_operands(op)
    carried = {index for index, _, _ in carried_pairs(op, body)}
    cut = {} if loop_kind(op) == "Loop" else {x.slot: x.axis for x in scan_form(op, body).read}
    found: dict[int, Attribute] = {}
    for place, formal in enumerate(body.formals):
        kind, index = formal_kind(formal), body.index_of(formal)
        old = formal.results[0].type
        if static_shape(old) is not None:
            continue
        if kind == "condition":
            given = operands[GIVEN]
            new = _FLAG if is_absent(given) else given.type
        elif kind is None and index in carried:
            new = operands[index].type
        elif kind is None and index in cut:
            new = _without_axis(operands[index].type, cut[index])
        else:
            continue
        if new is None or static_shape(new) is None:
            return None
        desc = desc_of_type(new)
        found[place] = narrowed(old, desc.shape, desc.dtype)
    return found or None


def _without_axis(kind: Attribute, axis: int) -> Attribute | None:
    shape = static_shape(kind)
    if shape is None:
        return None
    return tensor_type(desc_of_type(kind).dtype, (*shape[:axis], *shape[axis + 1 :]))


def copied(graph: GraphOp, table: Mapping[str, GraphOp]) -> ModuleOp | None:
    """A module with copies of a graph, first, and of all that it owns; None when a graph is not there."""
    found = {graph.sym_name.data: graph}
    todo = [graph]
    while todo:
        for op in todo.pop().block.ops:
            for name in subgraph_names(op):
                if name not in table:
                    return None
                if name not in found:
                    found[name] = table[name]
                    todo.append(table[name])
    return ModuleOp([each.clone() for each in found.values()])


def assume(graph: GraphOp, types: Mapping[int, Attribute]) -> None:
    """Give the inputs of a graph these types, by place among them."""
    formals = [op for op in graph.block.ops if isinstance(op, DataOp)]
    for place, kind in types.items():
        set_result_type(formals[place], 0, kind)


def keeps_types(op: Operation, body: OwnedGraph) -> bool:
    """Whether carried values, and the condition, leave the body with the types with which they came in."""
    operands = data_operands(op)
    for index, output, _ in carried_pairs(op, body):
        inside = [
            x.results[0].type
            for x in body.formals
            if formal_kind(x) is None and body.index_of(x) == index
        ]
        if any(kind != operands[index].type for kind in (body.outputs[output].type, *inside)):
            return False
    return all(
        x.results[0].type == body.outputs[0].type
        for x in body.formals
        if formal_kind(x) == "condition"
    )


def loop_results(op: Operation, body: OwnedGraph) -> list[Info | None]:
    """What holds for the results of a loop whose body has been swept. Raises ValueError where numbers do not fit."""
    operands, results = data_operands(op), data_results(op)
    found: list[Info | None] = [None] * len(results)
    for index, output, result in carried_pairs(op, body):
        types = [
            operands[index].type,
            body.outputs[output].type,
            *(
                x.results[0].type
                for x in body.formals
                if formal_kind(x) is None and body.index_of(x) == index
            ),
        ]
        if static_shape(types[0]) is not None and all(kind == types[0] for kind in types):
            found[result] = info_of_type(types[0])
    if loop_kind(op) == "Loop":
        count = trip_count(body, operands[LIMIT], operands[GIVEN])
        carried = own_inputs(op, body) - CARRIED
        slots = [(k, 1 + k, 0) for k in range(carried, len(results))]
    else:
        form = scan_form(op, body)
        count = form.length
        slots = [(x.slot, x.slot, x.axis) for x in form.written]
    for result, output, axis in slots:
        piece = info_of_type(body.outputs[output].type)
        if isinstance(piece, TensorInfo) and piece.shape is not None:
            length = -1 if count is None else count
            shape = (*piece.shape[:axis], length, *piece.shape[axis:])
            found[result] = TensorInfo(piece.dtype, shape)
    return found


def body_of(op: Operation, table: Mapping[str, GraphOp]) -> OwnedGraph | None:
    """The body of a loop, None when it is not there."""
    graph = table.get(subgraph_names(op)[0])
    return None if graph is None else owned_graph(graph)
