"""Partitions of random graphs: no cycles, nothing lost, same numbers; and growth."""

from __future__ import annotations

import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from ge_dialect import program
from ge_dialect.analysis.order import is_sorted
from ge_dialect.dialects.ge.access import ge_type, graphs, node_name, nodes, subgraph_names
from ge_dialect.dialects.ge_task import ExecuteOp, HostOp, ModelOp
from ge_dialect.transforms.verify.ge_verify import GeVerify


def random_model(seed: int, count: int = 40) -> onnx.ModelProto:
    """Known vectors of 6 elements, among them nodes whose result size depends on data and reductions of those."""
    rng = np.random.default_rng(seed)
    known = ["x", "y"]
    made: list[onnx.NodeProto] = []
    for index in range(count):
        draw = rng.random()
        a, b = (known[int(rng.integers(max(0, len(known) - 8), len(known)))] for _ in range(2))
        if draw < 0.2:
            made.append(helper.make_node("NonZero", [a], [f"nz{index}"]))
            made.append(
                helper.make_node("Cast", [f"nz{index}"], [f"c{index}"], to=TensorProto.FLOAT)
            )
            made.append(helper.make_node("ReduceSum", [f"c{index}"], [f"v{index}"], keepdims=0))
            made.append(helper.make_node("Add", [f"v{index}", b], [f"k{index}"]))
        elif draw < 0.7:
            made.append(helper.make_node("Sub" if draw < 0.45 else "Min", [a, b], [f"k{index}"]))
        else:
            made.append(helper.make_node("Relu" if draw < 0.85 else "Neg", [a], [f"k{index}"]))
        known.append(f"k{index}")
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [6]) for n in ("x", "y")]
    outputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [6])
        for n in dict.fromkeys([*known[-3:], *known[5:40:7]])
    ]
    graph = helper.make_graph(made, "main", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def partitioned(model: onnx.ModelProto, min_nodes: int) -> ModuleOp:
    module = program.load(model)
    passes = f"ge-canonicalize,ge-assign-engines,ge-partition-dynamic{{min-nodes={min_nodes}}}"
    for each in program.make_passes(passes):
        each.apply(program.context(), module)
    return module


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs(seed: int) -> None:
    model = random_model(seed)
    whole = program.load(model)
    for each in program.make_passes("ge-canonicalize,ge-assign-engines"):
        each.apply(program.context(), whole)
    names = sorted(node_name(op) for op in nodes(graphs(whole)[0]) if ge_type(op) != "Const")
    module = partitioned(model, 1)
    module.verify()
    GeVerify().apply(program.context(), module)
    found = graphs(module)
    if not any(ge_type(op) == "NonZero" for op in nodes(found[0])):
        assert len(found) == 1
        return
    for graph in found:
        assert is_sorted(list(graph.block.ops))
    calls = [op for op in nodes(found[0]) if ge_type(op) == "PartitionedCall"]
    assert [subgraph_names(op)[0] for op in calls] != []
    assert len(calls) == len(found) - 1
    kept = sorted(
        node_name(op)
        for graph in found
        for op in nodes(graph)
        if ge_type(op) not in ("Const", "PartitionedCall")
        and not node_name(op).startswith("main_known_")
    )
    assert kept == names


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("min_nodes", [1, 4])
def test_same_numbers_as_the_whole_graph(seed: int, min_nodes: int) -> None:
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    feeds = {n: rng.standard_normal(6).astype(np.float32) for n in ("x", "y")}
    whole = program.compile(model, pipeline="ge-pipeline{partition=false}")
    module = partitioned(model, min_nodes)
    cut = program.compile(
        module, pipeline="ge-sink-clusters,ge-topo-sort,ge-assign-streams,convert-ge-to-ge-task"
    )
    ops = list(cut.module.body.block.ops)
    executes = [
        x for op in ops if isinstance(op, HostOp) for x in op.walk() if isinstance(x, ExecuteOp)
    ]
    assert len(executes) == sum(isinstance(op, ModelOp) for op in ops)
    expected = whole.run(feeds).outputs
    result = cut.run(feeds)
    assert list(result.outputs) == list(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(result.outputs[name], value, name)


def test_clusters_are_as_few_as_the_rule_allows() -> None:
    """Two chains that meet behind an unknown node: what is in front of it is one cluster when it touches."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    main (float[4] x) => (float[4] y) {
      a = Exp(x)
      b = Neg(a)
      n = NonZero(b)
      c = Cast<to = 1>(n)
      s = ReduceSum<keepdims = 0>(c)
      d = Abs(a)
      e = Add(d, b)
      f = Mul(e, s)
      y = Relu(f)
    }"""
    module = partitioned(onnx.parser.parse_model(text), 1)
    found = {graph.sym_name.data: [ge_type(op) for op in nodes(graph)] for graph in graphs(module)}
    assert found["main_known_0"] == ["Data", "Exp", "Neg", "Abs", "Add", "NetOutput"]
    # The sum over all dimensions has a known size, but it reads what has none.
    assert found["main_known_1"] == ["Data", "Data", "Mul", "Relu", "NetOutput"]
    assert len(found) == 3


def test_growth_is_linear() -> None:
    def seconds(count: int) -> float:
        best = float("inf")
        for _ in range(3):
            module = program.load(random_model(1, count))
            engines, cut = program.make_passes("ge-assign-engines,ge-partition-dynamic")
            engines.apply(program.context(), module)
            start = time.process_time()
            cut.apply(program.context(), module)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(4000) < 40 * max(seconds(400), 0.002)
