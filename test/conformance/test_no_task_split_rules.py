"""Rules of splits that no test of the reference asserts: one graph each, the outcome worked out by hand.

A row is a name, the graph, and the reason key of what is refused (None: marked). The node is `split`.
"""

from __future__ import annotations

from typing import Any

import pytest
from no_task_checks import check_pass
from rule_graphs import FIVE, PUBLIC, added, at, below, desc, node, split, with_attrs, without

Json = dict[str, Any]

IN, OUT = "_input_memory_type", "_output_memory_type"
NZ = ("ND", "FRACTAL_NZ")
REFUSED = ("NetOutput", "HcomBroadcast", "HcomAllGather", "HcomAllReduce", "HcomReduceScatter", "HcomReduce", "SplitD", "SplitVD")  # fmt: skip


def five(channels: int, dtype: str = "float16", outputs: str | None = None, c0: int = 16) -> Json:
    """A split of NC1HWC0 whose outputs have that many channels."""
    of = desc((1, 2 * channels, 4, 4), FIVE, (1, -(-2 * channels // c0), 4, 4, c0), dtype)
    return split(
        1, of, desc((1, channels, 4, 4), FIVE, (1, -(-channels // c0), 4, 4, c0), outputs or dtype)
    )


def remade(kind: str, above: str = "Data", wired: bool = True, slots: bool = True) -> Json:
    """The input's maker is of type `kind`; its own input comes from `above`, or from nobody, or is not there."""
    made = split(maker=(kind, {}))
    at(made, "x")["type"] = above
    if not wired:
        without(made, "x>p")
    if not slots:
        at(made, "p")["inputs"] = []
    return made


def fed_below(kind: str, maker: str) -> Json:
    """A split in a sub-graph whose input `x` (of type `kind`) its owner feeds from a node of type `maker`."""
    made = without(split(), "x>p p>split")
    with_attrs(made, "x", _parent_node_index=0)
    at(made, "x")["type"] = kind
    return below(added(made, [], "x>split"), maker=maker)


# fmt: off
C_TO_N: list[tuple[str, Json, str | None]] = [
    # The axis, the outputs, the formats.
    ("axis -3 of rank 4 is 1", split(-3), None),
    ("axis 0", split(0), "split_dim_not_one"),
    ("no axis is the last", split(None), "split_dim_not_one"),
    ("no axis of rank 2 is 1", split(None, desc((1, 32)), desc((1, 16))), None),
    ("N is 2", split(1, desc((2, 32, 4, 4), PUBLIC), desc((2, 16, 4, 4), PUBLIC)), "split_n_not_one"),
    ("outputs of rank 1", split(1, desc((1, 32)), desc((1,))), "split_n_not_one"),
    ("16 channels of float16", five(16), None),
    ("12 channels of float16", five(12), "split_c_not_aligned"),
    ("32 channels of int8", five(32, "int8", c0=32), None),
    ("16 channels of int8", five(16, "int8", c0=32), "split_c_not_aligned"),
    ("64 channels of int4", five(64, "int4", c0=64), None),
    ("32 channels of int4", five(32, "int4", c0=64), "split_c_not_aligned"),
    ("float32 has no block", five(16, "float32"), "split_c_not_aligned"),
    ("the outputs' type counts", five(16, "float16", "int8"), "split_c_not_aligned"),
    ("NHWC", split(1, desc((1, 32, 4, 4), ("NHWC", "NC1HWC0"), (1, 1, 32, 4, 16))), "split_format_pair"),
    ("ND in NZ, rank 4", split(1, desc((1, 2, 32, 32), NZ, (1, 2, 2, 2, 16, 16)), desc((1, 1, 32, 32))), None),
    ("primary formats are compared", split(1, desc((1, 32, 4, 4), ("FRACTAL_Z", "FRACTAL_Z:2"))), None),
    ("the type behind the formats", split(type="Split"), "split_type"),
    ("formats before the type", split(1, desc((1, 32, 4, 4), ("NHWC", "NC1HWC0"), (1, 1, 32, 4, 16)), type="Split"), "split_format_pair"),
    ("SplitVD", split(type="SplitVD"), None),
    ("unknown storage of an output", split(1, None, desc((1, 16, 4, 4), PUBLIC, (1, 16, -1, 4))), "split_unknown_shape"),
    # Who makes the input.
    *((f"from {kind}", split(maker=(kind, {})), "split_input_constant") for kind in ("Const", "Constant", "FileConstant")),
    ("a graph input", added(without(split(), "x>p p>split"), [], "x>split"), None),
    ("a split input that is not wired", without(split(), "p>split"), None),
    *((f"{kind} of a graph input", remade(kind), "split_input_transdata_reshape_of_data") for kind in ("TransData", "Reshape")),
    ("TransData of RefData", remade("TransData", "RefData"), "split_input_transdata_reshape_of_data"),
    ("TransData of a constant", remade("TransData", "Const"), None),
    ("Reshape of nothing", remade("Reshape", wired=False), "split_input_transdata_reshape_of_data"),
    ("Reshape without inputs", remade("Reshape", wired=False, slots=False), None),
    ("Cast of a graph input", remade("Cast"), None),
    ("from a node without task", split(maker=("Relu", {"_no_task": True, "atomic_output_index": [0]})), "split_input_no_task"),
    ("zeroed first", split(maker=("Relu", {"atomic_output_index": [0]})), "split_input_atomic"),
    ("other marks of the maker", split(maker=("Relu", {"continuous_output": True, "reference": True})), None),
    ("an input that is a constant above", fed_below("Data", "Const"), "split_input_constant"),
    ("an input that is computed above", fed_below("Data", "Relu"), None),
    ("only Data is followed to the owner", fed_below("RefData", "Const"), None),
    # Who reads the outputs, in the order of the checks.
    *((f"read by {kind}", split(reader=(kind, {"_no_task": True})), "split_consumer_type") for kind in REFUSED),
    ("read by Split", split(reader=("Split", {})), None),
    ("read by HcomAllToAll", split(reader=("HcomAllToAll", {})), None),
    ("read by a node without task", split(reader=("Relu", {"_no_task": True, "imply_type": 2})), "split_consumer_no_task"),
    ("read by another engine", split(reader=("Relu", {"imply_type": 2, "fusion_virtual_op": "x"})), "split_consumer_not_aicore"),
    ("fused", split(reader=("Relu", {"fusion_virtual_op": "x", "continuous_input": True})), "split_consumer_fusion_virtual_op"),
    ("fused, the other spelling", split(reader=("Relu", {"_fusion_virtual_op": "x"})), "split_consumer_fusion_virtual_op"),
    ("fused with nothing", split(reader=("Relu", {"fusion_virtual_op": ""})), None),
    ("padded", split(reader=("Relu", {"continuous_input": True, "atomic_output_index": [0]})), "split_consumer_continuous_input"),
    ("reader zeroed first", split(reader=("Relu", {"atomic_output_index": [0]})), "split_consumer_atomic"),
    ("every reader counts", added(split(), [node("e", "Relu", 1)], "split>e"), "split_consumer_not_aicore"),
    ("control edges are no readers", split(control_edges=[["p", "c"], ["split", "d"]]), None),
    # The node and its graph.
    ("L1", split(attrs={OUT: ["HBM", "L1"]}), "split_memory_type"),
    ("L2", split(attrs={IN: ["L2"]}), "split_memory_type"),
    ("UB", split(attrs={IN: ["UB"]}), None),
    ("an unknown graph, last", split(unknown=True), "split_dynamic_graph"),
    ("memory before the graph", split(attrs={IN: ["L2"]}, unknown=True), "split_memory_type"),
    ("a graph in dynamic parts", {**split(), "attrs": {"_dynamic_shape_partitioned": True}}, "split_dynamic_graph"),
    ("memory in pieces", {**split(), "attrs": {"_memory_discontiguous_allocation": True}}, "memory_discontiguous"),
    ("a single operator", {**split(), "attrs": {"_single_op_scene": True}}, "single_op_scene"),
]
N_AXIS: list[tuple[str, Json, str | None]] = [
    ("axis 0", split(0), None),
    ("axis -4 of rank 4", split(-4), None),
    ("axis 1", split(1), "split_dim_not_zero"),
    ("no axis of rank 1", split(None, desc((32,)), desc((16,))), None),
    ("columns in NZ", split(1, desc((32, 32), NZ, (2, 2, 16, 16)), desc((32, 16))), None),
    ("rows in NZ", split(0, desc((32, 32), NZ, (2, 2, 16, 16)), desc((16, 32))), "split_dim_not_zero"),
    ("rank 3 in NZ is not swapped", split(0, desc((2, 32, 32), NZ, (2, 2, 2, 16, 16)), desc((1, 32, 32))), None),
    ("NCHW in HWCN is never one", split(0, desc((1, 32, 4, 4), ("NCHW", "HWCN"), (4, 4, 32, 1))), "split_dim_not_zero"),
    ("no alignment is asked for", split(0, desc((3, 3)), desc((1, 3))), None),
    ("the type first", split(1, type="Split"), "split_type"),
    ("marked before", split(0, attrs={"_no_task": True}), None),
]
# fmt: on


def _check(kind: str, graph: Json, reason: str | None) -> None:
    marks = {"_no_task": True, "_no_padding_continuous_output": True, "_output_reuse_input": True}
    expect: Json = {"no_task": reason is None}
    if reason is None:
        expect["attrs"] = {**marks, "_reuse_input_on_dim_index": 0}
    else:
        expect["reason"] = reason
    target = "inner/split" if "inner" in graph.get("subgraphs", {}) else "split"
    check_pass({"kind": kind, "graph": graph, "target": target, "expect": expect})


@pytest.mark.parametrize(("graph", "reason"), [x[1:] for x in C_TO_N], ids=[x[0] for x in C_TO_N])
def test_c_to_n(graph: Json, reason: str | None) -> None:
    _check("split_c_to_n", graph, reason)


@pytest.mark.parametrize(("graph", "reason"), [x[1:] for x in N_AXIS], ids=[x[0] for x in N_AXIS])
def test_n_axis(graph: Json, reason: str | None) -> None:
    _check("split_n_axis", graph, reason)
