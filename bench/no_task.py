"""Writes docs/no_task_models.md: concats without task in real models, from real runs.

    python bench/no_task.py

Each model is compiled three times, with the no-task passes off, faithful and aggressive, and run on the same inputs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from feeds import make_feeds
from models import LIGHT_MODELS, SHARED_MODELS, Model

from ge_dialect.analysis.remarks import Remark, collect_remarks
from ge_dialect.program import compile
from ge_dialect.runtime import RunReport

PAGE = Path(__file__).resolve().parent.parent / "docs" / "no_task_models.md"
NAMES = (
    "densenet121_slim",
    "inception_v3_slim",
    "squeezenet_slim",
    "unet_slim",
    "shufflenet_v2_slim",
    "light_densenet121",
    "light_inception_v2",
)
MODES = ("off", "faithful", "aggressive")

HEAD = """<!-- Written by bench/no_task.py from real runs; changes made here are lost. -->

# Concats without task in real models

What `ge-pipeline{no-task=MODE}` makes of the concats of real models ([what the modes do](no_task.md)). This page is
written by

    make setup && .venv/bin/python bench/no_task.py

* **concats**: nodes that `ge-concat-no-task` looked at; those that `ge-canonicalize` removed do not count.
* **marked**: how many of them make no task. **tasks**: what a run issues. **not copied**: bytes that concats would
  copy in each run and do not. **peak**: bytes of the arena `hbm`: feature map, model inputs and outputs.
* **outputs**: whether they are equal, bit by bit, to those of the run with the passes off.

Memory is planned by `ge-plan-memory` in its default mode. In `aggressive` joined tensors may lie at any byte, as on the
emulated device; with `alignment=32` those that the reason `tensor_not_32b_aligned` stands for keep their tasks.
"""


@dataclass(frozen=True)
class Outcome:
    """One model in one mode."""

    report: RunReport
    outputs: list[bytes]
    remarks: list[Remark]

    def of(self, kind: str) -> list[Remark]:
        """What was said about concats: `passed` or `missed`."""
        return [x for x in self.remarks if x.pass_name == "ge-concat-no-task" and x.kind == kind]


def outcome(model: Model, mode: str) -> Outcome:
    """Compile and run a model."""
    assert model.path is not None
    with collect_remarks() as collector:
        program = compile(model.path, dims=model.dims, pipeline=f"ge-pipeline{{no-task={mode}}}")
    result = program.run(make_feeds(model.path, model.dims))
    outputs = [value.tobytes() for value in result.outputs.values()]
    return Outcome(result.report, outputs, collector.remarks)


def reasons(found: Outcome) -> str:
    """Why the other concats keep their tasks."""
    counts = Counter(str(x.args["reason"]) for x in found.of("missed"))
    return ", ".join(f"{count} `{reason}`" for reason, count in counts.most_common()) or "-"


def rows(model: Model) -> list[str]:
    """One line a mode."""
    found = {mode: outcome(model, mode) for mode in MODES}
    off = found["off"]
    lines: list[str] = []
    for mode, x in found.items():
        marked, rest = len(x.of("passed")), len(x.of("missed"))
        equal = "equal" if x.outputs == off.outputs else "DIFFERENT"
        count = "" if mode == "off" else f"{marked} of {marked + rest}"
        lines.append(
            f"| {model.name if mode == 'off' else ''} | {mode} | {count} | {reasons(x)} | {x.report.tasks} | "
            f"{x.report.unmoved_bytes:,} | {x.report.peak_bytes:,} | {equal} |"
        )
    return lines


def main() -> None:
    """Write the page; models that are not installed are named and left out."""
    by_name = {model.name: model for model in SHARED_MODELS + LIGHT_MODELS}
    lines = [
        "| model | mode | marked | reasons of the rest | tasks | not copied | peak | outputs |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | --- |",
    ]
    for name in NAMES:
        model = by_name[name]
        if model.path is None:
            print(f"left out {name}: {model.why}")
            continue
        made = rows(model)
        print("\n".join(made), flush=True)
        lines += made
    PAGE.write_text(HEAD + "\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
