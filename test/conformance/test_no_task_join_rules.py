"""Rules of concat and pack that no test of the reference asserts: one graph each, the outcome worked out by hand.

A row is a name, the graph, and the reason key of what is refused (None: marked). The node is `join` unless it is said.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from no_task_checks import check_pass
from rule_graphs import (
    FIVE,
    added,
    behind,
    below,
    desc,
    graph,
    join,
    node,
    with_attrs,
    with_input,
    with_input_attrs,
    with_lock,
    with_output,
    without,
)

Json = dict[str, Any]

VIRTUAL = {"_no_task": True}
IN, OUT = "_input_memory_type", "_output_memory_type"
CONCAT_LOCK, PACK_LOCK = "can_reused_for_concat_optimize", "can_reused_for_pack_optimize"
FZ = ("HWCN", "FRACTAL_Z")
NZ = ("ND", "FRACTAL_NZ")
ONE_IN = "x>a a>join join>out"


def pair(first: Json, second: Json, **more: Any) -> Json:
    """A concat whose second input has another descriptor than the first."""
    made = join(of=first, **more)
    return with_output(with_input(made, "join", 1, second), "b", 0, second)


def one(of: Json, kind: str, attrs: Json) -> Json:
    """A node with a single input."""
    nodes = [
        node("x", "Data"),
        node("a", "Relu", 1, of=of),
        node("join", kind, 1, attrs=attrs, of=of),
    ]
    return graph([*nodes, node("out", "NetOutput", 1, 0)], ONE_IN)


def inner(first: str = "x>join", second: str = "p>join:1") -> Json:
    """A sub-graph in which the Relu `x` stands for the owner's input; it is fed by `p`."""
    nodes = [
        node("p", "Relu"),
        node("x", "Relu", 1, attrs={"_parent_node_index": 0}),
        node("a", "Relu", 1),
    ]
    return graph(
        [*nodes, node("join", "ConcatD", 2, attrs={"concat_dim": 0})], f"p>x p>a {first} {second}"
    )


def deep(**more: Any) -> Json:
    """The same one level deeper, its owner of unknown shape."""
    call = node(
        "call2", "PartitionedCall", 1, attrs={"_is_unknown_shape": True}, subgraphs=["deep"]
    )
    return below(graph([node("q", "Relu"), call], "q>call2", subgraphs={"deep": inner()}, **more))


def cascade() -> Json:
    """`c1` feeds `c2`."""
    nodes = [node("x", "Data"), *(node(name, "Relu", 1) for name in "abc")]
    nodes += [node(name, "ConcatD", 2, attrs={"concat_dim": 0}) for name in ("c1", "c2")]
    wires = "x>a x>b x>c a>c1 b>c1:1 c1>c2 c>c2:1 c2>out"
    return graph([*nodes, node("out", "NetOutput", 1, 0)], wires)


def pack(**more: Any) -> Json:
    return join(type="Pack", **more)


