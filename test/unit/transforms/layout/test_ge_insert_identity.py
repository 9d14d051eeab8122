"""Every rule of the conflict table: an example that needs copies, and where they stand, and one that needs none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_graphs import parsed, random_runs
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.memory.clusters import clusters
from ge_dialect.analysis.memory.model import memory_graph
from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge.access import data_operands, ge_type, get_flag, graphs, node_name
from ge_dialect.transforms.layout.anchors import Kind
from ge_dialect.transforms.layout.ge_insert_identity import GeInsertIdentity
from ge_dialect.transforms.layout.rules import RULES

T = "tensor<8xf32>"
PHONY_IN = (
    "_no_padding_continuous_input = true, _output_reuse_input = true, _reuse_input_on_dim_index = 0"
)
PHONY_OUT = "_no_padding_continuous_output = true, _output_reuse_input = true, _reuse_input_on_dim_index = 0"
CONT_IN = "continuous_input = true"
CONT_OUT = "continuous_output = true"
LEADING = f"""
  %x = ge.data index 0 {{ge.name = "x"}} : {T}
  %k = ge.constant value dense<1.0> : {T} {{ge.name = "k"}} : {T}
  %v = ge.variable {{ge.name = "v"}} : {T}
  %a = ge.op "Foo" {{ge.name = "a"}} : {T}
  %b = ge.op "Foo" {{ge.name = "b"}} : {T}
  %c = ge.op "Foo" {{ge.name = "c"}} : {T}
