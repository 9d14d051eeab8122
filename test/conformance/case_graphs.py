"""From the graphs of the conformance cases to IR: what the case schemas have in common.

A case's graph is a list of nodes with slots, and edges `[source, output, target, input]`. `Node` is one of them in the
IR's terms; `build_graph` wires them. The order of the nodes is kept, sorted or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    NoneType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.order import consumers, positions
from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.ge.access import add_control_edge, ge_attr, graph_table
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.attribute_table import ATTRIBUTES, SLOT_ATTRIBUTES, Kind
from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.element_types import ir_element_type
from ge_dialect.dialects.ge.graph import AbsentOp, GraphOp
from ge_dialect.dialects.ge.nodes import NODE_OF_TYPE, OpOp
from ge_dialect.formats.dtypes import dtype_by_name

Json = dict[str, Any]

_NAMES = {"FLOAT32": "FLOAT", "BFLOAT16": "BF16", "FLOAT64": "DOUBLE"}
_FLAGS_AND_NUMBERS = [
    row for row in ATTRIBUTES if row.ge_spelling is not None and row.kind in (Kind.FLAG, Kind.INT)
]
_OF_NODES = {row.ge_spelling: row for row in _FLAGS_AND_NUMBERS if row.on == "node"}
_OF_GRAPHS = {row.ge_spelling: row for row in _FLAGS_AND_NUMBERS if row.on == "graph"}
_SLOT_KEYS = {row.ge_spelling: row.key for row in SLOT_ATTRIBUTES if row.ge_spelling is not None}
ANY_TENSOR = TensorType(ir_element_type(dtype_by_name("FLOAT")), [1])
"""The type of an output of which the case says nothing."""


def ge_dtype(name: str) -> str:
    """GE's name of an element type (without DT_) that a case spells as numpy does."""
    upper = name.upper()
    return _NAMES.get(upper, upper)


def type_of(desc: Json, c0: int | None = None) -> tuple[Attribute, dict[str, Attribute]]:
    """The tensor type of a descriptor and what of it is kept in the slot's dictionary."""
    element = ir_element_type(dtype_by_name(ge_dtype(desc.get("dtype", "FLOAT"))))
    shape: list[int] = desc.get("shape", [])
    storage, origin = desc.get("format", "ND"), desc.get("origin_format")
    origin_shape: list[int] | None = desc.get("origin_shape")
    c0 = desc.get("format_c0_field", c0)
    encoding = None
    if storage != "ND" or origin not in (None, "ND") or origin_shape not in (None, shape) or c0:
        encoding = DescAttr(
            storage,
            origin_format=None if origin == storage else origin,
            origin_shape=None if origin_shape == shape else origin_shape,
            c0=c0,
        )
    slot = {
        _SLOT_KEYS.get(key, key): from_python(value) for key, value in desc.get("attrs", {}).items()
    }
    if -2 in shape:
        if encoding is not None:
            slot["desc"] = encoding
        return UnrankedTensorType(element), slot
    dims = [DYNAMIC_INDEX if dim < 0 else dim for dim in shape]
    if encoding is None:
        return TensorType(element, dims), slot
    return TensorType(element, dims, encoding), slot


