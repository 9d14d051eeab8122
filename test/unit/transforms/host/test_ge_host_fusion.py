"""Fusion on graphs: the same results, all or nothing, order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge.access import ge_attr, ge_type, graphs, node_name, nodes
from ge_dialect.kernels import OpSpec, UnsupportedOpError
from ge_dialect.transforms.host.ge_host_exec import GeHostExec
from ge_dialect.transforms.host.ge_host_fusion import GeHostFusion, fuse
from ge_dialect.transforms.host.support import DEFAULT_KERNELS

Read = Callable[[str], ModuleOp]
Interpreter = Callable[[ModuleOp, Mapping[str, np.ndarray]], list[Any]]

SHAPES = """
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %k = ge.constant value dense<[2, 3]> : tensor<2xi64> {ge.name = "k"} : tensor<2xi64>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %k) {ge.name = "a"} : tensor<2xi64>
  %b = ge.op "Max" (%a, %k, %s) source "ai.onnx::Max@13" {ge.name = "b"} : tensor<2xi64>
  %c, %d = ge.split (%a) split_dim 0 num_split 2 {ge.name = "c"} : tensor<1xi64>, tensor<1xi64>
  %e = ge.concat (%d, %c, %b) concat_dim 0 {ge.name = "e"} : tensor<4xi64>
  %f = ge.op "Cast" (%b) attrs {dst_type = 0 : i64} {ge.name = "f"} : tensor<2xf32>
  %r = ge.op "Relu" (%c) {ge.name = "r"} : tensor<1xi64>
  ge.net_output (%e, %f, %r) {ge.name = "out"}
}
"""


def fused_nodes(module: ModuleOp) -> list[Any]:
    return [op for graph in graphs(module) for op in nodes(graph) if ge_type(op) == "FusedHostCpu"]


def test_results_stay_the_same(read: Read, interpret: Interpreter) -> None:
    module = read(SHAPES)
    feeds = {"x": np.zeros((5, 7), np.float32)}
    before = interpret(module, feeds)
    GeHostExec().apply(Context(), module)
    GeHostFusion().apply(Context(), module)
    module.verify()
    first, second = fused_nodes(module)
    assert ge_attr(first, "_fused_node_names") == ["a", "b", "c", "e"]
    assert ge_attr(first, "_fused_output_refs") == ["c:0", "e:0"]
    assert ge_attr(second, "_fused_node_names") == ["a", "b", "f"]
    after = interpret(module, feeds)
    assert [value.tolist() for value in after] == [[21, 10, 10, 21], [10.0, 21.0], [10]]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_nothing_changes_when_a_region_has_no_code(read: Read) -> None:
    other = SHAPES.replace("@main", "@second").replace('"x"', '"y"')
    module = read(SHAPES + other)
    for graph in graphs(module):
        for op in nodes(graph):
            if ge_type(op) in ("Mul", "Max", "SplitD", "ConcatD", "Cast"):
                op.attributes.update(moved_attributes(module))
    before = str(module)
    calls = 0

    def fails_in_the_second_graph(spec: OpSpec) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise UnsupportedOpError("no code")

    with collect_remarks() as collected:
        assert fuse(module, DEFAULT_KERNELS, generate=fails_in_the_second_graph) == 0
    assert calls == 3
    assert str(module) == before
    assert [remark.args["condition"] for remark in collected.remarks] == ["no-code"]
    for graph in graphs(module):  # no half-made node is left among the readers
        for op in nodes(graph):
            for result in op.results:
                assert all(use.operation.parent is not None for use in result.uses)
    assert fuse(module, DEFAULT_KERNELS) == 4
    assert [node_name(op) for op in fused_nodes(module)] == [f"FusedHostCpu_{k}" for k in range(4)]


def moved_attributes(module: ModuleOp) -> dict[str, Any]:
    """The attributes of a moved node."""
    probe = module.clone()
    GeHostExec().apply(Context(), probe)
    return next(
        {
            key: op.attributes[key]
            for key in ("ge.engine", "ge.kernel_lib", "ge.small_shape_host_cpu")
        }
        for op in nodes(graphs(probe)[0])
        if "ge.small_shape_host_cpu" in op.attributes
    )


@pytest.mark.parametrize(
    ("second", "count"),
    [
        ('%b = ge.op "Add" (%a, %k) {ge.name = "b"} : tensor<2xi64>', 1),
        (
            '%b = ge.op "Add" (%a, %k) attrs {_resource_list = [1]} {ge.name = "b"} : tensor<2xi64>',
            0,
        ),
        ('%b = ge.op "Add" (%a, %k) subgraphs [@g] {ge.name = "b"} : tensor<2xi64>', 0),
        ('%b = ge.op "Add" (%a, %k, %in) {ge.name = "b"} : tensor<2xi64>', 0),
        ('%b, %c = ge.op "Add" (%a, %k) {ge.name = "b"} : tensor<2xi64>, !ge.control', 1),
        (
            '%b, %c = ge.op "Add" (%a, %k) {ge.name = "b"} : tensor<2xi64>, !ge.control\n'
            '%d = ge.op "Relu" (%x, %c) {ge.name = "d"} : tensor<?x?xf32>',
            0,
        ),
        ('%b = ge.op "Range" (%a, %k, %k) {ge.name = "b"} : tensor<?xi64>', 0),
        ('%b = ge.op "Unsqueeze" (%a) {ge.name = "b"} : tensor<1x2xi64>', 0),
    ],
)
def test_who_takes_part(read: Read, second: str, count: int) -> None:
    text = f"""
ge.graph @main {{
  %x = ge.data index 0 {{ge.name = "x"}} : tensor<?x?xf32>
  %k, %in = ge.op "Shape" (%x) {{ge.name = "k"}} : tensor<2xi64>, !ge.control
  %a = ge.op "Mul" (%k, %k) {{ge.name = "a"}} : tensor<2xi64>
  {second}
  ge.net_output (%b) {{ge.name = "out"}}
}}"""
    module = read(text)
    GeHostExec().apply(Context(), module)
    assert fuse(module, DEFAULT_KERNELS) == count
    module.verify()
