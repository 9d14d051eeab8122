"""GE's walk over all nodes of a model: the order in which operator ids are given and tasks are generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import graph_table, graphs, subgraph_names
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp, GraphOp, TokenOp

NO_NODES = (AbsentOp, GateOp, TokenOp)
"""What stands in a graph and is no node of it."""


def walk_nodes(
    module: ModuleOp, descend: Callable[[Operation], bool] | None = None
) -> Iterator[tuple[Operation, GraphOp]]:
    """Every node of the model with its graph: the nodes of the root graph in block order, right behind a node that
    owns sub-graphs theirs, sub-graph by sub-graph, depth first (spec/tasks.md section 1, walk order).

    `ge.absent`, `ge.token` and `ge.gate` are no nodes. Names of sub-graphs that are not there are skipped, and so is a
    graph that owns itself. `descend(node)` false leaves out what the node owns.
    """
    table = graph_table(module)
    found = graphs(module)
    if not found:
        return
    stack: list[tuple[GraphOp, Iterator[Operation]]] = [(found[0], iter(found[0].block.ops))]
    open_graphs = {found[0]}
    while stack:
        graph, ops = stack[-1]
        for op in ops:
            if isinstance(op, NO_NODES):
                continue
            yield op, graph
            if "subgraphs" in op.properties and (descend is None or descend(op)):
                owned = [table[name] for name in subgraph_names(op) if name in table]
                inner = [sub for sub in owned if sub not in open_graphs]
                open_graphs.update(inner)
                stack.extend((sub, iter(sub.block.ops)) for sub in reversed(inner))
                break
        else:
            open_graphs.discard(graph)
            stack.pop()