@dataclass
class Node:
    """One node. An entry of `inputs` is the type of the slot's own descriptor (None: the value's), one of `outputs`
    the result's type (None: an absent output); `arg_attrs` and `res_attrs` are the slots' dictionaries."""

    name: str
    type: str
    inputs: list[Attribute | None] = field(default_factory=list[Attribute | None])
    outputs: list[Attribute | None] = field(default_factory=list[Attribute | None])
    attrs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    subgraphs: Sequence[str] = ()
    arg_attrs: dict[int, dict[str, Attribute]] = field(
        default_factory=dict[int, dict[str, Attribute]]
    )
    res_attrs: dict[int, dict[str, Attribute]] = field(
        default_factory=dict[int, dict[str, Attribute]]
    )
    stream: int | None = None

    def make(self) -> Operation:
        """The op, without operands."""
        kind = NODE_OF_TYPE.get(self.type, OpOp)
        properties: dict[str, Attribute] = {"type": string(self.type)}
        attributes: dict[str, Attribute] = {"ge.name": StringAttr(self.name)}
        if self.stream is not None:
            attributes["ge.stream"] = i64(self.stream)
        typed = {spelling: name for name, spelling in kind.GE_ATTRS.items()}
        others: dict[str, Attribute] = {}
        for key, value in self.attrs.items():
            row = _OF_NODES.get(key)
            if row is not None:
                flag = row.kind is Kind.FLAG and value is True
                attributes[row.name] = UNIT if flag else from_python(value)
            elif key in typed:
                properties[typed[key]] = from_python(value)
            else:
                others[key] = from_python(value)
        if others:
            properties["attrs"] = DictionaryAttr(others)
        if self.subgraphs:
            properties["subgraphs"] = ArrayAttr([SymbolRefAttr(name) for name in self.subgraphs])
        if self.type == "Const" or self.type == "Constant":
            properties["value"] = UNIT
        results = [NoneType() if kind is None else kind for kind in self.outputs]
        return kind.make((), results, properties, attributes)


def build_graph(
    name: str,
    nodes: Sequence[Node],
    edges: Iterable[Sequence[Any]],
    control_edges: Iterable[Sequence[str]] = (),
    attributes: dict[str, Attribute] | None = None,
) -> GraphOp:
    """The graph of the nodes, in their order. Slots that edges use and nodes do not list are added."""
    edges = [(str(src), int(out), str(dst), int(slot)) for src, out, dst, slot in edges]
    by_name = {node.name: node for node in nodes}
    for src, out, dst, slot in edges:
        outputs, inputs = by_name[src].outputs, by_name[dst].inputs
        outputs += [ANY_TENSOR] * (out + 1 - len(outputs))
        inputs += [None] * (slot + 1 - len(inputs))
    graph = GraphOp(name, attributes=attributes)
    absent = AbsentOp()
    ops = {node.name: node.make() for node in nodes}
    graph.block.add_ops([absent, *ops.values()])
    wired: dict[tuple[str, int], SSAValue] = {
        (dst, slot): ops[src].results[out] for src, out, dst, slot in edges
    }
    for node in nodes:
        op = ops[node.name]
        slots = [dict(node.arg_attrs.get(i, {})) for i in range(len(node.inputs))]
        operands: list[SSAValue] = []
        for i, kind in enumerate(node.inputs):
            value = wired.get((node.name, i), absent.output)
            operands.append(value)
            if kind is not None and kind != value.type:
                slots[i]["type"] = kind
        op.operands = operands
        if any(slots):
            op.attributes["ge.arg_attrs"] = ArrayAttr([DictionaryAttr(slot) for slot in slots])
        own = [node.res_attrs.get(i, {}) for i in range(len(node.outputs))]
        if any(own):
            op.attributes["ge.res_attrs"] = ArrayAttr([DictionaryAttr(slot) for slot in own])
    for src, dst in control_edges:
        add_control_edge(ops[src], ops[dst])
    _keep_consumer_order(graph, ops, edges)
    return graph


def _keep_consumer_order(
    graph: GraphOp, ops: Mapping[str, Operation], edges: Sequence[tuple[str, int, str, int]]
) -> None:
    """Note the order of an output's edges where it is not the order of its readers in the block."""
    place = positions(graph)
    listed: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for src, out, dst, slot in edges:
        listed.setdefault((src, out), []).append((dst, slot))
    notes: dict[str, list[Attribute]] = {}
    for (src, out), readers in listed.items():
        natural = consumers(ops[src].results[out], place)
        if [(ops[dst], slot) for dst, slot in readers] != natural:
            texts = [StringAttr(f"{out}:{dst}:{slot}") for dst, slot in readers]
            notes.setdefault(src, []).extend(texts)
    for src, texts in notes.items():
        ops[src].attributes["ge.consumers"] = ArrayAttr(texts)