"""


def op(names: str, kind: str, reads: str, attrs: str = "", marks: str = "") -> str:
    """One line: results `%n`, `%n1`, ... of the node `n`."""
    name, *_ = results = names.split()
    types = ", ".join([T] * len(results))
    outs = ", ".join(f"%{x}" for x in results)
    ins = ", ".join(f"%{x}" for x in reads.split())
    more = f" attrs {{{attrs}}}" if attrs else ""
    return f'  {outs} = ge.op "{kind}" ({ins}){more} {{ge.name = "{name}"{marks}}} : {types}\n'


def out(reads: str) -> str:
    return f'  ge.net_output ({", ".join(f"%{x}" for x in reads.split())}) {{ge.name = "out"}}\n'


def copies(body: str, **options: object) -> list[str]:
    """The slots that a new copy feeds, as `reader:slot`."""
    module = parsed(f"ge.graph @main {{{LEADING}{body}}}")
    GeInsertIdentity(**options).apply(Context(), module)  # pyright: ignore
    module.verify()
    found: list[str] = []
    for node in graphs(module)[0].block.ops:
        for slot, value in enumerate(data_operands(node)):
            owner = value.owner
            if isinstance(owner, Operation) and ge_type(owner) == "Identity":
                found.append(f"{node_name(node)}:{slot}")
    return found


L1_IN = '_input_memory_type = ["L1"]'
L1_OUT = '_output_memory_type = ["L1"]'
P2P_IN = '_input_memory_type = ["P2P_DDR"]'
JUMP = "StreamSwitch"

CASES: dict[str, tuple[str, list[str]]] = {
    # model inputs
    "user in, padded input": (op("h", "H", "x a", CONT_IN) + op("i", "F", "x"), ["h:0", "i:0"]),
    "user in, padded output": (op("h i", "H", "x a", CONT_OUT, ", ge.res_attrs = [{reuse_input = 0 : i64}, {reuse_input = 1 : i64}]"), ["h:0"]),
    "user in, no-padding input": (op("p", "PhonyConcat", "x a", PHONY_IN), ["p:0"]),
    "user in, all inputs of one origin": (op("p", "PhonyConcat", "x", PHONY_IN), []),
    "user in through an Assign": (
        op("w", "Assign", "x a", "", ", ge.res_attrs = [{reuse_input = 0 : i64}]")
        + op("p", "PhonyConcat", "w b", PHONY_IN),
        ["p:0"],
    ),
    "user in, split": (op("s t", "PhonySplit", "x", PHONY_OUT), []),
    "user in, jump": (op("s", JUMP, "x a"), ["s:0"]),
    "user in, special input": (op("h", "H", "x", P2P_IN), ["h:0"]),
    "user in, special output": (
        op("h", "H", "x", L1_OUT, ", ge.res_attrs = [{reuse_input = 0 : i64}]"),
        ["h:0"],
    ),
    "user in, special output of the same variable": (
        op("h", "H", "x", L1_OUT + ', ref_var_src_var_name = "x"', ", ge.res_attrs = [{reuse_input = 0 : i64}]"),
        [],
    ),
    "user in, special output of a variable of that slot": (
        op("h", "H", "x", L1_OUT, ', ge.res_attrs = [{reuse_input = 0 : i64, ref_var_src_var_name = "x"}]'),
        [],
    ),
    "user in, padded output of the same variable": (
        op("h i", "H", "x a", CONT_OUT + ', ref_var_src_var_name = "x"', ", ge.res_attrs = [{reuse_input = 0 : i64}, {reuse_input = 1 : i64}]"),
        ["h:0"],
    ),
    # model outputs
    "user out, own run": (op("p", "PhonyConcat", "a b", PHONY_IN) + out("p"), []),
    "user out, input of a run": (op("p", "PhonyConcat", "a b", PHONY_IN) + out("p a"), ["out:1"]),
    "user out, padded output": (op("h i", "H", "a", CONT_OUT) + out("h"), ["out:0"]),
    "user out, split": (op("s t", "PhonySplit", "a", PHONY_OUT) + out("t"), ["out:0"]),
    "user out, special output": (op("h", "H", "a", L1_OUT) + out("h"), ["out:0"]),
    "user out, special input": (op("h", "H", "a", P2P_IN) + out("a h"), ["h:0"]),
    "user out, constant": (out("k"), ["out:0"]),
    "user out, variable": (out("v"), []),
    "user out twice": (out("a a"), []),
    "user in to user out": (out("x"), []),
    # constants
    "constant, padded input": (op("h", "H", "k a", CONT_IN), ["h:0"]),
    "constant, no-padding input": (op("p", "PhonyConcat", "a k", PHONY_IN), ["p:1"]),
    "constant, split": (op("s t", "PhonySplit", "k", PHONY_OUT), ["s:0"]),
    "constant, special input": (op("h", "H", "k", P2P_IN), ["h:0"]),
    # runs
    "runs with equal inputs": (op("p", "P", "a b", PHONY_IN) + op("q", "P", "a b", PHONY_IN), []),
    "run with a part of another": (op("p", "P", "a b c", PHONY_IN) + op("q", "P", "b c", PHONY_IN), []),
    "runs that disagree": (
        op("p", "P", "a b", PHONY_IN) + op("q", "P", "c b", PHONY_IN) + op("z", "F", "b"),
        ["q:1", "z:0"],
    ),
    "run and split of one tensor": (
        op("p", "P", "a b", PHONY_IN) + op("s t", "PhonySplit", "b", PHONY_OUT),
        ["p:1"],
    ),
    "split of a run": (op("p", "P", "a b", PHONY_IN) + op("s t", "PhonySplit", "p", PHONY_OUT), []),
    "split of a piece": (
        op("s t", "PhonySplit", "a", PHONY_OUT) + op("q r", "PhonySplit", "s", PHONY_OUT),
        ["q:0"],
    ),
    "padded inputs of two nodes": (
        op("y", "F", "a")
        + op("h", "H", "a b", CONT_IN)
        + op("i", "H", "a c", CONT_IN)
        + op("z", "F", "a"),
        ["i:0", "z:0"],
    ),
    "padded input and split": (op("h", "H", "a b", CONT_IN) + op("s t", "PhonySplit", "b", PHONY_OUT), ["h:1"]),
    "padded output to padded input": (op("h i", "H", "a", CONT_OUT) + op("j", "H", "h i", CONT_IN), []),
    "padded output to padded input in another order": (
        op("h i", "H", "a", CONT_OUT) + op("j", "H", "i h", CONT_IN),
        ["j:1"],
    ),
    "padded output to no-padding input": (
        op("h i", "H", "a", CONT_OUT) + op("p", "P", "h b", PHONY_IN),
        ["p:0"],
    ),
    # special memory
    "run and special": (op("p", "P", "b a", PHONY_IN) + op("h", "H", "a", P2P_IN), ["p:1"]),
    "special and what the run refers to": (op("p", "P", "a b", PHONY_IN) + op("h", "H", "a", P2P_IN), ["h:0"]),
    "special of one type": (op("h", "H", "a", P2P_IN) + op("i", "I", "a", P2P_IN), []),
    "special of two types": (op("h", "H", "a", P2P_IN) + op("i", "I", "a", '_input_memory_type = ["HOST"]'), ["h:0"]),
    "special and normal": (op("h", "H", "a", P2P_IN) + op("i", "I", "a"), []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_rule(name: str) -> None:
    body, expected = CASES[name]
    assert copies(body) == expected


def test_the_pairwise_rules_alone_leave_a_run_that_reads_one_output_twice() -> None:
    """The reference has no rule for it (spec/memory.md 10.3, USER_IN / NOPAD_IN); settling copies one of the two."""
    body = op("p", "PhonyConcat", "x x", PHONY_IN) + op("q", "F", "p") + out("q")
    assert copies(body, settle=False) == []
    assert len(copies(body)) == 1


def test_addresses_that_must_stay() -> None:
    jump = op("s", JUMP, "a b")
    assert copies(jump) == []
    assert copies(jump, movable=True) == ["s:0", "s:1"]
    assert copies(jump, refreshable=True) == ["s:0", "s:1"]
    assert copies(op("s", JUMP, "x a"), refreshable=True) == ["s:0", "s:1"]
    assert copies(op("p", "P", "a b", PHONY_IN) + jump, refreshable=True) == ["s:0", "s:1"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, []),
        ({"build_mode": "offline"}, ["s:0"]),
        ({"heterogeneous": True}, ["s:0"]),
    ],
)
def test_scenes_in_which_no_split_cuts_a_model_input(
    options: dict[str, object], expected: list[str]
) -> None:
    assert copies(op("s t", "PhonySplit", "x", PHONY_OUT), **options) == expected


def test_a_node_may_say_that_an_operator_runs_alone() -> None:
    split = op("s t", "PhonySplit", "x", PHONY_OUT + ", _single_op_scene = true")
    assert copies(split) == ["s:0"]


def test_every_kind_is_in_some_rule() -> None:
    assert {kind for pair in RULES for kind in pair} == set(Kind)


def test_the_copy() -> None:
    body = op(
        "p", "PhonyConcat", "x a", PHONY_IN + ', _batch_label = "one"', ", ge.stream = 3 : i64"
    )
    module = parsed(f"ge.graph @main {{{LEADING}{body}}}")
    with collect_remarks() as heard:
        GeInsertIdentity().apply(Context(), module)
    (made,) = [x for x in graphs(module)[0].block.ops if ge_type(x) == "Identity"]
    assert node_name(made) == "identity_0_p_MemLayoutConflict_0"
    assert get_flag(made, "ge.keep")
    assert "_batch_label" in str(made)
    assert "ge.stream = 3" in str(made)
    (remark,) = heard.remarks
    assert remark.message == (
        'copied: output 0 of "x" wants memory of a model input, '
        'input 0 of "p" its inputs end to end without padding'
    )
    assert remark.args["bytes"] == 32


def test_a_copy_that_is_there_already_is_enough() -> None:
    body = op("i", "Identity", "x") + op("p", "PhonyConcat", "i a", PHONY_IN)
    assert copies(body) == ["p:0"]


def test_three_runs_that_disagree_only_together() -> None:
    """No two of them do: a before b, b before c, and c before a."""
    body = "".join(op(n, "P", reads, PHONY_IN) for n, reads in (("p", "a b"), ("q", "b c")))
    module = parsed(f"ge.graph @main {{{LEADING}{body}{op('r', 'P', 'c a', PHONY_IN)}}}")
    GeInsertIdentity().apply(Context(), module)
    clusters(memory_graph(graphs(module)[0]))  # raises when a run has no place


def test_a_graph_of_unknown_shape_is_left_alone() -> None:
    body = op("p", "PhonyConcat", "x a", PHONY_IN).replace(T, "tensor<?xf32>")
    assert copies(body) == []


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_every_graph_can_be_laid_out_afterwards(seed: int, count: int) -> None:
    module = ModuleOp([random_runs(seed, count)])
    GeInsertIdentity().apply(Context(), module)
    module.verify()
    clusters(memory_graph(graphs(module)[0]))
