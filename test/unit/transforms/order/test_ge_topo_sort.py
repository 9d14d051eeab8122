"""Modes of ge-topo-sort: what must not change, and what `min-peak` promises."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect import program
from ge_dialect.analysis.order import is_sorted
from ge_dialect.analysis.ordering import exact_peak
from ge_dialect.dialects.ge.access import data_operands, ge_type, get_int, graphs, node_name, nodes
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.order.edges import required_before
from ge_dialect.transforms.order.ge_topo_sort import GeTopoSort, OrderMode
from ge_dialect.transforms.order.order_problem import order_problem, planned_bound

MODES: tuple[OrderMode, ...] = ("bfs", "dfs", "rdfs", "min-peak")
SHARED = Path(__file__).resolve().parents[5] / "shared" / "models"


def module_of(tmp_path: Path, text: str) -> ModuleOp:
    path = tmp_path / "g.mlir"
    path.write_text(text)
    return program.load(str(path))


def random_text(seed: int, count: int) -> str:
    """A graph of unary and binary operators that may write in place, runs, views, outputs and a workspace."""
    rng = random.Random(seed)
    lines = ['  %v0 = ge.data index 0 {ge.name = "x"} : tensor<64x8xf32>']
    made = {"v0": 64}
    for index in range(1, count):
        name = f"v{index}"
        sources = [rng.choice(list(made)[-6:]) for _ in range(rng.choice([1, 1, 2]))]
        rows = rng.choice([16, 64, 64, 128])
        kind = rng.choice(["Relu", "Add", "Own", "Own", "Flatten"])
        marks = f'ge.name = "{name}"'
        if kind == "Flatten":
            sources, rows = sources[:1], made[sources[0]]
        elif kind in ("Relu", "Add"):
            sources = sources[:1] * (2 if kind == "Add" else 1)
            rows = made[sources[0]]
        elif rng.random() < 0.3:
            marks += ", ge.workspace_bytes = array<i64: 4096>"
        operands = ", ".join(f"%{each}" for each in sources)
        lines.append(f'  %{name} = ge.op "{kind}" ({operands}) {{{marks}}} : tensor<{rows}x8xf32>')
        made[name] = rows
    outs = ", ".join(f"%{each}" for each in [*rng.sample(list(made), 2), f"v{count - 1}"])
    return "\n".join(["ge.graph @g {", *lines, f'  ge.net_output ({outs}) {{ge.name = "o"}}', "}"])


def prepared(tmp_path: Path, seed: int, count: int) -> ModuleOp:
    module = module_of(tmp_path, random_text(seed, count))
    for each in program.make_passes("ge-assign-engines,ge-mark-phony"):
        each.apply(Context(), module)
    return module


def edges(graph: GraphOp) -> set[tuple[str, str]]:
    return {
        (node_name(value.owner), node_name(op))  # pyright: ignore[reportArgumentType]
        for op in nodes(graph)
        for value in data_operands(op)
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(6))
def test_same_graph_in_another_order(tmp_path: Path, mode: OrderMode, seed: int) -> None:
    module = prepared(tmp_path, seed, 30)
    before = edges(graphs(module)[0])
    twin = module.clone()
    GeTopoSort(mode).apply(Context(), module)
    GeTopoSort(mode).apply(Context(), twin)
    (graph,) = graphs(module)
    assert edges(graph) == before
    assert is_sorted(list(graph.block.ops))
    assert ge_type(next(iter(graph.block.ops))) == "Data"
    assert module.is_structurally_equivalent(twin)


@pytest.mark.parametrize("seed", range(12))
def test_the_picture_of_memory_is_the_planners(tmp_path: Path, seed: int) -> None:
    module = prepared(tmp_path, seed, 25)
    (graph,) = graphs(module)
    ops = list(graph.block.ops)
    problem = order_problem(graph, ops, required_before(ops))
    assert problem.peak(range(problem.count)) >= planned_bound(graph)
    GePlanMemory(check=True).apply(Context(), module)
    assert get_int(graph, "ge.lower_bound_bytes") == planned_bound(graph)


@pytest.mark.parametrize("seed", range(12))
def test_a_piece_knows_all_who_use_it(tmp_path: Path, seed: int) -> None:
    """Who is last is up to the order, so every reader counts, not only the last one of the given order."""
    (graph,) = graphs(prepared(tmp_path, seed, 25))
    ops = list(graph.block.ops)
    problem = order_problem(graph, ops, required_before(ops))
    for node, written in problem.overwrites.items():
        assert all(node in problem.units[unit].users for unit in written.over)


@pytest.mark.parametrize("seed", range(12))
def test_min_peak_needs_no_more_than_stable(tmp_path: Path, seed: int) -> None:
    module = prepared(tmp_path, seed, 16)
    (graph,) = graphs(module)
    stable = planned_bound(graph)
    ops = list(graph.block.ops)
    best = exact_peak(order_problem(graph, ops, required_before(ops)))
    GeTopoSort("min-peak").apply(Context(), module)
    found = planned_bound(graph)
    assert found <= stable
    assert found <= best
    GePlanMemory(check=True).apply(Context(), module)


@pytest.mark.parametrize("mode", MODES)
def test_writers_keep_their_readers_on_their_sides(tmp_path: Path, mode: OrderMode) -> None:
    text = """
    ge.graph @g {
      %x = ge.data index 1 {ge.name = "x"} : tensor<64xf32>
      %y = ge.data index 0 {ge.name = "y"} : tensor<64xf32>
      %v = ge.variable {ge.name = "v"} : tensor<64xf32>
      %r1 = ge.op "Own" (%v) {ge.name = "r1"} : tensor<64xf32>
      %r2 = ge.op "Own" (%v) {ge.name = "r2"} : tensor<64xf32>
      %w = ge.op "Assign" (%v, %x) {ge.name = "w", ge.res_attrs = [{reuse_input = 0 : i64}]} : tensor<64xf32>
      %r3 = ge.op "Own" (%v) {ge.name = "r3"} : tensor<64xf32>
      %s = ge.op "Join" (%y, %r3, %w, %r2, %r1) {ge.name = "s"} : tensor<64xf32>
      ge.net_output (%s) {ge.name = "out"}
    }
    """
    module = module_of(tmp_path, text)
    GeTopoSort(mode).apply(Context(), module)
    order = [node_name(op) for op in nodes(graphs(module)[0])]
    place = {name: at for at, name in enumerate(order)}
    assert order[:2] == ["x", "y"]
    assert max(place["r1"], place["r2"]) < place["w"] < place["r3"]


def test_pipeline_takes_the_order(tmp_path: Path) -> None:
    path = SHARED / "gpt2_slim_dyn.onnx"
    if not path.exists():
        pytest.skip(f"no shared model {path.name}")
    peaks: dict[str, int] = {}
    results: list[np.ndarray] = []
    for order in ("stable", "min-peak"):
        made = program.compile(
            path, dims={"batch": 2, "seq": 8}, pipeline=f"ge-pipeline{{order={order}}}"
        )
        model = next(iter(made.module.body.block.ops))
        peaks[order] = get_int(model, "ge.peak_bytes") or 0
        ids = np.arange(16, dtype=np.int64).reshape(2, 8)
        outputs = made.run({"input_ids": ids, "attention_mask": np.ones_like(ids)}).outputs
        results.append(next(iter(outputs.values())))
    assert peaks["min-peak"] < peaks["stable"]
    np.testing.assert_array_equal(results[0], results[1])
