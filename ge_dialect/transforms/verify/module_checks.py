"""Rules between the graphs of a model."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_type, graphs, node_name, subgraph_names
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.verify.attribute_checks import attribute_findings
from ge_dialect.transforms.verify.finding import Finding, Findings
from ge_dialect.transforms.verify.graph_checks import graph_findings

MAX_DEPTH = 100
"""Levels of graphs below the root graph."""


def structure_findings(module: ModuleOp) -> Findings:
    """Every broken rule of structure, graph by graph in block order. Linear in operations and edges."""
    yield from attribute_findings(module, "module")
    found = graphs(module)
    table: dict[str, GraphOp] = {}
    for graph in found:
        name = graph.sym_name.data
        if table.setdefault(name, graph) is not graph:
            yield Finding(graph, f"second graph named @{name}")
    owners: dict[str, Operation] = {}
    for graph in found:
        yield from _owner_findings(graph, found[0], owners)
    yield from _cycle_findings(found, owners)
    yield from _depth_findings(found, owners)
    for graph in found:
        yield from graph_findings(graph, owners.get(graph.sym_name.data))


def _owner_findings(graph: GraphOp, root: GraphOp, owners: dict[str, Operation]) -> Findings:
    """Fill `owners`, sub-graph -> the one node that owns it."""
    for op in graph.block.ops:
        if "subgraphs" not in op.properties:
            continue
        for name in subgraph_names(op):
            if name == root.sym_name.data:
                yield Finding(op, f"{ge_type(op)} owns the root graph @{name}")
            elif name in owners:
                other = node_name(owners[name]) or ge_type(owners[name])
                yield Finding(
                    op,
                    f'graph @{name} belongs to "{other}" already; every sub-graph has one caller',
                )
            else:
                owners[name] = op


def _depth_findings(found: list[GraphOp], owners: dict[str, Operation]) -> Findings:
    """Graphs inside graphs inside graphs: the passes and the text of host programs go down level by level."""
    depths: dict[str, int] = {}
    for graph in found:
        path: list[str] = []
        name = graph.sym_name.data
        while name not in depths and name in owners:
            depths[name] = 0  # ends a circle, which is a finding of its own
            path.append(name)
            parent = owners[name].parent_op()
            if not isinstance(parent, GraphOp):
                break
            name = parent.sym_name.data
        depth = depths.get(name, 0)
        for inner in reversed(path):
            depth += 1
            depths[inner] = depth
            if depth == MAX_DEPTH + 1:
                yield Finding(owners[inner], f"graphs are nested more than {MAX_DEPTH} deep")


def _cycle_findings(found: list[GraphOp], owners: dict[str, Operation]) -> Findings:
    """Graphs that own each other in a circle: going from owner to owner must end."""
    done: set[str] = set()
    for graph in found:
        path: set[str] = set()
        name = graph.sym_name.data
        while name not in done and name in owners:
            if name in path:
                yield Finding(owners[name], f"graph @{name} is a sub-graph of itself")
                break
            path.add(name)
            parent = owners[name].parent_op()
            if not isinstance(parent, GraphOp):
                break
            name = parent.sym_name.data
        done |= path
