"""Random nested models for comparing passes with rules, as data (`stream_rules`) and as IR."""

from __future__ import annotations

import random

from stream_ir import TENSOR
from stream_rules import RuleGraph, RuleNode
from xdsl.dialects.builtin import ArrayAttr, Attribute, DictionaryAttr, ModuleOp, SymbolRefAttr

from ge_dialect.dialects.attrs import UNIT, string
from ge_dialect.dialects.ge import GraphOp
from ge_dialect.dialects.ge.access import add_control_edge
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import NODE_OF_TYPE, OpOp

ENGINES = (
    *["AIcoreEngine"] * 3,
    *["VectorEngine", "DNN_HCCL", "DNN_VM_AICPU", "DNN_VM_GE_LOCAL", "DNN_VM_GE_LOCAL"],
    *["DNN_VM_RTS", "DNN_VM_HOST_CPU", "ffts_plus", "DNN_VM_CUSTOM"],
)


def _attrs(pick: random.Random, rich: float) -> dict[str, object]:
    """Some of the attributes that the rules read."""
    found: dict[str, object] = {}
    for name, values in (
        ("_stream_label", ("a", "b", "")),
        ("_user_stream_label", ("u", "v", "")),
        ("_enable_inner_parallel", (True, False)),
        ("NewStreamId", (3, 4)),
        ("_parallel_group", ("1", "2", "-1", "-1", "")),
        ("_rts_label_node", (True,)),
        ("_force_attach_stream", (True, False)),
    ):
        if pick.random() < rich:
            found[name] = pick.choice(values)
    return found


def _graph(pick: random.Random, name: str, rich: float) -> RuleGraph:
    nodes: list[RuleNode] = []
    for index in range(pick.randint(2, 14)):
        if index == 0 or pick.random() < 0.1:
            kind = pick.choice(["Data", "Variable", "T"])
            node = RuleNode(f"{name}{index}", kind, pick.choice(ENGINES))
        else:
            near = range(max(0, index - 5), index)
            data = sorted({pick.choice(near) for _ in range(pick.randint(0, 2))})
            node = RuleNode(f"{name}{index}", "T", pick.choice(ENGINES), data)
            if pick.random() < 0.2:
                node.control = [pick.choice(near)]
        node.attrs = _attrs(pick, rich)
        if node.engine == "DNN_HCCL" and pick.random() < 0.7 and node.type == "T":
            node.type = "HcomAllReduce"
            node.attrs["fusion"] = pick.choice([-1, 1, 1, 2])
        nodes.append(node)
    if pick.random() < 0.7:
        nodes.append(RuleNode(f"{name}out", "NetOutput", "DNN_VM_RTS", [len(nodes) - 1]))
    return RuleGraph(nodes)


def random_model(seed: int) -> list[RuleGraph]:
    """Up to four graphs, each owned by a node of one before it."""
    pick = random.Random(seed)
    rich = pick.choice([0.0, 0.05, 0.2])
    found = [_graph(pick, "g", rich)]
    found[0].unknown = pick.random() < 0.15
    for number in range(1, pick.randint(1, 4)):
        above = pick.randrange(number)
        own = _graph(pick, f"s{number}_", rich)
        owners = [n for n, node in enumerate(found[above].nodes) if node.type in ("T", "While")]
        if not owners:
            break
        place = pick.choice(owners)
        node = found[above].nodes[place]
        node.type, node.engine = "While", "DNN_VM_GE_LOCAL"
        node.graphs.append(number)
        own.owner = (above, place)
        own.unknown = found[above].unknown and pick.random() < 0.3
        found.append(own)
    return found


def module_of(model: list[RuleGraph]) -> ModuleOp:
    """The same model as IR."""
    built: list[GraphOp] = []
    for number, graph in enumerate(model):
        attributes: dict[str, Attribute] = {"ge.unknown_shape": UNIT} if graph.unknown else {}
        made = GraphOp(f"g{number}", attributes=attributes)
        ops: list[GeNode] = []
        for node in graph.nodes:
            properties: dict[str, Attribute] = {"type": string(node.type)}
            if node.attrs:
                properties["attrs"] = DictionaryAttr(
                    {key: from_python(value) for key, value in node.attrs.items()}
                )
            if node.graphs:
                properties["subgraphs"] = ArrayAttr([SymbolRefAttr(f"g{n}") for n in node.graphs])
            operands = [ops[source].results[0] for source in node.data]
            own: dict[str, Attribute] = {
                "ge.name": string(node.name),
                "ge.engine": string(node.engine),
            }
            results = [] if node.type == "NetOutput" else [TENSOR]
            kind = NODE_OF_TYPE.get(node.type, OpOp)
            ops.append(kind.make(operands, results, properties, own))
        made.block.add_ops(ops)
        for index, node in enumerate(graph.nodes):
            for source in node.control:
                add_control_edge(ops[source], ops[index])
        built.append(made)
    return ModuleOp(built)
