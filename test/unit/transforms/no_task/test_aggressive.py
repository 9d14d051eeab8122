"""Marks beyond the reference's: what is marked, what is taken back, and that the numbers stay the same."""

from __future__ import annotations

import random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ge_dialect.analysis.remarks import Remark, collect_remarks
from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.formats.errors import GeError
from ge_dialect.program import Program, compile, context
from ge_dialect.runtime.checker import check

V = "tensor<2x8xf32>"


def _parse(body: str) -> ModuleOp:
    return Parser(context(), f"ge.graph @main {{\n{body}\n}}").parse_module()


def _compile(body: str, mode: str) -> tuple[Program, list[Remark]]:
    """The program, its plan and its list checked; what the no-task passes said."""
    module = _parse(body)
    with collect_remarks() as collector:
        compile(module, pipeline=f"ge-pipeline{{no-task={mode} until=ge-assign-streams}}")
        program = compile(module, pipeline="ge-plan-memory{check=true},convert-ge-to-ge-task")
    assert not [x for x in check(_list(program)) if x.severity == "error"]
    return program, [x for x in collector.remarks if x.pass_name.endswith("-no-task")]


def _list(program: Program) -> ModelOp:
    (model,) = (op for op in program.module.body.block.ops if isinstance(op, ModelOp))
    return model


def _outputs(program: Program) -> list[bytes]:
    rng = np.random.default_rng(5)
    inputs = [rng.standard_normal(x.shape).astype(x.dtype) for x in program.executable.inputs]
    return [x.tobytes() for x in program.run(inputs).outputs.values()]


def _verdicts(body: str) -> dict[str, str]:
    """What became of each node: `passed`, with `+copy` where one input is copied, or the reason; the numbers are
    compared with those of the unmarked graph, and so is the memory."""
    plain, _ = _compile(body, "off")
    program, remarks = _compile(body, "aggressive")
    assert _outputs(program) == _outputs(plain)
    assert _list(program).arena_sizes()["hbm"] <= _list(plain).arena_sizes()["hbm"]
    found: dict[str, str] = {}
    for x in remarks:
        copied = "+copy" if x.args.get("copies") else ""
        told = x.args["reason"] if x.kind == "missed" else f"passed{copied}"
        found[str(x.args["node"])] = str(told)
    return found


def _relu(name: str, source: str, kind: str = V) -> str:
    return f'%{name} = ge.op "Relu" (%{source}) {{ge.name = "{name}"}} : {kind}\n'


def _data(name: str, index: int, kind: str = V) -> str:
    return f'%{name} = ge.data index {index} {{ge.name = "{name}"}} : {kind}\n'


def _join(name: str, sources: str, rows: int) -> str:
    return f'%{name} = ge.concat ({sources}) concat_dim 0 {{ge.name = "{name}"}} : tensor<{rows}x8xf32>\n'


def _out(*names: str) -> str:
    return f'ge.net_output ({", ".join("%" + x for x in names)}) {{ge.name = "out"}}'


ABC = _data("x", 0) + "".join(
    f'%{name} = ge.op "{kind}" (%x) {{ge.name = "{name}"}} : {V}\n'
    for name, kind in (("a", "Relu"), ("b", "Neg"), ("c", "Abs"))
)


@pytest.mark.parametrize("chained", [False, True])
def test_a_growing_concat_is_one_buffer(chained: bool) -> None:
    """As in a DenseNet: each layer reads all that was there and adds a tensor."""
    layers = 8
    text = _data("x", 0) + _relu("t0", "x")
    for i in range(1, layers):
        rows = 2 * (i + 1)
        text += (
            f'%n{i} = ge.op "StridedSliceV2" (%{"t0" if i == 1 else f"c{i - 1}"}, %zero, %two, %axes, %one) '
            f'{{ge.name = "n{i}"}} : {V}\n'
        )
        text += _relu(f"t{i}", f"n{i}")
        sources = (
            f"%{'t0' if i == 1 else f'c{i - 1}'}, %t{i}"
            if chained
            else ", ".join(f"%t{j}" for j in range(i + 1))
        )
        text += _join(f"c{i}", sources, rows)
    constants = "".join(
        f'%{name} = ge.constant value dense<{value}> : tensor<1xi64> {{ge.name = "{name}"}} : tensor<1xi64>\n'
        for name, value in (("zero", 0), ("two", 2), ("axes", 0), ("one", 1))
    )
    text = (
        constants + text + _relu("y", f"c{layers - 1}", f"tensor<{2 * layers}x8xf32>") + _out("y")
    )
    assert _verdicts(text) == {f"c{i}": "passed" for i in range(1, layers)}


def test_two_orders_need_a_copy() -> None:
    text = ABC + _join("c1", "%a, %b", 4) + _join("c2", "%b, %a", 4)
    text += (
        _relu("p", "c1", "tensor<4x8xf32>") + _relu("q", "c2", "tensor<4x8xf32>") + _out("p", "q")
    )
    assert _verdicts(text) == {"c1": "passed", "c2": "passed+copy"}


def test_a_reversed_run_of_three_keeps_its_task() -> None:
    text = ABC + _join("c1", "%a, %b, %c", 6) + _join("c2", "%c, %b, %a", 6)
    text += (
        _relu("p", "c1", "tensor<6x8xf32>") + _relu("q", "c2", "tensor<6x8xf32>") + _out("p", "q")
    )
    assert _verdicts(text) == {"c1": "passed", "c2": "plan_conflict"}


