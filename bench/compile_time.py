"""How long each stage of the compiler takes on each model: seconds, and nodes a second from file to task list.

    python bench/compile_time.py [--json FILE] [--repeat N] [MODEL ...]

Figures are medians over `--repeat` compilations in one process, after one that is not counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import onnx
from models import LIGHT_MODELS, SHARED_MODELS, Model, installed

from ge_dialect.dialects.collector import collector_paused
from ge_dialect.program import context, load, make_passes

STAGES = (
    "import",
    "canonicalize",
    "engines",
    "control-flow",
    "dynamic",
    "no-task",
    "order",
    "streams",
    "memory",
    "tasks",
)
"""Columns; every pass of the pipeline counts for one of them."""


def stage_of(name: str) -> str:
    """The column of a pass."""
    match name:
        case "ge-canonicalize":
            return "canonicalize"
        case "ge-assign-engines":
            return "engines"
        case "ge-lower-control-flow":
            return "control-flow"
        case "ge-host-exec" | "ge-partition-dynamic" | "ge-sink-clusters":
            return "dynamic"
        case "ge-topo-sort":
            return "order"
        case "ge-plan-memory":
            return "memory"
        case "convert-ge-to-ge-task":
            return "tasks"
        case _ if name.endswith("-no-task") or name in ("ge-mark-phony", "ge-insert-identity"):
            return "no-task"
        case _:
            return "streams"


def measure(model: Model) -> dict[str, float]:
    """Seconds of each stage of one compilation, the cycle collector paused as in `ge_dialect.compile`."""
    with collector_paused():
        return _measure(model)


def _measure(model: Model) -> dict[str, float]:
    assert model.path is not None
    times = dict.fromkeys(STAGES, 0.0)
    start = time.perf_counter()
    module = load(model.path, dims=model.dims)
    times["import"] = time.perf_counter() - start
    ctx = context()
    for each in make_passes("ge-pipeline"):
        start = time.perf_counter()
        each.apply(ctx, module)
        times[stage_of(each.name)] += time.perf_counter() - start
    return times


def rows(models: list[Model], repeat: int) -> list[dict[str, float | str]]:
    """One row a model: median seconds a stage, total, nodes a second."""
    table: list[dict[str, float | str]] = []
    for model in installed(models):
        assert model.path is not None
        nodes = len(onnx.load(model.path, load_external_data=False).graph.node)
        measure(model)
        runs = [measure(model) for _ in range(repeat)]
        row: dict[str, float | str] = {"model": model.name, "nodes": nodes}
        for stage in STAGES:
            row[stage] = statistics.median(run[stage] for run in runs)
        total = statistics.median(sum(run.values()) for run in runs)
        row |= {"total": total, "nodes/s": nodes / total}
        table.append(row)
    return table


def main() -> None:
    """Print the table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "models", nargs="*", help="names of models (default: shared and light ones)"
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    chosen = [
        m for m in (*SHARED_MODELS, *LIGHT_MODELS) if not args.models or m.name in args.models
    ]
    table = rows(chosen, args.repeat)
    stages = [*STAGES, "total"]
    print(
        f"{'model':28} {'nodes':>6} "
        + " ".join(f"{name:>12}" for name in stages)
        + f" {'nodes/s':>8}"
    )
    for row in table:
        cells = " ".join(f"{float(row[stage]) * 1e3:9.1f} ms" for stage in stages)
        print(f"{row['model']:28} {row['nodes']:6} {cells} {float(row['nodes/s']):8.0f}")
    if args.json:
        args.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
