"""From the graphs of streams.json to IR (schema: cases/README_streams.md).

`stream_module` builds a case's `graph`; `cluster_module` builds the graph that stands for ready engine sub-graphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from case_graphs import Node, build_graph
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.ge.access import get_int, graphs, node_name
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.node import GeNode

Json = dict[str, Any]

ROOT = "root"
_IR_KINDS = {"required": 0, "optional": 1, "dynamic": 2}


def expanded(case: Json) -> Json:
    """The case's graph with its generated chains written out: nodes in list order, all edges."""
    graph: Json = case.get("graph", {})
    nodes: list[Json] = list(graph.get("nodes", case.get("nodes", ())))
    edges = [list(edge) for edge in graph.get("data_edges", ())]
    for chain in (case.get("generate_chain"), graph.get("then_chain"), graph.get("generate_chain")):
        if chain is not None:
            made = _chain(chain)
            nodes += made
            edges += [[f"{a['name']}:0", f"{b['name']}:0"] for a, b in itertools.pairwise(made)]
    nodes += graph.get("append", ())
    return {**graph, "nodes": nodes, "data_edges": edges}


def _chain(chain: Json) -> list[Json]:
    made: list[Json] = []
    for index in range(chain["count"]):
        node: Json = {
            "name": f"{chain['prefix']}{index}",
            "type": chain["type"],
            "stream": chain.get("stream", 0),
        }
        if "attached" in chain:
            node["attached"] = chain["attached"]
        if "continuous_label" in chain and index >= chain["continuous_label_from"]:
            node["attrs"] = {"_continuous_stream_label": chain["continuous_label"]}
        made.append(node)
    if "then" in chain:
        made.append(chain["then"])
    return made


def _attached_attrs(attached: int | list[int] | None) -> Json:
    """Ids of attached streams in the old form for one, in the list form for more (spec/streams.md section 5.1)."""
    ids = [attached] if isinstance(attached, int) else list(attached or ())
    if len(ids) == 1:
        return {} if ids[0] == -1 else {"_attached_stream_id": ids[0]}
    if not ids:
        return {}
    return {"_attached_stream_info_list": [{"_attached_resource_id": stream} for stream in ids]}


def _node(entry: Json, default_stream: int | None) -> Node:
    attrs: Json = {**entry.get("attrs", {}), **_attached_attrs(entry.get("attached"))}
    node = Node(entry["name"], entry["type"], attrs=attrs)
    node.subgraphs = entry.get("subgraphs", ())
    stream = entry.get("stream", default_stream)
    node.stream = None if stream is None or stream < 0 else stream
    if "ir_inputs" in entry:
        node.attrs = {
            **attrs,
            "_ir_inputs_key": [name for name, _ in entry["ir_inputs"]],
            "_ir_inputs_value": [_IR_KINDS[kind] for _, kind in entry["ir_inputs"]],
        }
    for index in entry.get("ref_inputs", ()):
        # GE knows an in-place input by its name, which is also an output's.
        node.inputs += [None] * (index + 1 - len(node.inputs))
        node.outputs += [None] * (index + 1 - len(node.outputs))
        node.arg_attrs.setdefault(index, {})["name"] = string(f"ref{index}")
        node.res_attrs.setdefault(index, {})["name"] = string(f"ref{index}")
    return node


def _pair(edge: Iterable[str]) -> tuple[str, int, str, int]:
    source, target = edge
    src, _, out = source.rpartition(":")
    dst, _, slot = target.rpartition(":")
    return src, int(out), dst, int(slot)


