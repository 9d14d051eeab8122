"""What must hold for a node that owns graphs to become labels: the first condition that fails, by name and in words.

Names: `unknown` (a shape, type or operator that only the host handles), `operator` (no labels for this type), `form`
(numbers of inputs, outputs or graphs), `condition` (not one number), `types` (what meets in one place differs),
`scan-length` (how much a loop collects is not known), `missing-graph`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.control_flow.loop_form import (
    CARRIED,
    GIVEN,
    LIMIT,
    always_true,
    constant_array,
)
from ge_dialect.analysis.control_flow.owned_graph import (
    OwnedGraph,
    formal_kind,
    own_inputs,
    owned_graph,
)
from ge_dialect.analysis.control_flow.scan_form import scan_form
from ge_dialect.analysis.known_shape import node_reason, type_reason
from ge_dialect.dialects.engine_types import BRANCH_TYPES, CALL_TYPES
from ge_dialect.dialects.ge.access import (
    control_operands,
    data_operands,
    data_results,
    desc_of_type,
    ge_type,
    is_absent,
    source_op,
    static_shape,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.weights import tensor_type
from ge_dialect.formats.dtypes import DType
from ge_dialect.transforms.control_flow.expander import key_of
from ge_dialect.transforms.control_flow.flat_graph import BOOL, INT64

Failure = tuple[str, str]
"""Condition and message."""

MAX_DEPTH = 64
"""Graphs in graphs in graphs ... up to so many are taken apart."""

_OWN_TYPES: Mapping[str, DType] = MappingProxyType({"iteration": INT64, "condition": BOOL})
"""What a Loop itself gives its body."""

WHILE_TYPES = frozenset({"While", "_While", "StatelessWhile"})


class _Failed(Exception):
    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition
        self.message = message


def first_failure(graph: GraphOp, table: Mapping[str, GraphOp]) -> tuple[Operation, Failure] | None:
    """The first node of a graph or of what it owns, in walking order, that cannot be part of one task list."""
    waiting = [(iter(list(graph.block.ops)), 0)]
    while waiting:
        ops, depth = waiting[-1]
        op = next(ops, None)
        if op is None:
            waiting.pop()
            continue
        if (failure := _failure(op, table)) is not None:
            return op, failure
        names = subgraph_names(op)
        if names and depth >= MAX_DEPTH:
            return op, ("form", f"graphs are nested more than {MAX_DEPTH} deep")
        for name in reversed(names):
            waiting.append((iter(list(table[name].block.ops)), depth + 1))
    return None


def _failure(op: Operation, table: Mapping[str, GraphOp]) -> Failure | None:
    if not subgraph_names(op):
        reason = node_reason(op)
        return None if reason is None else ("unknown", reason)
    try:
        _check_owner(op, table)
    except _Failed as failed:
        return failed.condition, failed.message
    return None


def _check_owner(op: Operation, table: Mapping[str, GraphOp]) -> None:
    for index, result in enumerate(data_results(op)):
        if (reason := type_reason(result.type)) is not None:
            raise _Failed("unknown", f"output {index} of {ge_type(op)} {reason}")
    key = key_of(op)
    check = _CHECKS.get(key)
    if check is None:
        raise _Failed("operator", f"{ge_type(op)} runs on the host only")
    owned: list[OwnedGraph] = []
    for name in subgraph_names(op):
        if name not in table:
            raise _Failed("missing-graph", f"its graph @{name} is not there")
        owned.append(owned_graph(table[name]))
    for graph in owned:
        _check_formals(op, graph)
    check(op, owned)


def _check_formals(op: Operation, graph: OwnedGraph) -> None:
    count = len(data_operands(op))
    for formal in graph.formals:
        index = graph.index_of(formal)
        if len(data_results(formal)) != 1 or control_operands(formal):
            raise _Failed("form", "an input of its graph has other than one output")
        if formal_kind(formal) in ("iteration", "condition"):
            continue
        if index is None or not 0 <= index < count:
            raise _Failed("form", f"an input of its graph is input {index} of {count}")


def _same(what: str, types: Sequence[Attribute]) -> None:
    for kind in types[1:]:
        if kind != types[0]:
            raise _Failed("types", f"{what} is {types[0]} and {kind}")


def _one_number(what: str, value: SSAValue) -> None:
    shape = static_shape(value.type)
    if shape is None or any(dim != 1 for dim in shape):
        raise _Failed("condition", f"{what} is {value.type}, not one number")
    if desc_of_type(value.type).dtype.numpy is None:
        raise _Failed("condition", f"{what} is {value.type}, which cannot be compared with zero")


def _one_of(what: str, value: SSAValue, wanted: DType) -> None:
    """One number of the one type that ONNX has for it: the nodes that count and compare have no other."""
    _one_number(what, value)
    if desc_of_type(value.type).dtype is not wanted:
        raise _Failed("condition", f"{what} is {value.type}, expected {tensor_type(wanted, ())}")


def _formal_types(op: Operation, graph: OwnedGraph, indices: Sequence[int] | None = None) -> None:
    """What the graph's inputs are inside is what the node gets."""
    operands = data_operands(op)
    for formal in graph.formals:
        index = graph.index_of(formal)
        if index is None or (indices is not None and index not in indices):
            continue
        if formal.results[0].first_use is not None:
            _same(f"input {index}", [operands[index].type, formal.results[0].type])


