"""The schema of memory.json: nodes with numbers of slots, sizes and streams, and an order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from case_graphs import ANY_TENSOR, Json, Node, build_graph, graph_attributes, type_of
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from ge_dialect.analysis.order import topological_order
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge import AbsentOp, GraphOp
from ge_dialect.dialects.ge.access import node_name

OWN_STREAM = "every node on its own stream"
FILLER = "between "
"""Starts the names of nodes that stand for those of which a case shows only that they have ids."""


def _node(entry: Json, graph: Json, stream: int) -> Node:
    attrs = dict(entry.get("attrs", {}))
    names: Mapping[str, list[int]] = attrs.pop("ref_names", {})
    node = Node(
        entry["name"], entry["type"], [None] * entry["n_inputs"], attrs=attrs, stream=stream
    )
    sizes, descs = graph.get("stored_size", {}), graph.get("descs", {})
    for index in range(entry["n_outputs"]):
        key = f"{node.name}:{index}"
        kind, slot = type_of(descs[key]) if key in descs else (ANY_TENSOR, {})
        if key in sizes:
            slot["size"] = i64(sizes[key])
        node.outputs.append(kind)
        if slot:
            node.res_attrs[index] = slot
    for name, (source, output) in names.items():
        label: Attribute = StringAttr(name)
        node.arg_attrs.setdefault(source, {})["name"] = label
        node.res_attrs.setdefault(output, {})["name"] = label
    return node


def _build(entries: list[Json], graph: Json) -> GraphOp:
    rule = graph.get("streams_rule")
    assert rule in (None, OWN_STREAM), f"unknown streams_rule {rule!r}"
    nodes = [
        _node(entry, graph, index if rule == OWN_STREAM else entry.get("stream", 0))
        for index, entry in enumerate(entries)
    ]
    attributes = graph_attributes(graph.get("attrs", {}))
    return build_graph("main", nodes, graph["edges"], graph.get("control_edges", ()), attributes)


def ordered_names(graph: Json) -> list[str]:
    """The names of the nodes in the order that the case means."""
    listed: list[str] = []
    if "topo_order" in graph:
        listed = list(graph["topo_order"])
    elif "ids" in graph:
        listed = sorted(graph["ids"], key=graph["ids"].__getitem__)
    if listed:
        return [*listed, *(x["name"] for x in graph["nodes"] if x["name"] not in listed)]
    ops = topological_order(list(_build(graph["nodes"], graph).block.ops))
    return [node_name(op) for op in ops if not isinstance(op, AbsentOp)]


def memory_module(graph: Json) -> ModuleOp:
    """The model of a case of memory.json, its nodes in order.

    Where the case's ids leave numbers out, a node without stream and edges stands for those that are not shown.
    """
    by_name = {entry["name"]: entry for entry in graph["nodes"]}
    ids: Mapping[str, int] = graph.get("ids", {})
    entries: list[Json] = []
    for name in ordered_names(graph):
        before = ids.get(entries[-1]["name"]) if entries else None
        if before is not None and name in ids and ids[name] > before + 1:
            filler = f"{FILLER}{len(entries)}"
            entries.append(
                {"name": filler, "type": "Foo", "n_inputs": 0, "n_outputs": 0, "stream": -1}
            )
        entries.append(by_name[name])
    return ModuleOp([_build(entries, graph)])


def slot_of(text: str) -> tuple[str, int]:
    """Node and output that a case calls `node:out`."""
    name, _, index = text.rpartition(":")
    return name, int(index)


def values_from(expect: Mapping[str, Any]) -> tuple[str, dict[str, int]] | None:
    """The output that relative offsets count from, and the offsets; None when a case gives none."""
    for key, offsets in expect.items():
        if key == "relative_offsets":
            return offsets["from"], {k: v for k, v in offsets.items() if k != "from"}
        if key.startswith("relative_offsets_from_"):
            return f"{key.removeprefix('relative_offsets_from_')}:0", offsets
    return None