def test_model_inputs_lie_in_the_run() -> None:
    text = _data("x", 0) + _data("y", 1) + _relu("a", "x") + _join("c", "%x, %a, %y", 6)
    text += _relu("p", "c", "tensor<6x8xf32>") + _out("p")
    assert _verdicts(text) == {"c": "passed"}
    program, _ = _compile(text, "aggressive")
    buffers = {x.result.name_hint: x for x in _list(program).buffers()}
    places = [buffers[name].offset.value.data for name in ("x", "a", "y")]
    assert [at - places[0] for at in places] == [0, 64, 128]


@pytest.mark.parametrize("source", ["%k, %a", "%a, %a", "%x, %k"])
def test_one_fixed_input_is_copied(source: str) -> None:
    text = f'%k = ge.constant value dense<2.0> : {V} {{ge.name = "k"}} : {V}\n' + ABC
    text += _join("d", source, 4) + _relu("p", "d", "tensor<4x8xf32>") + _out("p")
    assert _verdicts(text) == {"d": "passed+copy"}


def test_two_fixed_inputs_are_too_many() -> None:
    text = f'%k = ge.constant value dense<2.0> : {V} {{ge.name = "k"}} : {V}\n' + ABC
    text += _join("d", "%k, %a, %k", 6) + _relu("p", "d", "tensor<6x8xf32>") + _out("p")
    assert _verdicts(text)["d"] in ("invalid_producer_type", "same_source_anchor")


def test_nobody_writes_in_place_on_a_shared_run() -> None:
    text = ABC + _join("c1", "%a, %b", 4)
    text += '%w = ge.op "Neg" (%c1) {ge.name = "w", ge.res_attrs = [{reuse_input = 0 : i64}]} : tensor<4x8xf32>\n'
    text += _join("c2", "%w, %c", 6) + _relu("p", "c2", "tensor<6x8xf32>") + _out("p")
    assert _verdicts(text)["c1"] == "written_in_place"


def test_a_run_is_not_reserved_before_it_is_written() -> None:
    """Two large tensors are alive before b: they may lie where b will, so the join costs nothing."""
    big, small, whole = "tensor<10x1024xf32>", "tensor<1x1024xf32>", "tensor<11x1024xf32>"
    text = _data("x", 0, big)
    text += (
        '%a = ge.op "ReduceMaxD" (%x) attrs {axes = array<i64: 0>, keep_dims = true} {ge.name = "a"} : '
        f"{small}\n"
    )
    for name, source in (("t1", "x"), ("t2", "t1"), ("b", "t2")):
        text += f'%{name} = ge.op "Exp" (%{source}) {{ge.name = "{name}"}} : {big}\n'
    text += f'%c = ge.concat (%a, %b) concat_dim 0 {{ge.name = "c"}} : {whole}\n'
    text += f'%p = ge.op "Exp" (%c) {{ge.name = "p"}} : {whole}\n'
    text += f'%q = ge.op "Exp" (%p) {{ge.name = "q"}} : {whole}\n' + _out("q")
    assert _verdicts(text) == {"c": "passed"}


def _random_graph(seed: int) -> str:
    """Concats, splits and what is between them; rows of 32 or 12 bytes."""
    rng = random.Random(seed)
    width = rng.choice((8, 3))

    def kind(rows: int) -> str:
        return f"tensor<{rows}x{width}xf32>"

    text, values, read = "", list[tuple[str, int]](), set[str]()

    def add(line: str, name: str, rows: int) -> None:
        nonlocal text
        text += line
        values.append((name, rows))

    for i in range(2):
        rows = rng.choice((2, 4))
        add(_data(f"x{i}", i, kind(rows)), f"x{i}", rows)
    for i in range(rng.randint(8, 18)):
        what = rng.random()
        name = f"v{i}"
        source, rows = rng.choice(values[-6:])
        if what < 0.45:
            read.add(source)
            add(_relu(name, source, kind(rows)), name, rows)
        elif what < 0.85:
            chosen = [rng.choice(values[-6:]) for _ in range(rng.randint(2, 4))]
            if rng.random() < 0.7:
                chosen = list(dict.fromkeys(chosen))
            rows = sum(x[1] for x in chosen)
            if rows <= 32:
                read.update(x[0] for x in chosen)
                sources = ", ".join(f"%{x[0]}" for x in chosen)
                line = f'%{name} = ge.concat ({sources}) concat_dim 0 {{ge.name = "{name}"}} : {kind(rows)}\n'
                add(line, name, rows)
        elif rows % 2 == 0:
            read.add(source)
            text += (
                f'%{name}a, %{name}b = ge.split (%{source}) split_dim 0 num_split 2 {{ge.name = "{name}"}} : '
                f"{kind(rows // 2)}, {kind(rows // 2)}\n"
            )
            values += [(f"{name}a", rows // 2), (f"{name}b", rows // 2)]
    outputs = [name for name, _ in values if name not in read or rng.random() < 0.1]
    return text + _out(*[x for x in outputs if not x.startswith("x")] or [values[-1][0]])


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed: int) -> None:
    """The same bits in every mode, no more memory in the aggressive one, and at least as much marked."""
    text = _random_graph(seed)
    plain, _ = _compile(text, "off")
    wanted = _outputs(plain)
    for mode in ("faithful", "aggressive"):
        program, _ = _compile(text, mode)
        assert _outputs(program) == wanted, mode
    program, _ = _compile(text, "aggressive")
    assert _list(program).arena_sizes()["hbm"] <= _list(plain).arena_sizes()["hbm"]


@pytest.mark.parametrize("alignment", [0, -4])
@pytest.mark.parametrize("name", ["ge-concat-no-task", "ge-pack-no-task"])
def test_alignment_of_nothing(name: str, alignment: int) -> None:
    module = _parse(ABC + _join("j", "%a, %b", 4) + _out("j"))
    with pytest.raises(GeError, match=f"alignment is {alignment}, expected at least 1"):
        compile(module, pipeline=f"{name}{{mode=aggressive alignment={alignment}}}")