def _outputs(op: Operation, graph: OwnedGraph, count: int) -> None:
    if len(graph.outputs) < count:
        raise _Failed(
            "form",
            f"it has {count} outputs, its graph @{graph.graph.sym_name.data} {len(graph.outputs)}",
        )


# --- one function an operator ------------------------------------------------------------------------------------


def _branch(op: Operation, graphs: Sequence[OwnedGraph]) -> None:
    is_case = "Case" in ge_type(op)
    if not data_operands(op) or not graphs or (not is_case and len(graphs) != 2):
        raise _Failed("form", f"it has {len(data_operands(op))} inputs and {len(graphs)} graphs")
    _one_number("its condition", data_operands(op)[0])
    dtype = desc_of_type(data_operands(op)[0].type).dtype
    if is_case and (dtype.numpy is None or dtype.numpy.kind not in "iu"):
        raise _Failed("condition", f"its index is {data_operands(op)[0].type}, no integer")
    for graph in graphs:
        _formal_types(op, graph)
        _outputs(op, graph, len(data_results(op)))
    for index, result in enumerate(data_results(op)):
        _same(f"output {index}", [result.type, *(x.outputs[index].type for x in graphs)])


def _call(op: Operation, graphs: Sequence[OwnedGraph]) -> None:
    if len(graphs) != 1:
        raise _Failed("form", f"it has {len(graphs)} graphs")
    _formal_types(op, graphs[0])
    _outputs(op, graphs[0], len(data_results(op)))
    for index, result in enumerate(data_results(op)):
        _same(f"output {index}", [result.type, graphs[0].outputs[index].type])


def _while(op: Operation, graphs: Sequence[OwnedGraph]) -> None:
    if len(graphs) != 2 or len(graphs[0].outputs) != 1:
        raise _Failed(
            "form", f"it has {len(graphs)} graphs, the first gives {len(graphs[0].outputs)} values"
        )
    operands = data_operands(op)
    condition, body = graphs
    _one_number("its condition", condition.outputs[0])
    _outputs(op, body, len(operands))
    if len(data_results(op)) > len(operands):
        raise _Failed("form", f"it has {len(operands)} inputs and {len(data_results(op))} outputs")
    for graph in graphs:
        _formal_types(op, graph)
    for index, operand in enumerate(operands):
        if is_absent(operand):
            raise _Failed("form", f"input {index} is not wired")
        _same(f"input {index}", [operand.type, body.outputs[index].type])
    for index, result in enumerate(data_results(op)):
        _same(f"output {index}", [operands[index].type, result.type])


