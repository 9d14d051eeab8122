"""What each check of the no-task passes is good for: with the check switched off, something must break.

A check *guards* when some graph then gives wrong numbers, or a plan that the checker or the planner refuses, although
`ge-insert-identity` ran. It is *mended* when that happens only without `ge-insert-identity`, which copies otherwise. It is
*cautious* when none of the graphs here is harmed. docs/no_task.md lists which is which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect.dialects.ge.access import graphs, node_name, nodes
from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.formats.cube import PLATFORM
from ge_dialect.formats.errors import GeError
from ge_dialect.program import Program, compile, context
from ge_dialect.runtime.checker import check
from ge_dialect.transforms.no_task.ge_concat_no_task import CONCAT
from ge_dialect.transforms.no_task.ge_pack_no_task import PACK
from ge_dialect.transforms.no_task.ge_split_no_task import GeSplitNoTask

DOCS = Path(__file__).resolve().parents[4] / "docs" / "no_task.md"

V = "tensor<2x64xf32>"
NC1 = "tensor<1x{}x2x2x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, {}, 2, 2]>>"


ODD = "tensor<2x{}xf32, #ge.desc<NCHW, origin = ND [2, {}]>>"
FLAT = "tensor<2x{}x2x2xf32, #ge.desc<ND, origin = NCHW [2, {}, 2, 2]>>"


@dataclass(frozen=True)
class Case:
    """A graph that exactly the check `key` keeps from being marked at node `node`."""

    key: str
    body: str
    node: str = "c"
    graph: str = ""
    rules: str = "both"

    def text(self) -> str:
        return f"ge.graph @main {self.graph} {{\n{self.body}\n}}"


def relu(name: str, source: str, kind: str = V, attributes: str = "") -> str:
    more = f", {attributes}" if attributes else ""
    return f'%{name} = ge.op "Relu" (%{source}) {{ge.name = "{name}"{more}}} : {kind}'


def data(name: str, index: int, kind: str = V) -> str:
    return f'%{name} = ge.data index {index} {{ge.name = "{name}"}} : {kind}'


def join(name: str, sources: str, kind: str, dim: int = 0, attributes: str = "") -> str:
    more = f", {attributes}" if attributes else ""
    return f'%{name} = ge.concat ({sources}) concat_dim {dim} {{ge.name = "{name}"{more}}} : {kind}'


def out(*values: str) -> str:
    return f'ge.net_output ({", ".join("%" + x for x in values)}) {{ge.name = "out"}}'


def graph(*lines: str) -> str:
    return "\n".join(lines)


AB = graph(data("x", 0), data("y", 1), relu("a", "x"), relu("b", "y"))
C = "tensor<4x64xf32>"
LAST = graph(relu("z", "c", C), out("z"))
JOINED = graph(join("c", "%a, %b", C), LAST)
HALVES = "tensor<2x64xf32>, tensor<2x64xf32>"


def producers(attributes: str) -> str:
    """Two producers, the first with attributes of its source."""
    return graph(
        data("x", 0), data("y", 1),
        f'%a = ge.op "Relu" (%x) attrs {{{attributes}}} {{ge.name = "a"}} : {V}', relu("b", "y"),
    )  # fmt: skip


def cut(dim: int, parts: int, kind: str, source: str = "x", attributes: str = "") -> str:
    more = f", {attributes}" if attributes else ""
    names = ", ".join(f"%s{i}" for i in range(parts))
    kinds = ", ".join([kind] * parts)
    return (
        f"{names} = ge.split (%{source}) split_dim {dim} num_split {parts} "
        f'{{ge.name = "s"{more}}} : {kinds}'
    )


def both(kind: str, attributes: str = "") -> str:
    return graph(
        relu("p", "s0", kind, attributes), relu("q", "s1", kind, attributes), out("p", "q")
    )


CASES = (
    # concat
    Case("single_op_scene", graph(AB, JOINED), graph="attributes {ge.single_op_scene}"),
    Case(
        "memory_discontiguous",
        graph(AB, JOINED),
        graph="attributes {ge.memory_discontiguous_allocation}",
    ),
    Case(
        "unknown_owner_graph",
        graph(AB, JOINED),
        graph="attributes {ge.dynamic_shape_partitioned}",
    ),
    Case(
        "tensor_not_32b_aligned",
        graph(
            data("x", 0, "tensor<2x3xf32>"), data("y", 1, "tensor<2x3xf32>"),
            relu("a", "x", "tensor<2x3xf32>"), relu("b", "y", "tensor<2x3xf32>"),
            join("c", "%a, %b", "tensor<4x3xf32>"), relu("z", "c", "tensor<4x3xf32>"), out("z"),
        ),
    ),
    Case(
        "scalar_input",
        graph(
            data("x", 0, "tensor<f32>"), relu("a", "x", "tensor<f32>"),
            '%c = ge.pack (%a) axis 0 {ge.name = "c"} : tensor<1xf32>', relu("z", "c", "tensor<1xf32>"), out("z"),
        ),
    ),
    Case("same_source_anchor", graph(AB, join("c", "%a, %a", C), LAST)),
    Case("invalid_producer_type", graph(AB, join("c", "%x, %b", C), LAST)),
    Case(
        "invalid_producer_type",
        graph(
            AB, f'%k = ge.constant value dense<1.0> : {V} {{ge.name = "k"}} : {V}',
            join("c", "%k, %b", C), LAST,
        ),
    ),
    Case(
        "producer_output_locked",
        graph(AB, join("d", "%a, %b", C), join("c", "%b, %a", C), relu("z", "c", C), out("z", "d")),
    ),
    Case(
        "producer_feeds_netoutput",
        graph(AB, join("c", "%a, %b", C), relu("z", "c", C), out("z", "a")),
    ),
    Case("producer_attr:continuous_or_reference", graph(producers("reference = true"), JOINED)),
    Case(
        "producer_attr:continuous_or_reference",
        graph(
            data("x", 0, "tensor<4x24xf32>"),
            '%a, %b = ge.split (%x) split_dim 0 num_split 2 attrs {continuous_output = true} {ge.name = "s"} : '
            "tensor<2x24xf32>, tensor<2x24xf32>",
            join("c", "%a, %b", "tensor<4x24xf32>"), relu("z", "c", "tensor<4x24xf32>"), out("z"),
        ),
    ),
    Case(
        "producer_attr:virtual",
        graph(
            data("w", 0, C), relu("x", "w", C),
            '%a, %b = ge.split "PhonySplit" (%x) split_dim 0 num_split 2 {ge.name = "s"} : ' + HALVES,
            data("y", 1), relu("v", "b"), relu("u", "y"), join("c", "%a, %u", C), relu("z", "c", C),
            out("z", "v"),
        ),
    ),
    Case("producer_attr:atomic_output", graph(producers("atomic_output_index = [0]"), JOINED)),
    Case("input_memory_type_mismatch", graph(producers("_output_memory_type = [17]"), JOINED)),
    Case(
        "align_shape_unsupported",
        graph(
            data("x", 0, ODD.format(64, 64)), data("y", 1, ODD.format(64, 64)),
            relu("a", "x", ODD.format(64, 64)), relu("b", "y", ODD.format(64, 64)),
            join("c", "%a, %b", ODD.format(128, 128), 1), relu("z", "c", ODD.format(128, 128)), out("z"),
        ),
    ),
    Case(
        "transfer_dims_unsupported",
        graph(
            data("x", 0, FLAT.format(16, 16)), data("y", 1, FLAT.format(16, 16)),
            relu("a", "x", FLAT.format(16, 16)), relu("b", "y", FLAT.format(16, 16)),
            join("c", "%a, %b", FLAT.format(32, 32), 1), relu("z", "c", FLAT.format(32, 32)), out("z"),
        ),
    ),
    Case("front_dims_not_one", graph(AB, join("c", "%a, %b", "tensor<2x128xf32>", 1),
                                     relu("z", "c", "tensor<2x128xf32>"), out("z"))),
    Case(
        "concat_dim_not_aligned",
        graph(
            data("x", 0, NC1.format(1, 8)), data("y", 1, NC1.format(1, 8)),
            relu("a", "x", NC1.format(1, 8)), relu("b", "y", NC1.format(1, 8)),
            join("c", "%a, %b", NC1.format(1, 16), 1), relu("z", "c", NC1.format(1, 16)), out("z"),
        ),
    ),
    Case(
        "consumer_is_virtual",
        graph(
            AB, join("c", "%a, %b", C),
            '%d = ge.concat "PhonyConcat" (%b, %c) concat_dim 0 {ge.name = "d"} : tensor<6x64xf32>',
            relu("z", "d", "tensor<6x64xf32>"), out("z"),
        ),
    ),
    Case(
        "lxfusion_memory",
        graph(
            AB, f'%c = ge.concat (%a, %b) concat_dim 0 attrs {{_input_memory_type = [131072, 131072]}} '
            f'{{ge.name = "c"}} : {C}', LAST,
        ),
    ),
    Case("lxfusion_op", graph(AB, JOINED).replace('"c"', '"lxslice_c"'), node="lxslice_c"),
    # pack
    Case(
        "pack_tail_axis_interleaves",
        graph(
            AB, '%c = ge.pack (%a, %b) axis 2 {ge.name = "c"} : tensor<2x64x2xf32>',
            relu("z", "c", "tensor<2x64x2xf32>"), out("z"),
        ),
    ),
    # split, along the outermost axis
    Case("split_dim_not_zero", graph(data("x", 0, "tensor<2x128xf32>"), cut(1, 2, V), both(V)), "s"),
    Case(
        "split_input_constant",
        graph(f'%x = ge.constant value dense<1.0> : {C} {{ge.name = "x"}} : {C}', cut(0, 2, V), both(V)),
        "s",
    ),
    Case(
        "split_input_transdata_reshape_of_data",
        graph(
            data("w", 0, "tensor<256xf32>"), '%x = ge.op "Reshape" (%w) {ge.name = "x"} : tensor<256xf32>',
            cut(0, 2, "tensor<128xf32>"), both("tensor<128xf32>"),
        ),
        "s",
    ),
    Case(
        "split_input_no_task",
        graph(
            AB, f'%x2 = ge.concat "PhonyConcat" (%a, %b) concat_dim 0 {{ge.name = "x2"}} : {C}',
            cut(0, 2, V, "x2"), both(V),
        ),
        "s",
    ),
    Case(
        "split_input_atomic",
        graph(
            data("w", 0, C),
            f'%x = ge.op "Relu" (%w) attrs {{atomic_output_index = [0]}} {{ge.name = "x"}} : {C}',
            cut(0, 2, V), both(V),
        ),
        "s",
    ),
    Case(
        "split_consumer_type",
        graph(
            data("x", 0, C), cut(0, 2, V), "%t0, %t1 = ge.split (%s0) split_dim 0 num_split 2 "
            '{ge.name = "t"} : tensor<1x64xf32>, tensor<1x64xf32>',
            relu("p", "t0", "tensor<1x64xf32>"), relu("r", "t1", "tensor<1x64xf32>"),
            relu("q", "s1"), out("p", "q", "r"),
        ),
        "s",
    ),
    Case(
        "split_consumer_no_task",
        graph(
            data("x", 0, C), cut(0, 2, V),
            f'%d = ge.concat "PhonyConcat" (%s1, %s0) concat_dim 0 attrs {{imply_type = 1}} {{ge.name = "d"}} : {C}',
            relu("z", "d", C), out("z"),
        ),
        "s",
    ),
    Case(
        "split_consumer_not_aicore",
        graph(data("x", 0, C), cut(0, 2, V), both(V, 'ge.engine = "DNN_VM_AICPU", ge.kernel_lib = "aicpu_ascend_kernel"')),
        "s",
    ),
    Case(
        "split_consumer_fusion_virtual_op",
        graph(data("x", 0, C), cut(0, 2, V), both(V).replace("(%s0)", '(%s0) attrs {fusion_virtual_op = "f"}')),
        "s",
    ),
    Case(
        "split_consumer_continuous_input",
        graph(
            data("x", 0, "tensor<4x24xf32>"), cut(0, 2, "tensor<2x24xf32>"),
            '%d = ge.op "Add" (%s1, %s0) attrs {continuous_input = true} {ge.name = "d"} : tensor<2x24xf32>',
            relu("z", "d", "tensor<2x24xf32>"), out("z"),
        ),
        "s",
    ),
    Case(
        "split_consumer_atomic",
        graph(data("x", 0, C), cut(0, 2, V), both(V).replace("(%s0)", "(%s0) attrs {atomic_output_index = [0]}")),
        "s",
    ),
    Case(
        "split_memory_type",
        graph(data("x", 0, C), cut(0, 2, V).replace("num_split 2", "num_split 2 attrs {_output_memory_type = [131072]}"),
              both(V)),
        "s",
    ),
    Case(
        "split_dynamic_graph",
        graph(data("x", 0, C), cut(0, 2, V), both(V)),
        "s",
        "attributes {ge.dynamic_shape_partitioned}",
    ),
    # split, along axis 1
    Case(
        "split_dim_not_one",
        graph(data("x", 0, "tensor<1x4x64xf32>"), cut(2, 2, "tensor<1x4x32xf32>"), both("tensor<1x4x32xf32>")),
        "s",
        rules="c-to-n",
    ),
    Case(
        "split_n_not_one",
        graph(data("x", 0, "tensor<2x128xf32>"), cut(1, 2, V), both(V)),
        "s",
        rules="c-to-n",
    ),
    Case(
        "split_nd_nz_rank_below_4",
        graph(
            data("x", 0, "tensor<1x2x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 32, 32]>>"),
            cut(1, 2, "tensor<1x2x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 16, 32]>>"),
            both("tensor<1x2x1x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [1, 16, 32]>>"),
        ),
        "s",
        rules="c-to-n",
    ),
    Case(
        "split_c_not_aligned",
        graph(data("x", 0, NC1.format(1, 16)), cut(1, 2, NC1.format(1, 8)), both(NC1.format(1, 8))),
        "s",
        rules="c-to-n",
    ),
    Case(
        "split_format_pair",
        graph(
            data("x", 0, "tensor<1x2x2x8xf32, #ge.desc<NHWC, origin = NCHW [1, 8, 2, 2]>>"),
            cut(1, 2, "tensor<1x2x2x4xf32, #ge.desc<NHWC, origin = NCHW [1, 4, 2, 2]>>"),
            both("tensor<1x2x2x4xf32, #ge.desc<NHWC, origin = NCHW [1, 4, 2, 2]>>"),
        ),
        "s",
        rules="c-to-n",
    ),
)  # fmt: skip

PLAN = "ge-topo-sort,ge-assign-streams,ge-plan-memory{check=true},convert-ge-to-ge-task"


def _marked(case: Case, skip: frozenset[str]) -> ModuleOp:
    """The graph after the no-task passes, less the checks in `skip`."""
    module = Parser(context(), case.text()).parse_module()
    compile(module, pipeline="ge-assign-engines,ge-mark-phony")
    CONCAT.run(module, PLATFORM, skip)
    PACK.run(module, PLATFORM, skip)
    GeSplitNoTask(rules=case.rules).run(module, skip)  # pyright: ignore[reportArgumentType]
    return module


def _node(module: ModuleOp, name: str) -> Operation:
    return next(op for graph in graphs(module) for op in nodes(graph) if node_name(op) == name)


def _run(module: ModuleOp, pipeline: str) -> list[np.ndarray]:
    """The outputs on fixed inputs. Raises GeError where a stage, the checker or the device refuses."""
    program = compile(module, pipeline=pipeline)
    for op in program.module.body.block.ops:
        if isinstance(op, ModelOp):
            errors = [x for x in check(op) if x.severity == "error"]
            if errors:
                raise GeError(errors[0].message)
    return _outputs(program)


def _outputs(program: Program) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    inputs = [rng.standard_normal(x.shape).astype(x.dtype) for x in program.executable.inputs]
    return [np.asarray(x) for x in program.run(inputs).outputs.values()]


def _harm(case: Case, *, identity: bool) -> str | None:
    """What becomes of the graph with the check switched off; None when all is well."""
    plain = Parser(context(), case.text()).parse_module()
    wanted = _run(plain, f"ge-assign-engines,ge-mark-phony,ge-insert-identity,{PLAN}")
    module = _marked(case, frozenset({case.key}))
    assert "ge.no_task" in _node(module, case.node).attributes, "another check refuses the node too"
    try:
        found = _run(module, f"ge-insert-identity,{PLAN}" if identity else PLAN)
    except GeError as error:
        return f"refused: {error}"
    same = all(
        a.shape == b.shape and np.array_equal(a, b) for a, b in zip(wanted, found, strict=True)
    )
    return None if same else "wrong numbers"


def verdict(case: Case) -> str:
    """`guards`, `mended` or `cautious`."""
    if _harm(case, identity=True) is not None:
        return "guards"
    return "cautious" if _harm(case, identity=False) is None else "mended"


STRENGTH = ("cautious", "mended", "guards")


def _listed(kind: str) -> list[str]:
    """The checks that docs/no_task.md lists in the row `kind`."""
    row = re.search(rf"^\| {kind} \|(.*)\|$", DOCS.read_text(), re.MULTILINE)
    assert row is not None, f"docs/no_task.md has no row '{kind}'"
    return re.findall(r"`([\w:]+)`", row.group(1))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.key}-{case.node}")
def test_only_that_check_refuses(case: Case) -> None:
    assert "ge.no_task" not in _node(_marked(case, frozenset()), case.node).attributes
    assert "ge.no_task" in _node(_marked(case, frozenset({case.key})), case.node).attributes


def test_the_page_says_what_each_check_is_good_for() -> None:
    found: dict[str, str] = {}
    for case in CASES:
        of_case = verdict(case)
        known = found.get(case.key, STRENGTH[0])
        found[case.key] = max(known, of_case, key=STRENGTH.index)
    for kind in STRENGTH:
        assert _listed(kind) == [key for key, of_key in found.items() if of_key == kind], kind