# fmt: off
CONCATS: list[tuple[str, Json, str | None]] = [
    # Which graphs.
    ("single op: the first node says no", with_attrs(with_attrs(join(), "a", _single_op_scene=False), "b", _single_op_scene=True), None),
    ("single op: the graph says no", {**with_attrs(join(), "a", _single_op_scene=True), "attrs": {"_single_op_scene": False}}, None),
    ("single op: a nested node says yes", added({**join(), "subgraphs": {"inner": graph([node("n", "Relu", attrs={"_single_op_scene": True})], "")}}, [node("call", "PartitionedCall", subgraphs=["inner"])], ""), "single_op_scene"),
    ("dynamic parts", {**join(), "attrs": {"_dynamic_shape_partitioned": True}}, "unknown_owner_graph"),
    # Unknown shapes: storage only, inputs and outputs.
    ("unknown output", with_output(join(), "join", 0, desc((1, -1))), "unknown_shape_op"),
    ("unknown rank", with_input(join(), "join", 0, desc((-2,))), "unknown_shape_op"),
    ("unknown origin", join(of=desc((-1, 64), storage=(1, 64))), None),
    ("zero dimension is known", join(of=desc((0, 64))), "tensor_not_32b_aligned"),
    # References.
    ("output 0 of a Merge", behind([node("m", "Merge", 2, 2)], "x>m m>join"), "invalid_producer_type"),
    ("output 1 of a Merge", behind([node("m", "Merge", 2, 2)], "x>m m:1>join"), None),
    ("a Reshape of a graph input", behind([node("r", "Reshape", 1)], "x>r r>join"), "invalid_producer_type"),
    ("a Squeeze is no reference", behind([node("s", "Squeeze", 1)], "x>s s>join"), None),
    ("reuse input 1", behind([node("s", "Squeeze", 2, reuse_input={"0": 1})], "b>s x>s:1 s>join"), "invalid_producer_type"),
    ("reuse input of another output", behind([node("s", "Squeeze", 1, 2, reuse_input={"1": 0})], "x>s s>join"), None),
    ("reuse input that is not wired", behind([node("s", "Squeeze", 2, reuse_input={"0": 1})], "x>s s>join"), "invalid_producer_type"),
    ("any output of a marked split", behind([node("v", "SplitD", 2, 2, {"_output_reuse_input": True, "_no_padding_continuous_output": True}), node("r", "Reshape", 1)], "x>v b>v:1 v:1>r r>join"), "invalid_producer_type"),
    ("output_reuse_input alone", behind([node("v", "Relu", 1, attrs={"_output_reuse_input": True}), node("r", "Reshape", 1)], "x>v v>r r>join"), None),
    ("output 1 of a While", behind([node("w", "While", 2, 2, subgraphs=["body"])], "b>w x>w:1 w:1>join"), "invalid_producer_type"),
    ("what a While passes on", behind([node("c", "Relu", 1), node("w", "While", 2, 2, subgraphs=["body"])], "x>c x>w c>w:1 w:1>join"), None),
    ("an If", behind([node("i", "If", 1, subgraphs=["then", "else"])], "b>i i>join"), "producer_has_subgraph"),
    ("two Reshapes of one output", behind([node("r", "Reshape", 1)], "b>r r>join"), "same_source_anchor"),
    ("two outputs of one node", without(behind([node("s", "Split", 1, 2)], "x>s s>join s:1>join:1"), "b>join:1"), None),
    # Bytes.
    ("scalar origin", join(of=desc((), storage=(16,))), "scalar_input"),
    ("scalar storage", join(of=desc((1,), storage=())), "tensor_not_32b_aligned"),
    ("256 bits", join(of=desc((1, 256), dtype="uint1")), None),
    ("248 bits", join(of=desc((1, 248), dtype="uint1")), "tensor_not_32b_aligned"),
    ("63 elements of 4 bits are 32 bytes", join(of=desc((1, 63), dtype="int4")), None),
    ("no element type", join(of=desc(dtype="undefined")), "tensor_not_32b_aligned"),
    ("one input of any size", one(desc((1, 3)), "ConcatD", {"concat_dim": 0}), None),
    ("a second slot that is not wired", with_input(one(desc((1, 3)), "ConcatD", {"concat_dim": 0}), "join", 1, desc((1, 3))), "tensor_not_32b_aligned"),
    # Who makes the inputs.
    *((f"from {kind}", join(types=(kind, "Relu")), "invalid_producer_type") for kind in ("Data", "RefData", "Variable", "Constant", "Const")),
    ("from FileConstant", join(types=("FileConstant", "Relu")), None),
    ("a lock that is open", with_lock(join(), "a", CONCAT_LOCK, True), None),
    ("the lock of packs", with_lock(join(), "a", PACK_LOCK, False), None),
    ("no output descriptor", with_output(join(), "a", 0, None), "producer_output_locked"),
    ("read by NetOutput too", added(with_input(join(), "out", 1, desc()), [], "a>out:1"), "producer_feeds_netoutput"),
    ("read by NetOutput behind a Reshape", added(with_input(join(), "out", 1, desc()), [node("r", "Reshape", 1)], "a>r r>out:1"), None),
    *((f"producer {key}", join({key: True}), "producer_attr:continuous_or_reference") for key in ("continuous_input", "continuous_output", "reference")),
    *((f"producer {key}", join({key: True}), "producer_attr:virtual") for key in ("_no_task", "_output_reuse_input", "_no_padding_continuous_input")),
    *((f"producer {key} is false", join({key: False}), None) for key in ("continuous_output", "reference", "_no_task")),
    ("producer _no_padding_continuous_output", join({"_no_padding_continuous_output": True}), None),
    ("continuous before virtual", join({"_no_task": True, "reference": True, "atomic_output_index": [0]}), "producer_attr:continuous_or_reference"),
    ("virtual before atomic", join({"_no_task": True, "atomic_output_index": [0]}), "producer_attr:virtual"),
    ("atomic outputs", join({"atomic_output_index": [0]}), "producer_attr:atomic_output"),
    ("no atomic outputs", join({"atomic_output_index": []}), None),
    ("atomic inputs", join({"atomic_input_index": [0]}), None),
    ("one input after the other", join({"atomic_output_index": [0]}, types=("Relu", "Const")), "producer_attr:atomic_output"),
    ("ordinary memory types agree", join({OUT: ["DDR"]}, {OUT: ["DEFAULT"]}), None),
    ("special memory types agree", join({OUT: ["P2P_DDR"]}, {OUT: ["P2P_DDR"]}), None),
    ("a short list of memory types means HBM", join({OUT: []}, {OUT: ["L1"]}), "input_memory_type_mismatch"),
    ("memory type behind a Reshape", behind([node("a", "Relu", 1, attrs={OUT: ["L1"]}), node("r", "Reshape", 1)], "x>a a>r r>join"), None),
    # The axis.
    ("no axis is axis 0", join(dim=None, of=desc((2, 64))), None),
    ("the first input resolves a negative axis", pair(desc((1, 64)), desc((1, 1, 64)), dim=-1), None),
    ("which a later input may not have", pair(desc((1, 1, 64)), desc((1, 64)), dim=-1), "dim_out_of_range"),
    ("axis = rank", join(dim=2), "dim_out_of_range"),
    ("an unwired input has a say", with_input(join(dim=1), "join", 2, desc((2, 64))), "front_dims_not_one"),
    ("ND in NC1HWC0", join(of=desc((1, 16, 1, 1), ("ND", "NC1HWC0"), (1, 1, 1, 1, 16))), "align_shape_unsupported"),
    ("a vector in NZ", join(of=desc((16,), NZ, (1, 1, 16, 16))), "align_shape_unsupported"),
    ("more axes than letters", join(of=desc((1, 16, 1, 1, 1), FIVE, (1, 1, 1, 1, 16))), "align_shape_unsupported"),
    ("a storage format without maps", join(of=desc((1, 16, 1, 1), ("NCHW", "FRACTAL_Z_3D"), (1, 1, 16, 16))), "transfer_dims_unsupported"),
    ("NCHW in ND", join(of=desc((1, 16, 1, 1), ("NCHW", "ND"))), "transfer_dims_unsupported"),
    ("storage of another rank", join(of=desc((1, 16, 1, 1), FIVE, (1, 1, 1, 16))), "transfer_dims_unsupported"),
    ("low rank without mask", join(of=desc((1, 16), FIVE, (1, 1, 1, 1, 16))), "align_shape_unsupported"),
    ("low rank, C", join(of=desc((16, 32), FIVE, (1, 1, 32, 1, 16), _reshape_type_mask=9)), None),
    ("low rank, H", join(dim=1, of=desc((16, 32), FIVE, (1, 1, 32, 1, 16), _reshape_type_mask=9 | 4 << 56)), None),
    ("a mask of another rank", join(of=desc((16, 32), FIVE, (1, 1, 32, 1, 16), _reshape_type_mask=13)), "align_shape_unsupported"),
    ("a mask on one input only", with_input_attrs(join(of=desc((16, 32), FIVE, (1, 1, 32, 1, 16))), "join", 0, _reshape_type_mask=9), "align_shape_unsupported"),
    ("an inserted axis in front", join(of=desc((2, 16), FZ, (2, 1, 16, 16), _reshape_type_mask=6)), "front_dims_not_one"),
    ("an axis that storage lacks", join(dim=1, of=desc((1, 1, 16, 4, 1), ("NDHWC", "NC1HWC0"), (1, 1, 16, 4, 16))), "real_dim_out_of_range"),
    ("N in FRACTAL_Z", join(of=desc((16, 16, 1, 1), ("NCHW", "FRACTAL_Z"), (1, 1, 16, 16))), None),
    ("half a block of N", join(of=desc((8, 16, 1, 1), ("NCHW", "FRACTAL_Z"), (1, 1, 16, 16))), "concat_dim_not_aligned"),
    ("rows in NZ", join(of=desc((32, 16), NZ, (1, 2, 16, 16))), None),
    ("blocks of 16 whatever the format's C0", join(dim=1, of=desc((16, 20), ("ND", "FRACTAL_NZ_C0_4"), (5, 1, 16, 4))), "concat_dim_not_aligned"),
    ("the last input too", pair(desc((1, 32, 4, 4), FIVE, (1, 2, 4, 4, 16)), desc((1, 24, 4, 4), FIVE, (1, 2, 4, 4, 16)), dim=1), "concat_dim_not_aligned"),
    ("groups do not change maps", join(dim=3, of=desc((1, 1, 16, 32), ("HWCN", "FRACTAL_Z:2"), (1, 2, 16, 16))), None),
    # Readers, then the node itself.
    ("a reader without task", added(join(), [node("p", "PhonyConcat", 1, attrs=VIRTUAL)], "join>p"), "consumer_is_virtual"),
    ("the first reader behind a Reshape", added(join(), [node("r", "Reshape", 1), node("p", "PhonyConcat", 1, attrs=VIRTUAL), node("f", "Relu", 1)], "join>r r>p r>f"), "consumer_is_virtual"),
    ("the second reader behind a Reshape", added(join(), [node("r", "Reshape", 1), node("p", "PhonyConcat", 1, attrs=VIRTUAL), node("f", "Relu", 1)], "join>r r>f r>p"), None),
    ("a reader behind two Reshapes", added(join(), [node("r", "Reshape", 1), node("q", "Reshape", 1), node("p", "PhonyConcat", 1, attrs=VIRTUAL)], "join>r r>q q>p"), None),
    ("a Reshape that nobody reads", added(join(), [node("r", "Reshape", 1, attrs=VIRTUAL)], "join>r"), "consumer_is_virtual"),
    ("a padded reader", added(join(), [node("p", "HcomAllReduce", 1, attrs={"continuous_input": True, "_no_padding_continuous_output": True})], "join>p"), None),
    ("output in UB", join(attrs={OUT: ["UB"]}), "lxfusion_memory"),
    ("input in P2P memory", join(attrs={IN: ["P2P_DDR", "HBM"]}), None),
    ("ConcatV2D", join(type="ConcatV2D"), None),
]
PACKS: list[tuple[str, Json, str | None]] = [
    ("axis -1 is behind everything", pack(dim=-1), "pack_tail_axis_interleaves"),
    ("axis -3 of rank 2 is 0", pack(dim=-3, of=desc((2, 64))), None),
    ("axis 3 of rank 2", pack(dim=3), "dim_out_of_range"),
    ("axis -4 of rank 2", pack(dim=-4), "dim_out_of_range"),
    ("no axis is axis 0", pack(dim=None, of=desc((2, 64))), None),
    ("one input of one element, behind everything", one(desc((1, 1)), "Pack", {"axis": 2}), None),
    ("in between like a concat", pack(dim=1, of=desc((2, 64, 3))), "front_dims_not_one"),
    ("in between, whole blocks", pack(dim=1, of=desc((1, 16, 3, 2), ("NCHW", "FRACTAL_NZ"), (1, 16, 1, 1, 16, 16))), None),
    ("in between, a block and a half", pack(dim=1, of=desc((1, 24, 3), NZ, (1, 1, 2, 16, 16))), "concat_dim_not_aligned"),
    ("C1HWC0 is public", pack(of=desc((16, 1, 1, 16), ("NCHW", "C1HWC0"), (1, 1, 16, 16))), None),
    ("so are the C0 variants of NZ", pack(of=desc((16, 16), ("ND", "FRACTAL_NZ_C0_16"), (1, 1, 16, 16))), None),
    *((f"{name} is internal", pack(of=desc((1, 16, 1, 1), ("NCHW", name), (1, 1, 16, 16))), "pack_internal_format") for name in ("FRACTAL_Z:4", "NC1HWC0_C04", "FRACTAL_ZN_LSTM", "NYUV", "NHWC1C0")),
    ("formats before the axis", pack(dim=9, of=desc((1, 16, 1, 1), FIVE, (1, 1, 1, 1, 16))), "pack_internal_format"),
    ("formats behind the inputs", pack(types=("Const", "Relu"), of=desc((1, 16, 1, 1), FIVE, (1, 1, 1, 1, 16))), "invalid_producer_type"),
]
ELSEWHERE: list[tuple[str, str, Json, str | None]] = [
    ("an unknown parent graph", "inner/join", below(join(), unknown=True), None),
    ("a node that stands for the owner's input", "inner/join", below(inner()), "same_source_anchor"),
    ("and what does not", "inner/join", below(inner(second="a>join:1")), None),
    ("an owner of unknown shape in the root", "inner/join", below(inner(), {"_is_unknown_shape": True}), None),
    ("an owner of unknown shape further down", "deep/join", deep(), "same_source_anchor"),
    ("in a graph of unknown shape", "deep/join", deep(unknown=True), None),
    ("the second of a cascade", "c2", cascade(), "producer_attr:virtual"),
    ("the first of a cascade", "c1", cascade(), None),
]
# fmt: on


