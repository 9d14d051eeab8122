"""The emulator's wall time beside onnx.reference and onnxruntime, in one run.

    python bench/run_time.py [--json FILE] [--repeat N] [MODEL ...]

Every engine runs the same inputs; the emulator and onnxruntime the median of `--repeat` runs after one that is not
counted, onnx.reference (slow) once, after one run of its own when that took under two seconds. onnxruntime has one
thread and no graph optimisation, so that it computes the same nodes. The numbers are compared as well: the error is
the largest difference from onnxruntime over the largest magnitude of the output.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from feeds import make_feeds, session
from models import LIGHT_MODELS, SHARED_MODELS, Model, installed
from onnx.reference import ReferenceEvaluator

from ge_dialect.program import compile


def timed(run: Callable[[], Any], repeat: int) -> float:
    """Median seconds of `repeat` runs after one that is not counted."""
    run()
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def reference_seconds(path: Path, feeds: dict[str, np.ndarray]) -> float | None:
    """Seconds of one run of onnx.reference; None when it fails on the model."""
    try:
        evaluator = ReferenceEvaluator(onnx.load(path))
        start = time.perf_counter()
        evaluator.run(None, feeds)
        first = time.perf_counter() - start
        if first > 2:
            return first
        start = time.perf_counter()
        evaluator.run(None, feeds)
        return min(first, time.perf_counter() - start)
    except Exception as error:
        print(f"onnx.reference fails on {path.name}: {type(error).__name__}")
        return None


def error_of(ours: list[Any], theirs: list[Any]) -> float:
    """Largest difference over the largest magnitude, over all outputs."""
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        if b.size == 0:
            continue
        scale = float(np.max(np.abs(b.astype(np.float64)))) or 1.0
        worst = max(
            worst, float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))) / scale
        )
    return worst


def measure(model: Model, repeat: int) -> dict[str, Any]:
    """One row: seconds of each engine, ratios and error."""
    assert model.path is not None
    feeds = make_feeds(model.path, model.dims, picture=model.picture)
    program = compile(model.path, dims=model.dims)
    ours = timed(lambda: program.run(feeds), repeat)
    row: dict[str, Any] = {"model": model.name, "ours": ours}
    reference = reference_seconds(model.path, feeds)
    row["reference"] = reference
    row["reference/ours"] = None if reference is None else reference / ours
    try:
        ort = session(model.path, optimise=False)
    except Exception:  # a custom operator
        return row | {"onnxruntime": None, "ours/onnxruntime": None, "error": None}
    row["onnxruntime"] = timed(lambda: ort.run(None, feeds), repeat)
    row["ours/onnxruntime"] = ours / row["onnxruntime"]
    row["error"] = error_of(list(program.run(feeds).outputs.values()), ort.run(None, feeds))
    return row


def cell(value: float | None, form: str) -> str:
    """A number, or a dash for none."""
    return "-" if value is None else format(value, form)


def main() -> None:
    """Print the table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "models", nargs="*", help="names of models (default: shared and light ones)"
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    table: list[dict[str, Any]] = []
    chosen = [m for m in SHARED_MODELS + LIGHT_MODELS if not args.models or m.name in args.models]
    present = installed(chosen)
    print(
        f"{'model':28} {'ours ms':>9} {'reference ms':>13} {'ref/ours':>9} {'ort ms':>9} {'ours/ort':>9} {'error':>9}"
    )
    for model in present:
        row = measure(model, args.repeat)
        table.append(row)
        ms = {
            k: None if row[k] is None else row[k] * 1e3
            for k in ("ours", "reference", "onnxruntime")
        }
        print(
            f"{row['model']:28} {cell(ms['ours'], '9.2f')} {cell(ms['reference'], '13.1f'):>13}"
            f" {cell(row['reference/ours'], '9.1f'):>9} {cell(ms['onnxruntime'], '9.2f'):>9}"
            f" {cell(row['ours/onnxruntime'], '9.1f'):>9} {cell(row['error'], '9.1e'):>9}"
        )
    if args.json:
        args.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
