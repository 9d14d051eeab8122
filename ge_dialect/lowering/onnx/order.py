"""Nodes in an order in which every value is made before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from onnx import AttributeProto, GraphProto, NodeProto

from ge_dialect.lowering.onnx.errors import OnnxImportError


class ListedNode:
    """A node with what is asked of it more than once."""

    __slots__ = ("inputs", "outputs", "owns_graphs", "proto")

    def __init__(self, proto: NodeProto) -> None:
        self.proto = proto
        self.inputs: list[str] = list(proto.input)
        self.outputs: list[str] = list(proto.output)
        self.owns_graphs = False
        for attribute in proto.attribute:
            if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
                self.owns_graphs = True

    def label(self) -> str:
        """How errors call the node."""
        return f'"{self.proto.name}"' if self.proto.name else f"{self.proto.op_type} without name"


def graphs_of(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The sub-graphs of a node with the names of their attributes, in the order of their attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            for graph in attribute.graphs:
                yield attribute.name, graph


def free_names(graph: GraphProto) -> set[str]:
    """The values of enclosing graphs that a sub-graph uses."""
    defined = {item.name for item in graph.input}
    defined.update(tensor.name for tensor in graph.initializer)
    defined.update(sparse.values.name for sparse in graph.sparse_initializer)
    used: set[str] = {item.name for item in graph.output}
    for node in graph.node:
        defined.update(node.output)
        used.update(node.input)
        for _, inner in graphs_of(node):
            used |= free_names(inner)
    used -= defined
    used.discard("")
    return used


def _needs(node: ListedNode) -> list[str]:
    if not node.owns_graphs:
        return node.inputs
    captured: set[str] = set()
    for _, graph in graphs_of(node.proto):
        captured |= free_names(graph)
    return [*node.inputs, *sorted(captured)]


def sort_nodes(graph: GraphProto) -> None:
    """Bring the nodes of a graph and its sub-graphs into an order in which values are made before they are used.

    Works in place. The order stays that of the list as far as values allow: of the nodes that are ready the first in
    the list comes next. Raises OnnxImportError for a value that is made twice and for a cycle, naming the nodes on it.
    Names that nothing in the graph makes are left to the caller.
    """
    defined = {item.name for item in graph.input}
    defined.update(tensor.name for tensor in graph.initializer)
    defined.update(sparse.values.name for sparse in graph.sparse_initializer)
    listed = [ListedNode(proto) for proto in graph.node]
    for node in listed:
        if node.owns_graphs:
            for _, inner in graphs_of(node.proto):
                sort_nodes(inner)
    ordered = _sorted(listed, defined)
    if ordered is not listed:
        copy = GraphProto(node=[node.proto for node in ordered])
        del graph.node[:]
        graph.node.extend(copy.node)


def _sorted(nodes: list[ListedNode], defined: set[str]) -> list[ListedNode]:
    """The same list when it is in order already."""
    maker: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in node.outputs:
            if name:
                if name in maker or name in defined:
                    raise OnnxImportError(
                        f'value "{name}" is made twice, the second time by node {node.label()}'
                    )
                maker[name] = i
    needs = [_needs(node) for node in nodes]
    if all(maker.get(name, -1) < i for i, names in enumerate(needs) for name in names):
        return nodes
    waiting = [0] * len(nodes)
    users: list[list[int]] = [[] for _ in nodes]
    for i, names in enumerate(needs):
        for source in {maker[name] for name in names if name in maker}:
            users[source].append(i)
            waiting[i] += 1
    ready = [i for i, count in enumerate(waiting) if count == 0]
    heapify(ready)
    order: list[ListedNode] = []
    while ready:
        i = heappop(ready)
        order.append(nodes[i])
        for user in users[i]:
            waiting[user] -= 1
            if waiting[user] == 0:
                heappush(ready, user)
    if len(order) < len(nodes):
        labels = [nodes[i].label() for i in _cycle(needs, maker, waiting)]
        raise OnnxImportError(f"the graph has a cycle: {_path(labels)}")
    return order


def _path(labels: list[str]) -> str:
    if len(labels) > 12:
        labels = [*labels[:6], f"({len(labels) - 12} more)", *labels[-6:]]
    return " -> ".join(labels)


def _cycle(needs: list[list[str]], maker: dict[str, int], waiting: list[int]) -> list[int]:
    """One cycle, in the direction of the data, first and last node the same."""
    node = next(i for i, count in enumerate(waiting) if count)
    seen: dict[int, int] = {}
    path: list[int] = []
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(maker[x] for x in needs[node] if x in maker and waiting[maker[x]])
    return [*path[seen[node] :], node][::-1]