def _check(kind: str, graph: Json, target: str, reason: str | None, **more: Any) -> None:
    marks = {"_no_task": True, "_no_padding_continuous_input": True, "_output_reuse_input": True}
    expect: Json = {"no_task": reason is None}
    if reason is None:
        expect["attrs"] = {**marks, "_reuse_input_on_dim_index": 0}
    else:
        expect["reason"] = reason
    check_pass({"kind": kind, "graph": graph, "target": target, "expect": expect, **more})


@pytest.mark.parametrize(("graph", "reason"), [x[1:] for x in CONCATS], ids=[x[0] for x in CONCATS])
def test_concat(graph: Json, reason: str | None) -> None:
    _check("concat", graph, "join", reason)


@pytest.mark.parametrize(("graph", "reason"), [x[1:] for x in PACKS], ids=[x[0] for x in PACKS])
def test_pack(graph: Json, reason: str | None) -> None:
    _check("pack", graph, "join", reason, lock_attr=PACK_LOCK)


@pytest.mark.parametrize(
    ("target", "graph", "reason"), [x[1:] for x in ELSEWHERE], ids=[x[0] for x in ELSEWHERE]
)
def test_where_it_stands(target: str, graph: Json, reason: str | None) -> None:
    _check("concat", graph, target, reason)