def stream_module(
    case: Json, default_stream: int | None = 0, attributes: dict[str, Attribute] | None = None
) -> ModuleOp:
    """The model of a case: its graphs in list order with the root first, nodes in list order.

    A node without `stream` gets `default_stream`; `attributes` are put on the root graph, beside the case's own
    `stream_num`. The engine of an entry becomes `ge.engine`, the case's engine table `ge.engine_table` of the module.
    """
    graph = expanded(case)
    listed: list[Json] = graph.get("graphs") or [{"name": ROOT}]
    first = listed[0]["name"]
    known = [entry["name"] for entry in listed]
    for entry in graph["nodes"]:
        known += [name for name in entry.get("subgraphs", ()) if name not in known]
    home = {entry["name"]: entry.get("graph", first) for entry in graph["nodes"]}
    unknown = {entry["name"] for entry in listed if entry.get("unknown")}
    edges = [_pair(edge) for edge in graph["data_edges"]]
    built: list[Operation] = []
    for name in known:
        own: dict[str, Attribute] = {"ge.unknown_shape": UNIT} if name in unknown else {}
        if name == first:
            own |= attributes or {}
            if "stream_num" in case:
                own["ge.stream_num"] = i64(case["stream_num"])
            for key, value in case.get("graph_attrs", {}).items():
                assert key == "ge.autoMultistreamParallelMode"
                own["ge.auto_multistream_mode"] = from_python(value)
        built.append(
            build_graph(
                name,
                [
                    _node(entry, default_stream)
                    for entry in graph["nodes"]
                    if home[entry["name"]] == name
                ],
                [edge for edge in edges if home[edge[0]] == name],
                [edge for edge in graph.get("control_edges", ()) if home[edge[0]] == name],
                own,
            )
        )
    module = ModuleOp(built)
    found = nodes_by_name(module)
    for entry in graph["nodes"]:
        if "engine" in entry:
            found[entry["name"]].attributes["ge.engine"] = string(entry["engine"])
    set_engine_table(module, case.get("engines", {}))
    return module


def set_engine_table(module: ModuleOp, engines: Json) -> None:
    """Note the case's engines, which need not be the real ones, on the module."""
    if not engines:
        return
    rows: dict[str, Attribute] = {}
    for name, flags in engines.items():
        row: dict[str, Attribute] = {"scheduler_id": StringAttr(flags["scheduler_id"])}
        if "cost" in flags:
            row["cost"] = i64(flags["cost"])
        for flag in ("independent", "attach", "skip_assign_stream"):
            if flags[flag]:
                row[flag] = UNIT
        rows[name] = DictionaryAttr(row)
    module.attributes["ge.engine_table"] = DictionaryAttr(rows)


def cluster_module(case: Json, default_stream: int | None = None) -> ModuleOp:
    """The model of a case that gives its engine sub-graphs ready: `ge.cluster` is the place in the list.

    Where the case has a `graph` the sub-graphs' nodes are those of it; otherwise they are made, and a link of two
    sub-graphs becomes a data edge from the last node of the one to the first of the other.
    """
    clusters: list[Json] = case["engine_subgraphs"]
    if "graph" in case:
        module = stream_module(case, default_stream)
    else:
        names: list[str] = []
        for cluster in clusters:
            if cluster["graph"] not in names:
                names.append(cluster["graph"])
        by_name = {cluster["name"]: cluster for cluster in clusters}
        entries: list[Json] = []
        for cluster in clusters:
            attrs: Json = {}
            if cluster["stream_label"]:
                attrs["_stream_label"] = cluster["stream_label"]
            if cluster.get("user_stream_label"):
                attrs["_user_stream_label"] = cluster["user_stream_label"]
            entries += [
                {**node, "graph": cluster["graph"], "attrs": {**attrs, **node.get("attrs", {})}}
                for node in cluster["nodes"]
            ]
        slots: dict[str, int] = {}
        edges: list[list[str]] = []
        for source, target in case["subgraph_links"]:
            last = by_name[source]["nodes"][-1]["name"]
            head = by_name[target]["nodes"][0]["name"]
            edges.append([f"{last}:0", f"{head}:{slots.setdefault(head, 0)}"])
            slots[head] += 1
        module = stream_module(
            {
                **case,
                "graph": {
                    "nodes": entries,
                    "data_edges": edges,
                    "graphs": [{"name": name} for name in names],
                },
            },
            default_stream,
        )
    found = nodes_by_name(module)
    ranks: dict[str, int] = {}
    for cluster in clusters:
        rank = ranks.setdefault(cluster["graph"], 0)
        ranks[cluster["graph"]] += 1
        for node in cluster["nodes"]:
            op = found[node if isinstance(node, str) else node["name"]]
            op.attributes["ge.engine"] = string(cluster["engine"])
            op.attributes["ge.cluster"] = i64(rank)
    return module


def nodes_by_name(module: ModuleOp) -> dict[str, GeNode]:
    """The nodes of all graphs; names are unique in a case."""
    return {
        node_name(op): op
        for graph in graphs(module)
        for op in graph.block.ops
        if isinstance(op, GeNode)
    }


def walk_by_name(module: ModuleOp) -> dict[str, Operation]:
    """The nodes that GE's walk visits, in its order."""
    return {node_name(op): op for op, _ in walk_nodes(module)}


def stream_of(op: Operation) -> int:
    """The node's stream, -1 without one."""
    stream = get_int(op, "ge.stream", -1)
    assert stream is not None
    return stream
