"""Cases whose engine sub-graphs are linked otherwise than the edges of their graph say: the links count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stream_case_graphs import Json, cluster_module, entries_name, expanded, nodes_by_name
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ge_dialect.dialects.ge.access import graphs
from ge_dialect.transforms.streams.ge_stream_dependency import GeStreamDependency
from ge_dialect.transforms.streams.ge_stream_dynamic import GeStreamDynamic

BY_LINKS = (GeStreamDependency, GeStreamDynamic)
"""The passes that ask which sub-graph stands before which."""


@dataclass(frozen=True)
class OnLinks(ModulePass):
    """A pass that is to see the case's links and no other edges."""

    name = "ge-test-on-links"

    step: ModulePass
    case: Json

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        linked = cluster_module(_linked(self.case))
        _copy_attributes(op, linked)
        self.step.apply(ctx, linked)
        _copy_attributes(linked, op)


def on_links(case: Json, steps: Iterable[ModulePass]) -> list[ModulePass]:
    """The steps, with those that look at links made to see the case's."""
    if "graph" not in case or "subgraph_links" not in case:
        return list(steps)
    links = {(source, target) for source, target in case["subgraph_links"]}
    if links == _implied(case):
        return list(steps)
    return [OnLinks(step, case) if isinstance(step, BY_LINKS) else step for step in steps]


def _implied(case: Json) -> set[tuple[str, str]]:
    """The links that the edges of the graph make."""
    graph = expanded(case)
    of = {
        entries_name(node): cluster["name"]
        for cluster in case["engine_subgraphs"]
        for node in cluster["nodes"]
    }
    edges = [(a.rpartition(":")[0], b.rpartition(":")[0]) for a, b in graph["data_edges"]]
    edges += [(a, b) for a, b in graph.get("control_edges", ())]
    pairs = {(of.get(source), of.get(target)) for source, target in edges}
    return {(a, b) for a, b in pairs if a is not None and b is not None and a != b}


def _linked(case: Json) -> Json:
    """The case with an edge for each link in place of all edges."""
    by_name = {cluster["name"]: cluster for cluster in case["engine_subgraphs"]}
    slots: dict[str, int] = {}
    edges: list[list[str]] = []
    for source, target in case["subgraph_links"]:
        last = entries_name(by_name[source]["nodes"][-1])
        head = entries_name(by_name[target]["nodes"][0])
        edges.append([f"{last}:0", f"{head}:{slots.setdefault(head, 0)}"])
        slots[head] += 1
    graph = expanded(case)
    for key in ("generate_chain", "then_chain", "append", "control_edges"):
        graph.pop(key, None)
    bare = {key: value for key, value in case.items() if key != "generate_chain"}
    return {**bare, "graph": {**graph, "data_edges": edges}}


def _copy_attributes(source: ModuleOp, target: ModuleOp) -> None:
    """What passes have noted on graphs and nodes, edges apart."""
    found = nodes_by_name(target)
    pairs = [(op, found[name]) for name, op in nodes_by_name(source).items()]
    for one, other in (*pairs, *zip(graphs(source), graphs(target), strict=True)):
        kept: dict[str, Attribute] = {
            key: value for key, value in one.attributes.items() if key != "ge.consumers"
        }
        for key in [key for key in other.attributes if key not in ("ge.consumers", "sym_name")]:
            del other.attributes[key]
        other.attributes.update(kept)
