"""From the graphs of streams.json to IR (schema: cases/README_streams.md).

`stream_module` builds a case's `graph`; `cluster_module` builds the graph that stands for ready engine sub-graphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from case_graphs import ANY_TENSOR, Node, build_graph, graph_attributes
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.order import positions
from ge_dialect.analysis.walk import walk_nodes
from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.ge.access import (
    control_result,
    ge_attr,
    get_int,
    graph_of,
    graphs,
    node_name,
    set_ge_attr,
)
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


_OF_THE_CHAIN = {"prefix", "count", "continuous_label", "continuous_label_from", "then"}


def _chain(chain: Json) -> list[Json]:
    """The nodes of a chain; what the chain says of them beside their number and names holds for each."""
    made: list[Json] = []
    for index in range(chain["count"]):
        node: Json = {key: value for key, value in chain.items() if key not in _OF_THE_CHAIN}
        node["name"] = f"{chain['prefix']}{index}"
        if "continuous_label" in chain and index >= chain.get("continuous_label_from", 0):
            label = {"_continuous_stream_label": chain["continuous_label"]}
            node["attrs"] = {**node.get("attrs", {}), **label}
        made.append(node)
    if "then" in chain:
        made.append(chain["then"])
    return made


def _attached_attrs(attached: int | list[int] | None, attrs: Json) -> Json:
    """Ids of attached streams in the old form for one, in the list form for more (spec/streams.md section 5.1), and in
    the elements of a list that the node has itself."""
    ids = [attached] if isinstance(attached, int) else list(attached or ())
    listed: list[Json] = attrs.get("_attached_stream_info_list", [])
    if ids and len(listed) == len(ids):
        own = [{**each, "_attached_resource_id": n} for each, n in zip(listed, ids, strict=True)]
        return {"_attached_stream_info_list": own}
    if len(ids) == 1:
        return {} if ids[0] == -1 else {"_attached_stream_id": ids[0]}
    if not ids:
        return {}
    return {"_attached_stream_info_list": [{"_attached_resource_id": stream} for stream in ids]}


def _node(entry: Json, default_stream: int | None) -> Node:
    given: Json = entry.get("attrs", {})
    attrs: Json = {**given, **_attached_attrs(entry.get("attached"), given)}
    node = Node(entry["name"], entry["type"], attrs=attrs)
    node.subgraphs = entry.get("subgraphs", ())
    stream = entry.get("stream", entry.get("initial_stream", default_stream))
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
        node.outputs += [ANY_TENSOR] * (index + 1 - len(node.outputs))
        node.arg_attrs.setdefault(index, {})["name"] = string(f"ref{index}")
        node.res_attrs.setdefault(index, {})["name"] = string(f"ref{index}")
    return node


def _pair(edge: Iterable[str]) -> tuple[str, int, str, int]:
    source, target = edge
    src, _, out = source.rpartition(":")
    dst, _, slot = target.rpartition(":")
    return src, int(out), dst, int(slot)


def _with_subgraphs(nodes: list[Json], listed: list[Json]) -> list[Json]:
    """The nodes, each with the graphs that it owns: whose graph it is may be said by the graph alone."""
    found = [{**entry, "subgraphs": [*entry.get("subgraphs", ())]} for entry in nodes]
    of_name = {entry["name"]: entry for entry in found}
    owned = {name for entry in found for name in entry["subgraphs"]}
    for entry in listed:
        owner = of_name.get(entry.get("parent") or "")
        if owner is not None and entry["name"] not in owned:
            owner["subgraphs"].append(entry["name"])
    return found


def _known_graphs(nodes: list[Json], listed: list[Json]) -> list[str]:
    """The names of all graphs, those that the case lists first."""
    known = dict.fromkeys(entry["name"] for entry in listed)
    for entry in nodes:
        known |= dict.fromkeys(entry["subgraphs"])
        if "graph" in entry:
            known[entry["graph"]] = None
    return list(known)


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
    graph["nodes"] = _with_subgraphs(graph["nodes"], listed)
    known = _known_graphs(graph["nodes"], listed)
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
                if key == "ge.autoMultistreamParallelMode":
                    own["ge.auto_multistream_mode"] = from_python(value)
                else:
                    own |= graph_attributes({key: value})
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
    _keep_control_order(found, graph.get("control_edges", ()))
    set_engine_table(module, case.get("engines", {}))
    return module


def _keep_control_order(found: Mapping[str, Operation], edges: Iterable[Sequence[str]]) -> None:
    """Note the order of a node's control edges where it is not the order of their targets in the block."""
    targets: dict[str, dict[str, None]] = {}
    for source, target in edges:
        targets.setdefault(source, {})[target] = None
    for source, listed in targets.items():
        op = found[source]
        graph = graph_of(op)
        place = positions(graph)
        if [*listed] == sorted(listed, key=lambda name: place[found[name]]):
            continue
        value = control_result(op)
        assert value is not None
        texts = [
            StringAttr(f"{value.index}:{name}:{list(found[name].operands).index(value)}")
            for name in listed
        ]
        before = op.attributes.get("ge.consumers")
        kept = list(before.data) if isinstance(before, ArrayAttr) else []
        op.attributes["ge.consumers"] = ArrayAttr([*kept, *texts])


