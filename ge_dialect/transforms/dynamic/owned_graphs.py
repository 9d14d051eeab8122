"""The graphs that control flow of a dynamic model owns: which of them can be cut into clusters like the root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.engine_types import BRANCH_TYPES, CALL_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    ge_type,
    get_flag,
    get_int,
    get_text,
    graph_table,
    source_op,
    static_shape,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import DataOp, NetOutputOp


@dataclass(frozen=True, slots=True)
class OwnedGraph:
    """A graph, the node that owns it, and why it stays whole (None: it can be cut)."""

    graph: GraphOp
    owner: Operation
    refusal: str | None


def owned_graphs(module: ModuleOp, root: GraphOp) -> Iterator[OwnedGraph]:
    """Every graph that nodes of `root` own, and nodes of those, each once, in the order of the nodes.

    Parts of known shape, as an earlier partition leaves them, are no such graphs. Types inside a loop's body can be
    wrong: ONNX lets a carried value change its shape from turn to turn, whatever the body declares. A body is refused
    unless each carried value of a declared size has it in front of the loop, in it and behind it.
    """
    table = graph_table(module)
    seen = {root}
    stack = [iter(root.block.ops)]
    while stack:
        op = next(stack[-1], None)
        if op is None:
            stack.pop()
            continue
        if "subgraphs" not in op.properties:
            continue
        names = subgraph_names(op)
        owned = [table[name] for name in names if name in table]
        for graph in owned:
            if graph in seen or _is_known_part(graph):
                continue
            seen.add(graph)
            yield OwnedGraph(graph, op, _refusal(op, graph, owned[-1]))
            stack.append(iter(graph.block.ops))


def _is_known_part(graph: GraphOp) -> bool:
    return "ge.unknown_shape" in graph.attributes and not get_flag(graph, "ge.unknown_shape")


def _refusal(owner: Operation, graph: GraphOp, body: GraphOp) -> str | None:
    kind = ge_type(owner)
    if kind in BRANCH_TYPES or kind in CALL_TYPES:
        return None
    if kind == "SequenceMap":
        return "the elements of a sequence may differ in shape"
    outputs = _outputs(body)
    operands = [x.type for x in data_operands(owner)]
    inputs = [
        op for op in graph.block.ops if isinstance(op, DataOp) and get_text(op, "ge.formal") is None
    ]
    shift = _shift(owner)
    scans = ge_attr(owner, "num_scan_inputs", 0) if kind == "Scan" else 0
    carried = len(inputs) - (scans if type(scans) is int else 0)  # the lowering refuses others
    for op in inputs:
        index = get_int(op, "ge.parent_node_index", ge_attr(op, "index"))
        result = data_results(op)[0]
        if index is None or static_shape(result.type) is None:
            continue
        position = index - shift
        if kind == "Scan" and position >= carried:
            continue  # a slice, which is as large in every turn
        behind = outputs[position] if 0 <= position < len(outputs) else None
        before = operands[index] if index < len(operands) else None
        if not result.type == before == behind:
            return f"input {index} of {kind} may change its shape from turn to turn"
    return None


def _shift(owner: Operation) -> int:
    """How much the number of a carried value among the body's outputs is below that among the node's inputs."""
    if ge_type(owner) == "Loop":
        return 1
    source = source_op(owner)
    return 1 if ge_type(owner) == "Scan" and source is not None and source.version < 9 else 0


def _outputs(body: GraphOp) -> list[Attribute]:
    for op in body.block.ops:
        if isinstance(op, NetOutputOp):
            return [x.type for x in data_operands(op)]
    return []