def graph_attributes(attrs: Mapping[str, Any]) -> dict[str, Attribute]:
    """Attributes of a graph under GE's names in the IR's terms. What the IR has no attribute for stays under GE's name;
    no pass looks at it."""
    made: dict[str, Attribute] = {}
    for key, value in attrs.items():
        row = _OF_GRAPHS.get(key)
        made[key if row is None else row.name] = UNIT if value is True else from_python(value)
    return made


def set_node_attr(op: Operation, key: str, value: Any) -> None:
    """Give a GE attribute of a node another value, wherever the IR keeps it."""
    row = _OF_NODES.get(key)
    if row is not None:
        flag = row.kind is Kind.FLAG and value is True
        op.attributes[row.name] = UNIT if flag else from_python(value)
        return
    attrs = op.properties.get("attrs")
    old = dict(attrs.data) if isinstance(attrs, DictionaryAttr) else {}
    op.properties["attrs"] = DictionaryAttr({**old, key: from_python(value)})


# --- the schema of no_task.json ------------------------------------------------------------------------------------


def no_task_graph(name: str, graph: Json, c0: int | None = None) -> GraphOp:
    """One graph of the schema of no_task.json."""
    nodes: list[Node] = []
    for entry in graph["nodes"]:
        node = Node(entry["name"], entry["type"], attrs=entry.get("attrs", {}))
        node.subgraphs = entry.get("subgraphs", ())
        for descs, kinds, slots in (
            (entry.get("inputs", []), node.inputs, node.arg_attrs),
            (entry.get("outputs", []), node.outputs, node.res_attrs),
        ):
            for index, desc in enumerate(descs):
                kind, slot = (None, {}) if desc is None else type_of(desc, c0)
                kinds.append(kind)
                if slot:
                    slots[index] = slot
        for out, source in entry.get("reuse_input", {}).items():
            node.res_attrs.setdefault(int(out), {})["reuse_input"] = i64(int(source))
        nodes.append(node)
    attributes = graph_attributes(graph.get("attrs", {}))
    if graph.get("unknown"):
        attributes["ge.unknown_shape"] = UNIT
    edges: list[Sequence[Any]] = graph.get("edges", [])
    return build_graph(name, nodes, edges, graph.get("control_edges", ()), attributes)


def no_task_module(graph: Json, c0: int | None = None) -> ModuleOp:
    """The model of a case of no_task.json: the root graph `main` and its flat list of sub-graphs."""
    subgraphs: Json = graph.get("subgraphs", {})
    root = "main" if "main" not in subgraphs else "main.root"
    return ModuleOp(
        [
            no_task_graph(root, graph, c0),
            *(no_task_graph(name, sub, c0) for name, sub in subgraphs.items()),
        ]
    )


def node_of(module: ModuleOp, target: str) -> Operation:
    """The node that a case calls `name` or `graph/name`; names of either may have slashes. Raises KeyError."""
    table = graph_table(module)
    scopes = [(next(iter(table.values())), target)]
    for name, graph in table.items():
        if target.startswith(f"{name}/"):
            scopes.append((graph, target.removeprefix(f"{name}/")))
    for scope, name in scopes:
        for op in scope.block.ops:
            if op.attributes.get("ge.name") == StringAttr(name):
                return op
    raise KeyError(target)


def ge_value(op: Operation, spelling: str) -> Any:
    """The value of an attribute under GE's spelling, wherever the IR keeps it; None when it is not there."""
    row = _OF_NODES.get(spelling)
    if row is not None and row.name in op.attributes:
        value = op.attributes[row.name]
        return True if value == UNIT else value.value.data  # pyright: ignore
    return ge_attr(op, spelling)