@pytest.mark.parametrize(
    ("name", "attrs", "reason"),
    [
        ("net/lxslice_1/join", {}, "lxfusion_op"),
        ("join_LxSlice", {}, None),
        ("lxslice", {IN: ["L2"]}, "lxfusion_memory"),
    ],
)
def test_names(name: str, attrs: Json, reason: str | None) -> None:
    made = join(attrs=attrs)
    made["nodes"][3]["name"] = name
    made["edges"] = [[name if x == "join" else x for x in edge] for edge in made["edges"]]
    _check("concat", made, name, reason)


def test_what_a_case_may_say_beside() -> None:
    """A C0 in the format word, graph attributes that nobody reads, graphs without edges."""
    five = join(dim=1, of=desc((1, 32, 4, 4), FIVE, (1, 4, 4, 4, 8)))
    five |= {"attrs": {"_session_graph_id": "0_1"}, "subgraphs": {"spare": {"nodes": []}}}
    _check("concat", five, "join", None, format_c0_field=4)


def test_locks_on_direct_producers() -> None:
    made = behind([node("a", "Relu", 1), node("r", "Reshape", 1)], "x>a a>r r>join")
    locks = {"r:0": False, "b:0": False, "a:0": True, "x:0": True}
    check_pass(
        {
            "kind": "concat",
            "graph": made,
            "target": "join",
            "expect": {"no_task": True, "locks": locks},
        }
    )


@pytest.mark.parametrize(("count", "reason"), [(99, None), (100, "invalid_producer_type")])
def test_a_way_back_of_a_hundred_references_leads_nowhere(count: int, reason: str | None) -> None:
    names = [f"r{i}" for i in range(count)]
    chain = ["a", *names, "join"]
    wires = " ".join(f"{source}>{target}" for source, target in pairwise(chain))
    nodes = [node("a", "Relu", 1), *(node(name, "Reshape", 1) for name in names)]
    _check("concat", behind(nodes, f"x>a {wires}"), "join", reason)
