"""The graphs of a model, who owns which, and what holds for a graph as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.marks import flag, mark
from ge_dialect.dialects.ge.access import graph_of, graphs, subgraph_names
from ge_dialect.dialects.ge.graph import GraphOp

SINGLE_OP_SCENE = "_single_op_scene"
DISCONTIGUOUS = "_memory_discontiguous_allocation"
PARTITIONED = "_dynamic_shape_partitioned"


@dataclass(frozen=True)
class ModelGraphs:
    """All graphs of a model, the root first (GE's root and flat list of sub-graphs), and the node that owns each."""

    graphs: tuple[GraphOp, ...]
    owners: dict[GraphOp, Operation] = field(repr=False)
    _single_op_nodes: tuple[Operation, ...] = field(repr=False)

    @classmethod
    def of(cls, module: ModuleOp) -> ModelGraphs:
        """One sweep over the model."""
        found = tuple(graphs(module))
        table = {graph.sym_name.data: graph for graph in found}
        owners: dict[GraphOp, Operation] = {}
        single: list[Operation] = []
        for graph in found:
            for op in graph.block.ops:
                if "subgraphs" in op.properties:
                    for name in subgraph_names(op):
                        if name in table:
                            owners.setdefault(table[name], op)
                if mark(op, SINGLE_OP_SCENE) is not None:
                    single.append(op)
        return cls(found, owners, tuple(single))

    @property
    def root(self) -> GraphOp | None:
        """The first graph, None for a model without graphs."""
        return self.graphs[0] if self.graphs else None

    def parent_graph(self, graph: GraphOp) -> GraphOp | None:
        """The graph that the owner of `graph` stands in."""
        owner = self.owners.get(graph)
        return None if owner is None else graph_of(owner)

    def single_op_scene(self, graph: GraphOp) -> bool:
        """Single-operator mode: what the graph says, else the first node in it (at any depth) that says anything
        (spec/no_task.md 2.1)."""
        if mark(graph, SINGLE_OP_SCENE) is not None:
            return flag(graph, SINGLE_OP_SCENE)
        if not self._single_op_nodes:
            return False
        marked = (op for op in self._nodes(graph, set()) if mark(op, SINGLE_OP_SCENE) is not None)
        first = next(marked, None)
        return first is not None and flag(first, SINGLE_OP_SCENE)

    def _nodes(self, graph: GraphOp, seen: set[GraphOp]) -> Iterator[Operation]:
        seen.add(graph)
        owned = {name: each for each in self.graphs if (name := each.sym_name.data)}
        for op in graph.block.ops:
            yield op
            if "subgraphs" in op.properties:
                for name in subgraph_names(op):
                    inner = owned.get(name)
                    if inner is not None and inner not in seen:
                        yield from self._nodes(inner, seen)


def discontiguous(graph: GraphOp) -> bool:
    """Whether the graph's memory is not allocated as one pool."""
    return flag(graph, DISCONTIGUOUS)


def is_dynamic(graph: GraphOp) -> bool:
    """Whether the graph itself was cut into dynamic parts or has the unknown flag (spec/no_task.md 2.4)."""
    return flag(graph, PARTITIONED) or flag(graph, "_graph_unknown_flag")
