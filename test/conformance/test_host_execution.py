"""Small-shape host execution, its fusion and engine placement (host_execution.json)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    NoneType,
    SymbolRefAttr,
    TensorType,
    UnrankedTensorType,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.attrs import UNIT, i64, string
from ge_dialect.dialects.engine_table import ENGINES, scheduling
from ge_dialect.dialects.ge import (
    NODE_OF_TYPE,
    AbsentOp,
    ConstantOp,
    DescAttr,
    GraphOp,
    OpOp,
)
from ge_dialect.dialects.ge.access import (
    add_control_edge,
    ge_attr,
    ge_type,
    graph_of,
    graphs,
    node_name,
    nodes,
    set_slot_attr,
)
from ge_dialect.dialects.ge.attr_values import from_python
from ge_dialect.dialects.ge.weights import elements_attr, ranked_tensor
from ge_dialect.dialects.host_kernel_table import NUMBERS_AND_BOOL
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.spec import OpSpec
from ge_dialect.transforms.engines.select import (
    Candidate,
    Names,
    PlacementFailure,
    Policy,
    excluded_engines,
    host_cpu_candidate,
    select,
    stack_nodes_for_ge_local,
)
from ge_dialect.transforms.host.conditions import Rules
from ge_dialect.transforms.host.enabling import decide
from ge_dialect.transforms.host.ge_host_exec import GeHostExec
from ge_dialect.transforms.host.ge_host_fusion import fuse
from ge_dialect.transforms.host.search import search
from ge_dialect.transforms.host.support import DEFAULT_KERNELS, HostKernels

Case = dict[str, Any]

ENGINE_OF_LIB = {row.kernel_lib: row.name for row in ENGINES.values()}


# --- graphs of the cases ---------------------------------------------------------------------------------------------


def tensor(desc: dict[str, Any] | None) -> Attribute:
    """The type of a descriptor; none for a slot that has no descriptor."""
    if desc is None:
        return NoneType()
    if desc["shape"] == [-2]:
        return UnrankedTensorType(f32)
    plain = ranked_tensor(f32, desc["shape"])
    return TensorType(f32, plain.get_shape(), bounds(desc)) if "range" in desc else plain


def bounds(desc: dict[str, Any]) -> DescAttr:
    return DescAttr(range=[bound for pair in desc["range"] for bound in pair])


def build_graph(name: str, graph: Case) -> GraphOp:
    made = GraphOp(name)
    made.attributes["ge.unknown_shape"] = UNIT if graph["dynamic"] else from_python(False)
    if "single_op" in graph:
        made.attributes["ge.single_op_scene"] = UNIT if graph["single_op"] else from_python(False)
    absent = AbsentOp()
    made.block.add_op(absent)
    by_name: dict[str, Operation] = {}
    late: list[tuple[Operation, int, str]] = []
    for node in graph["nodes"]:
        op = build_node(node, absent.output)
        for slot, source in enumerate(node.get("inputs", ())):
            if source:
                late.append((op, slot, source))
        by_name[node["name"]] = op
        made.block.add_op(op)
    for op, slot, source in late:  # the cases do not list nodes in topological order
        producer, _, index = source.partition(":")
        op.operands[slot] = by_name[producer].results[int(index)]
    for node in graph["nodes"]:
        op = by_name[node["name"]]
        for source in node.get("control_inputs", ()):
            add_control_edge(by_name[source], op)
        for slot, desc in enumerate(in_descs(node)):
            kind = tensor(desc)
            if kind != op.operands[slot].type:
                set_slot_attr(op, "arg", slot, "type", kind)
        for slot, desc in enumerate(node.get("out_descs", ())):
            if desc is not None and desc["shape"] == [-2] and "range" in desc:
                set_slot_attr(op, "res", slot, "desc", bounds(desc))
    return made


def in_descs(node: Case) -> list[dict[str, Any] | None]:
    """The descriptors of all input slots; a slot beyond those listed has none."""
    listed = list(node.get("in_descs", ()))
    return listed + [None] * (len(node.get("inputs", ())) - len(listed))


def build_node(node: Case, absent: SSAValue) -> Operation:
    properties: dict[str, Attribute] = {"type": string(node["type"])}
    attrs = dict(node.get("attrs", {}))
    attributes: dict[str, Attribute] = {
        "ge.name": string(node["name"]),
        "ge.kernel_lib": string(node["lib"]),
    }
    if node["lib"] in ENGINE_OF_LIB:
        attributes["ge.engine"] = string(ENGINE_OF_LIB[node["lib"]])
    if "_parent_node_index" in attrs:
        attributes["ge.parent_node_index"] = i64(attrs.pop("_parent_node_index"))
    if attrs:
        properties["attrs"] = DictionaryAttr({k: from_python(v) for k, v in attrs.items()})
    if node.get("subgraphs"):
        properties["subgraphs"] = ArrayAttr([SymbolRefAttr(x) for x in node["subgraphs"]])
    made = NODE_OF_TYPE.get(node["type"], OpOp)
    if made is ConstantOp:
        properties["value"] = constant_value(node["out_descs"][0])
    types = [tensor(desc) for desc in node.get("out_descs", ())]
    return made.make([absent] * len(in_descs(node)), types, properties, attributes)


def constant_value(desc: dict[str, Any] | None) -> Attribute:
    """Some value: of the shape when it is known and not too large to be made."""
    shape = [] if desc is None else desc["shape"]
    fits = min(shape, default=0) >= 0 and prod(max(dim, 1) for dim in shape) <= 1 << 16
    return elements_attr(np.ones(shape if fits else [1], np.float32))


def build(case: Case) -> ModuleOp:
    return ModuleOp([build_graph(name, graph) for name, graph in case["graphs"].items()])


def where(op: Operation) -> str:
    graph = graph_of(op)
    return f"{graph.sym_name.data}/{node_name(op)}"


def facts(module: ModuleOp) -> dict[str, dict[str, Attribute]]:
    return {where(op): dict(op.attributes) for graph in graphs(module) for op in nodes(graph)}


# --- the pass ------------------------------------------------------------------------------------------------------


def options(case: Case) -> dict[str, str]:
    given = case["options"]
    switch = {None: "", True: "on", False: "off"}[given.get("pass_switch")]
    return {
        "level": given.get("oo_level", "O3"),
        "pass_switch": switch,
        "runtime_v2": given.get("ENABLE_RUNTIME_V2") or "",
    }


@pytest.mark.cases(kinds=("host_pass",))
def test_host_pass(case: Case) -> None:
    module, expect = build(case), case["expect"]
    before = facts(module)
    kernels = {
        kind: NUMBERS_AND_BOOL if supported else frozenset[str]()
        for kind, supported in case["host_kernels"].items()
    }
    supported = [kind for kind, accepted in kernels.items() if accepted]
    # Case graphs have no order; the search does not need one.
    GeHostExec(kernels="|".join(supported) or "no such type", **options(case)).apply(
        Context(), module
    )

    expected = {name: dict(attributes) for name, attributes in before.items()}
    for name in expect["moved"]:
        expected[name] |= MOVED
    for name in expect["host_model_inputs"]:
        expected[name]["ge.host_tensor_as_model_input"] = UNIT
    assert facts(module) == expected

    if decide(**options(case)).runs:
        found = search(build(case), Rules(HostKernels(kernels)))
        assert sorted(where(op) for op in found.members) == sorted(expect["host_set"])


MOVED = {
    "ge.engine": string("DNN_VM_HOST_CPU"),
    "ge.kernel_lib": string("DNN_VM_HOST_CPU_OP_STORE"),
    "ge.small_shape_host_cpu": UNIT,
}


# --- fusion --------------------------------------------------------------------------------------------------------


def build_fusion(case: Case) -> ModuleOp:
    """One node for each name: Data without inputs, NetOutput for "out", the candidates on the host CPU."""
    pairs = [(source.split(":"), target.split(":")) for source, target in case["input"]["edges"]]
    ends = [end for pair in pairs for end in pair]
    names = list(dict.fromkeys(name for name, _ in ends))
    graph, absent = GraphOp("main"), AbsentOp()
    graph.block.add_op(absent)
    made: dict[str, Operation] = {}
    for name in names:
        n_ins = max((int(slot) + 1 for _, (node, slot) in pairs if node == name), default=0)
        n_outs = max((int(k) + 1 for (node, k), _ in pairs if node == name), default=0)
        computes = n_ins or name in case["input"]["candidates"]
        kind = "NetOutput" if name == "out" else "Mul" if computes else "Data"
        node = NODE_OF_TYPE.get(kind, OpOp).make(
            [absent.output] * n_ins,
            [ranked_tensor(f32, [2])] * (n_outs or int(kind != "NetOutput")),
            {"type": string(kind)},
            {"ge.name": string(name)} | (MOVED if name in case["input"]["candidates"] else {}),
        )
        made[name] = node
        graph.block.add_op(node)
    for (source, output), (target, slot) in pairs:
        made[target].operands[int(slot)] = made[source].results[int(output)]
    return ModuleOp([graph])


@pytest.mark.cases(kinds=("host_fusion",))
def test_host_fusion(case: Case) -> None:
    module, expect = build_fusion(case), case["expect"]
    before = str(module)
    generated: list[str] = []

    def generate(spec: OpSpec) -> None:
        if len(generated) == case["input"].get("compile_fails_at"):
            raise GeError("no code")
        generated.append(spec.type)

    count = fuse(module, DEFAULT_KERNELS, generate=generate)
    module.verify()
    assert (str(module) != before) == expect.get("changed", bool(expect.get("regions")))
    if "regions" not in expect:
        assert count == 0
        return
    fused = [op for op in nodes(graphs(module)[0]) if ge_type(op) == "FusedHostCpu"]
    assert count == len(fused) == expect.get("fused_nodes", len(expect["regions"]))
    found = [ge_attr(op, "_fused_node_names") for op in fused]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expect["regions"]))
    left = {node_name(op) for op in nodes(graphs(module)[0])}
    assert not left & {name for region in expect["regions"] for name in region}
    if "external_outputs" in expect:
        outputs = [ref for op in fused for ref in ge_attr(op, "_fused_output_refs")]
        assert outputs == expect["external_outputs"]


# --- engine placement ----------------------------------------------------------------------------------------------


@pytest.mark.cases(kinds=("placement",))
def test_placement(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    attrs, op = given.get("attrs", {}), given.get("op", {})
    names = Names(
        op.get("engine", ""),
        op.get("lib", ""),
        attrs.get("_lxfusion_engine_name", ""),
        attrs.get("_lxfusion_op_kernel_lib_name", ""),
        attrs.get("_specified_engine_name", ""),
        attrs.get("_specified_kernel_lib_name", ""),
    )
    policy, known = Policy(), None
    if "type" not in given:
        policy = Policy(support=lambda x: given.get("stores", {}).get(x.kernel_lib))
        known = ()
    kind = given.get("type", "T")
    if not expect.get("ok", True):
        with pytest.raises(PlacementFailure):
            select(kind, names, policy, known)
        return
    found = select(kind, names, policy, known).names
    assert found.engine == expect.get("engine", found.engine)
    assert found.kernel_lib == expect.get("lib", found.kernel_lib)
    if "attrs" in expect:
        pair = {
            "_lxfusion_engine_name": found.attr_engine,
            "_lxfusion_op_kernel_lib_name": found.attr_lib,
        }
        assert expect["attrs"].items() <= pair.items()


@pytest.mark.cases(kinds=("exclude",))
def test_exclude(case: Case) -> None:
    given = case["input"]
    excluded = excluded_engines(
        given.get("ge.engineType", ""), given.get("ge.exec.exclude_engines", "")
    )
    assert sorted(excluded) == case["expect"]["excluded"]


@pytest.mark.cases(kinds=("flags",))
def test_flags(case: Case) -> None:
    row = scheduling(case["input"]["engine"])
    assert {key: getattr(row, key) for key in case["expect"]} == case["expect"]


@pytest.mark.cases(kinds=("host_exec_flag",))
def test_host_cpu_candidate(case: Case) -> None:
    found = host_cpu_candidate(Candidate(*pair) for pair in case["input"]["candidates"])
    names = ("", "") if found is None else (found.engine, found.kernel_lib)
    assert names == (case["expect"]["engine"], case["expect"]["lib"])


@pytest.mark.cases(kinds=("reassign_stack",))
def test_stack_operators(case: Case) -> None:
    given = case["input"]
    moved = stack_nodes_for_ge_local([tuple(item) for item in given["ops"]], given)
    assert sorted(moved) == case["expect"]["ge_local"]


def test_slots_without_descriptors_and_constants_without_values() -> None:
    """What the schema allows and public cases leave out: null descriptors of outputs and of wired inputs."""
    local, device = "DNN_VM_GE_LOCAL_OP_STORE", "AIcoreEngine"
    one = {"shape": [1]}
    case: Case = {
        "options": {"oo_level": "O3"},
        "host_kernels": {"Gather": True, "MapIndex": True},
        "graphs": {
            "main": {
                "dynamic": True,
                "single_op": False,
                "nodes": [
                    node("c", "Const", local, [], [], [{"shape": [-1]}]),
                    node("s", "Shape", local, ["c:0"], [{"shape": [-1]}], [one]),
                    node("g", "Gather", device, ["s:0", "c:0"], [one, one], [one, None]),
                    node("m", "MapIndex", device, ["g:0"], [None], [one]),
                    node("n", "MapIndex", device, ["g:0"], [one], [one], _single_op_scene=True),
                ],
            }
        },
        "expect": {
            "moved": ["main/g", "main/n"],
            "host_set": ["main/s", "main/n", "main/g"],
            "host_model_inputs": [],
        },
    }
    test_host_pass(case)


def node(
    name: str,
    kind: str,
    lib: str,
    inputs: list[str],
    in_descs: list[Any],
    out_descs: list[Any],
    **attrs: Any,
) -> Case:
    return {
        "name": name,
        "type": kind,
        "lib": lib,
        "inputs": inputs,
        "in_descs": in_descs,
        "out_descs": out_descs,
        "attrs": attrs,
        "subgraphs": [],
    }