def _onnx_loop(op: Operation, graphs: Sequence[OwnedGraph]) -> None:
    if len(graphs) != 1 or len(data_operands(op)) < CARRIED:
        raise _Failed("form", f"it has {len(data_operands(op))} inputs and {len(graphs)} graphs")
    body = graphs[0]
    operands, results = data_operands(op), data_results(op)
    limit, given = operands[LIMIT], operands[GIVEN]
    count = own_inputs(op, body) - CARRIED
    if count < 0 or len(results) < count or len(body.outputs) != 1 + len(results):
        raise _Failed(
            "form",
            f"it carries {count} values and has {len(results)} outputs, its body gives {len(body.outputs)}",
        )
    if not is_absent(limit):
        _one_of("its trip count", limit, INT64)
    for value in (body.outputs[0], *(() if is_absent(given) else (given,))):
        _one_of("its condition", value, BOOL)
    _loop_own(body)
    captured = range(own_inputs(op, body), len(operands))
    _formal_types(op, body, captured)
    for k in range(count):
        carried = [operands[CARRIED + k].type, *_formals_of(body, CARRIED + k)]
        _same(f"carried value {k}", [*carried, body.outputs[1 + k].type, results[k].type])
    if any(x.first_use is not None for x in results[count:]):
        _collected(op, body, count)


def _loop_own(body: OwnedGraph) -> None:
    for formal in body.formals:
        wanted = _OWN_TYPES.get(formal_kind(formal) or "")
        if wanted is not None and formal.results[0].first_use:
            _one_of(f"the {formal_kind(formal)} in its body", formal.results[0], wanted)


def _formals_of(body: OwnedGraph, index: int) -> list[Attribute]:
    return [
        x.results[0].type
        for x in body.formals
        if formal_kind(x) is None and body.index_of(x) == index and x.results[0].first_use
    ]


def _collected(op: Operation, body: OwnedGraph, count: int) -> None:
    limit = data_operands(op)[LIMIT]
    array = None if is_absent(limit) else constant_array(limit)
    if array is None:
        raise _Failed("scan-length", "it collects outputs, and its trip count is no constant")
    if not always_true(body, data_operands(op)[GIVEN]):
        raise _Failed("scan-length", "it collects outputs, and its condition may end it early")
    length = max(int(array.reshape(-1)[0]), 0)
    for result in data_results(op)[count:]:
        wanted = (length, *(static_shape(body.outputs[1 + result.index].type) or ()))
        if static_shape(result.type) != wanted:
            raise _Failed(
                "types", f"output {result.index} is {result.type}, collected are {list(wanted)}"
            )


def _onnx_scan(op: Operation, graphs: Sequence[OwnedGraph]) -> None:
    source = source_op(op)
    if source is not None and source.version < 9:
        raise _Failed("operator", "Scan of opset 8, with its batch, runs on the host only")
    if len(graphs) != 1:
        raise _Failed("form", f"it has {len(graphs)} graphs")
    body = graphs[0]
    operands, results = data_operands(op), data_results(op)
    try:
        form = scan_form(op, body)
    except ValueError as error:
        raise _Failed("form", str(error)) from error
    _formal_types(op, body, range(own_inputs(op, body), len(operands)))
    for k in range(form.states):
        carried = [operands[k].type, *_formals_of(body, k)]
        _same(f"state {k}", [*carried, body.outputs[k].type, results[k].type])
    for part in form.read:
        whole = static_shape(operands[part.slot].type) or ()
        wanted = whole[: part.axis] + whole[part.axis + 1 :]
        for kind in _formals_of(body, part.slot):
            if static_shape(kind) != wanted:
                raise _Failed(
                    "types", f"input {part.slot} is cut into {list(wanted)}, its body takes {kind}"
                )
    for part in form.written:
        one = static_shape(body.outputs[part.slot].type) or ()
        wanted = (*one[: part.axis], form.length, *one[part.axis :])
        if static_shape(results[part.slot].type) != wanted:
            kind = results[part.slot].type
            raise _Failed("types", f"output {part.slot} is {kind}, collected are {list(wanted)}")


_CHECKS: Mapping[str, Callable[[Operation, Sequence[OwnedGraph]], None]] = MappingProxyType(
    {
        **dict.fromkeys(BRANCH_TYPES, _branch),
        **dict.fromkeys(CALL_TYPES, _call),
        **dict.fromkeys(WHILE_TYPES, _while),
        "onnx.Loop": _onnx_loop,
        "onnx.Scan": _onnx_scan,
    }
)
