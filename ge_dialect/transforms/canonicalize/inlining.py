"""Branches whose condition is a constant: the graph that is taken moves to where the node stood."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.engine_types import BRANCH_TYPES
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    get_int,
    node_name,
    set_node_name,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import DataOp, NetOutputOp
from ge_dialect.kernels import Array


def taken_branch(op: Operation, kind: str, condition: Array) -> str | None:
    """The name of the graph that a constant condition selects; None when it selects none."""
    names = subgraph_names(op)
    if condition.size != 1 or condition.dtype.kind not in "biuf":
        return None
    value = condition.reshape(-1)[0]
    if "Case" in kind:
        index = int(value)
    else:
        index = 0 if value else 1
    return names[index] if 0 <= index < len(names) else None


def _formals(graph: GraphOp, op: Operation) -> dict[Operation, SSAValue] | None:
    """What each graph input of the branch is outside; None when one of them says no index or a wrong one."""
    inputs = data_operands(op)
    found: dict[Operation, SSAValue] = {}
    for node in graph.block.ops:
        if isinstance(node, DataOp):
            index = get_int(node, "ge.parent_node_index")
            if index is None or not 0 <= index < len(inputs) or len(node.results) != 1:
                return None
            found[node] = inputs[index]
    return found


class NameSet:
    """The node names of a graph, to find free ones."""

    def __init__(self, graph: GraphOp) -> None:
        self._used = {node_name(op) for op in graph.block.ops}
        self._numbers: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._used

    def free(self, wanted: str) -> str:
        """`wanted`, or that with the first number that makes it new; it counts as used from now on."""
        name, count = wanted, self._numbers.get(wanted, 0)
        while name in self._used:
            count += 1
            name = f"{wanted}_{count}"
        self._numbers[wanted] = count
        self._used.add(name)
        return name


def inline_branch(
    op: Operation, kind: str, condition: Array, table: Mapping[str, GraphOp], names: NameSet
) -> bool:
    """Move the nodes of the branch that a constant condition selects in front of `op`, replace its results by theirs
    and remove it. The branch's graph stays, empty and without caller. False when that is not possible: the graph is
    missing, or its inputs or outputs do not fit the node's.

    A node whose name is taken is called `<name of op>/<its name>`.
    """
    chosen = taken_branch(op, kind, condition)
    graph = table.get(chosen) if chosen is not None else None
    block = op.parent
    if graph is None or block is None or kind not in BRANCH_TYPES:
        return False
    formals = _formals(graph, op)
    outputs = [node for node in graph.block.ops if isinstance(node, NetOutputOp)]
    results = data_results(op)
    if formals is None or len(outputs) != 1 or len(outputs[0].operands) != len(results):
        return False
    for formal, value in formals.items():
        formal.results[0].replace_all_uses_with(value)
    for result, value in zip(results, outputs[0].operands, strict=True):
        result.replace_all_uses_with(value)
    prefix = node_name(op)
    for node in list(graph.block.ops):
        if node in formals or node is outputs[0]:
            continue
        graph.block.detach_op(node)
        if name := node_name(node):
            set_node_name(node, names.free(f"{prefix}/{name}" if name in names else name))
        block.insert_op_before(node, op)
    for node in (outputs[0], *formals):
        graph.block.erase_op(node)
    block.erase_op(op)
    return True
