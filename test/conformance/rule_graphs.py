"""Small graphs in the schema of no_task.json, for rules that no test of the reference asserts.

Each function gives a case's `graph`; the editing ones take a graph and give it back changed.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Json = dict[str, Any]

PUBLIC = ("NCHW", "NCHW")
FIVE = ("NCHW", "NC1HWC0")


def desc(
    origin: tuple[int, ...] = (1, 64),
    formats: tuple[str, str] = ("ND", "ND"),
    storage: tuple[int, ...] | None = None,
    dtype: str = "float16",
    **attrs: Any,
) -> Json:
    """A descriptor; `formats` are those of origin and storage."""
    return {
        "shape": list(origin if storage is None else storage),
        "format": formats[1],
        "origin_shape": list(origin),
        "origin_format": formats[0],
        "dtype": dtype,
        "attrs": attrs,
    }


def node(
    name: str,
    type: str,
    inputs: int = 0,
    outputs: int = 1,
    attrs: Json | None = None,
    of: Json | None = None,
    **more: Any,
) -> Json:
    """A node with slots of descriptor `of`."""
    of = of or desc()
    return {
        "name": name,
        "type": type,
        "inputs": [deepcopy(of) for _ in range(inputs)],
        "outputs": [deepcopy(of) for _ in range(outputs)],
        "attrs": dict(attrs or {}),
        **more,
    }


def edges(text: str) -> list[list[Any]]:
    """`a:1>b c>d:2`; slot 0 where none is given."""
    found: list[list[Any]] = []
    for pair in text.split():
        (source, _, output), (target, _, slot) = (end.partition(":") for end in pair.split(">"))
        found.append([source, int(output or 0), target, int(slot or 0)])
    return found


def graph(nodes: list[Json], wires: str, **more: Any) -> Json:
    """A graph; `more` are its other keys."""
    return {"nodes": nodes, "edges": edges(wires), **more}


def join(
    a: Json | None = None,
    b: Json | None = None,
    *,
    type: str = "ConcatD",
    dim: int | None = 0,
    of: Json | None = None,
    attrs: Json | None = None,
    types: tuple[str, str] = ("Relu", "Relu"),
    **more: Any,
) -> Json:
    """`a` and `b` (given by their attributes) feed the node `join`, which feeds a NetOutput."""
    name = "axis" if type == "Pack" else "concat_dim"
    own = {} if dim is None else {name: dim}
    return graph(
        [
            node("x", "Data", of=of),
            node("a", types[0], 1, attrs=a, of=of),
            node("b", types[1], 1, attrs=b, of=of),
            node("join", type, 2, attrs={**own, **(attrs or {})}, of=of),
            node("out", "NetOutput", 1, 0, of=of),
        ],
        "x>a x>b a>join b>join:1 join>out",
        **more,
    )


def behind(nodes: list[Json], wires: str, **more: Any) -> Json:
    """A concat of what `wires` leads to its input 0, and of a Relu `b`; the graph input is `x`."""
    own = [
        node("x", "Data"),
        node("b", "Relu", 1),
        *nodes,
        node("join", "ConcatD", 2, attrs={"concat_dim": 0}),
        node("out", "NetOutput", 1, 0),
    ]
    return graph(own, f"x>b b>join:1 join>out {wires}", **more)


def split(
    dim: int | None = 1,
    of: Json | None = None,
    outputs: Json | None = None,
    *,
    type: str = "SplitD",
    attrs: Json | None = None,
    maker: tuple[str, Json] = ("Relu", {}),
    reader: tuple[str, Json] = ("Relu", {}),
    **more: Any,
) -> Json:
    """`p` feeds the node `split`, whose outputs the AI Core nodes `c` and `d` read."""
    of = of or desc((1, 32, 4, 4), PUBLIC)
    outputs = outputs or desc((1, 16, 4, 4), PUBLIC)
    own = {} if dim is None else {"split_dim": dim}
    made = node("split", type, 1, attrs={**own, **(attrs or {})}, of=of)
    made["outputs"] = [deepcopy(outputs), deepcopy(outputs)]
    return graph(
        [
            node("x", "Data", of=of),
            node("p", maker[0], 1, attrs=maker[1], of=of),
            made,
            node("c", reader[0], 1, attrs={"imply_type": 1, **reader[1]}, of=outputs),
            node("d", "Relu", 1, attrs={"imply_type": 1}, of=outputs),
        ],
        "x>p p>split split>c split:1>d",
        **more,
    )


def below(inner: Json, owner: Json | None = None, maker: str = "Relu", **more: Any) -> Json:
    """`inner` as the sub-graph `inner` of a PartitionedCall with the attributes `owner`, fed by a `maker`."""
    call = node("call", "PartitionedCall", 1, attrs=owner, subgraphs=["inner"])
    nodes = [node("y", "Data"), node("r", maker, 1), call]
    subgraphs = {"inner": inner, **inner.pop("subgraphs", {})}
    return graph(nodes, "y>r r>call", subgraphs=subgraphs, **more)


# --- changes ---------------------------------------------------------------------------------------------------------


def at(graph: Json, name: str) -> Json:
    """The node of that name."""
    return next(node for node in graph["nodes"] if node["name"] == name)


def with_attrs(graph: Json, name: str, **attrs: Any) -> Json:
    """More attributes on a node."""
    at(graph, name)["attrs"].update(attrs)
    return graph


def with_input(graph: Json, name: str, slot: int, value: Json | None) -> Json:
    """Another descriptor of an input slot (a new one: not wired)."""
    at(graph, name)["inputs"][slot : slot + 1] = [value]
    return graph


def with_output(graph: Json, name: str, slot: int, value: Json | None) -> Json:
    """Another descriptor of an output."""
    at(graph, name)["outputs"][slot : slot + 1] = [value]
    return graph


def with_input_attrs(graph: Json, name: str, slot: int, **attrs: Any) -> Json:
    """More attributes of an input's descriptor."""
    at(graph, name)["inputs"][slot]["attrs"].update(attrs)
    return graph


def with_lock(graph: Json, name: str, lock: str, value: bool) -> Json:
    """A lock attribute on output 0 of a node."""
    at(graph, name)["outputs"][0]["attrs"][lock] = value
    return graph


def added(graph: Json, nodes: list[Json], wires: str) -> Json:
    """More nodes in front of the last one, and more edges."""
    graph["nodes"][-1:-1] = nodes
    graph["edges"] += edges(wires)
    return graph


def without(graph: Json, wires: str) -> Json:
    """Edges less."""
    for edge in edges(wires):
        graph["edges"].remove(edge)
    return graph