def set_engine_table(module: ModuleOp, engines: Json) -> None:
    """Note the case's engines, which need not be the real ones, on the module."""
    if not engines:
        return
    rows: dict[str, Attribute] = {}
    for name, flags in engines.items():
        row: dict[str, Attribute] = {}
        if "scheduler_id" in flags:
            row["scheduler_id"] = StringAttr(flags["scheduler_id"])
        if "cost" in flags:
            row["cost"] = i64(flags["cost"])
        for flag in ("independent", "attach", "skip_assign_stream"):
            if flags.get(flag):
                row[flag] = UNIT
        rows[name] = DictionaryAttr(row)
    module.attributes["ge.engine_table"] = DictionaryAttr(rows)


def cluster_module(case: Json, default_stream: int | None = None) -> ModuleOp:
    """The model of a case that gives its engine sub-graphs ready: `ge.cluster` is the place in the list.

    Where the case has a `graph` the sub-graphs' nodes are those of it; otherwise they are made, and a link of two
    sub-graphs becomes a data edge from the last node of the one to the first of the other.
    """
    clusters: list[Json] = case.get("engine_subgraphs", [])
    has_graph = "graph" in case
    given = case if has_graph else {**case, "graph": _graph_of_clusters(case, clusters)}
    module = stream_module(given, default_stream)
    found = nodes_by_name(module)
    ranks: dict[str, int] = {}
    for cluster in clusters:
        graph = cluster.get("graph", ROOT)
        rank = ranks.setdefault(graph, 0)
        ranks[graph] += 1
        for place, node in enumerate(cluster["nodes"]):
            op = found[node if isinstance(node, str) else node["name"]]
            op.attributes["ge.engine"] = string(cluster["engine"])
            op.attributes["ge.cluster"] = i64(rank)
            if has_graph and place == 0:
                # A sub-graph has the label of its first node.
                for key in ("stream_label", "user_stream_label"):
                    if cluster.get(key) and not ge_attr(op, f"_{key}"):
                        set_ge_attr(op, f"_{key}", cluster[key])
    return module


def _graph_of_clusters(case: Json, clusters: list[Json]) -> Json:
    """A graph with a node for each of the sub-graphs' nodes and an edge for each link."""
    names: list[str] = []
    for cluster in clusters:
        if cluster.get("graph", ROOT) not in names:
            names.append(cluster.get("graph", ROOT))
    by_name = {cluster["name"]: cluster for cluster in clusters}
    entries: list[Json] = []
    bodies: dict[str, Any] = {}
    for cluster in clusters:
        attrs: Json = {}
        for key in ("stream_label", "user_stream_label"):
            if cluster.get(key):
                attrs[f"_{key}"] = cluster[key]
        graph = cluster.get("graph", ROOT)
        for node in cluster["nodes"]:
            entry: Json = {"name": node, "type": "test"} if isinstance(node, str) else node
            entries.append({**entry, "graph": graph, "attrs": {**attrs, **entry.get("attrs", {})}})
            if "in_body_of" in entry:
                bodies[graph] = entry["in_body_of"]
    slots: dict[str, int] = {}
    edges: list[list[str]] = []
    for source, target in case.get("subgraph_links", ()):
        last = entries_name(by_name[source]["nodes"][-1])
        head = entries_name(by_name[target]["nodes"][0])
        edges.append([f"{last}:0", f"{head}:{slots.setdefault(head, 0)}"])
        slots[head] += 1
    listed: list[Json] = [{"name": name} for name in names]
    for graph, parent in bodies.items():
        _put_below(graph, parent, listed, entries)
    return {"nodes": entries, "data_edges": edges, "graphs": listed or [{"name": ROOT}]}


def entries_name(node: str | Json) -> str:
    """The name of a node that is given by name or written out."""
    return node if isinstance(node, str) else node["name"]


def _put_below(graph: str, parent: Any, listed: list[Json], entries: list[Json]) -> None:
    """Make `graph` a sub-graph of a node such as `parent` says: its type (a text), its number among the node's graphs
    (a number, else 1) and whether the node's own graph is of unknown shape (a truth value, else yes)."""
    told: list[Any] = list(cast("Json", parent).values()) if isinstance(parent, dict) else [parent]
    kind = next((each for each in told if isinstance(each, str)), "While")
    unknown = next((each for each in told if isinstance(each, bool)), True)
    numbers = [each for each in told if isinstance(each, int) and not isinstance(each, bool)]
    place = numbers[0] if numbers else 1
    outer, owner = f"outer of {graph}", f"owner of {graph}"
    others = [f"{graph} {number}" for number in range(place)]
    listed.insert(0, {"name": outer, "unknown": unknown})
    listed += [{"name": name} for name in others]
    entries.append({"name": owner, "type": kind, "graph": outer, "subgraphs": [*others, graph]})


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
