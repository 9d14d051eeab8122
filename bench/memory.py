"""Writes docs/memory_models.md: planned bytes of real models beside lower bounds, onnxruntime and IREE.

    python bench/memory.py [--buffers FOLDER] [--no-growth] [--page FILE] [--json FILE]

Peaks and bounds do not depend on the machine (but see `budget-ms`); seconds are of CPU, in this run. Figures of
onnxruntime and IREE are quoted from `bench/memory_anchors.csv`, which says how they were measured.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models import ALL_MODELS, Model, installed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.analysis.packing import Options, check_plan, plan
from ge_dialect.analysis.packing.csv_format import read_table
from ge_dialect.dialects.attrs import i64, string, text_of
from ge_dialect.dialects.ge import DataOp, GraphOp, NetOutputOp, OpOp
from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.program import context, load, make_passes
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "memory_models.md"
ANCHORS = Path(__file__).resolve().parent / "memory_anchors.csv"
BUFFERS = Path(os.environ.get("GE_BUFFERS", ROOT.parent / "shared" / "bench" / "model_buffers"))
WAYS = ("single", "LoadBalance:4")

HEAD = """<!-- Written by bench/memory.py from real runs; changes made here are lost. -->

# Memory of real models

Bytes of feature map (what lies between model inputs and outputs) that `ge-plan-memory` plans, on one stream and on up
to four (`ge-pipeline{streams="LoadBalance:4"}`). [Memory planning](memory.md) says what the modes do. This page is
written by

    make setup && .venv/bin/python bench/memory.py

* **reference**: `mode=reference`, as GE's block assigner does it. **optimal**: `mode=optimal in-place=false`.
  **in place**: `mode=optimal`, the default of `ge-pipeline`.
* **bound**: what no plan for the same order, or on several streams for the same waits, can do without; **merged
  bound**: the same when operators write in place. Why is behind it: L most alive at once, A the heaviest antichain, O
  most alive in one order (which is the antichain too when the plan needs no more), S all plans with less were tried.
  **ratio**: in place to merged bound.
* **s**: seconds of CPU for planning in place, all of the pass.
"""
ANCHOR_TEXT = """## Beside other planners

One stream. Figures of onnxruntime 1.32.0 and IREE 3.13.0 (llvm-cpu) are quoted, not measured here: onnxruntime's peak
of activation memory in a warm run with the arena off, for the graph as it is and optimised; IREE's transient bytes by
its statistics pass. Both fuse operators, which shortens what must be held, and onnxruntime's figures hold scratch
memory of convolutions. **64-byte bound** is the merged bound of the same graph when blocks are rounded up to 64 bytes
and Concat copies. Ours are GE's, 32 bytes more than the tensor, rounded up to 512, which is what small tensors
(gpt2) cost; where the ratio is below 1 nodes without task need less.
"""
BUFFER_TEXT = """## Life times of the same models without a graph

Life times and sizes of their intermediates in blocks of 64 bytes, without sharing by views or in place, packed by
`ge_dialect.analysis.packing` with the default options of the pass.
"""
GROWTH_TEXT = """## Growth

Random graphs (`bench/memory.py` makes them): each node reads one to three of the last values of its stream, one in a
hundred something old, on several streams one in twenty another stream's.
"""


@dataclass(frozen=True)
class Planned:
    """One plan of one model."""

    peak: int
    bound: int
    kind: str
    plain_bound: int
    seconds: float


def planned(module: ModuleOp, **options: Any) -> Planned | None:
    """The plan of a module that has streams; None where shapes are known at run time only."""
    started = time.process_time()
    GePlanMemory(**options).apply(context(), module)
    seconds = time.process_time() - started
    graph = graphs(module)[0]
    peak, bound = get_int(graph, "ge.peak_bytes"), get_int(graph, "ge.lower_bound_bytes")
    plain = get_int(graph, "ge.plain_bound_bytes")
    if peak is None or bound is None or plain is None:
        return None
    return Planned(
        peak, bound, text_of(graph.attributes["ge.lower_bound_kind"]) or "", plain, seconds
    )


def plans(model: Model, streams: str) -> tuple[Planned, Planned, Planned] | None:
    """Reference, optimal and optimal in place."""
    assert model.path is not None
    module = load(model.path, dims=model.dims)
    text = f'ge-pipeline{{streams="{streams}" until=ge-assign-streams}}'
    for each in make_passes(text):
        each.apply(context(), module)
    if not graphs(module):
        return None
    found: list[Planned] = []
    for options in ({"mode": "reference"}, {"in_place": False}, {}):
        made = planned(module, **options)
        if made is None:
            return None
        found.append(made)
    return found[0], found[1], found[2]


LETTERS = {
    "max live": "L",
    "antichain": "A",
    "max live in one order": "O",
    "search": "S",
    "given": "L",
}


def model_rows(
    models: Sequence[Model], streams: str, found: dict[str, dict[str, Any]]
) -> list[str]:
    """The lines of the table for one way of assigning streams; figures go into `found` too."""
    rows: list[str] = []
    for model in models:
        three = plans(model, streams)
        if three is None:
            continue
        reference, optimal, in_place = three
        assert in_place.peak <= reference.peak
        ratio = in_place.peak / in_place.bound if in_place.bound else 1.0
        rows.append(
            f"| {model.name} | {reference.peak:,} | {optimal.peak:,} | {optimal.bound:,} {LETTERS[optimal.kind]} | "
            f"{in_place.peak:,} | {in_place.bound:,} {LETTERS[in_place.kind]} | {ratio:.4f} | {in_place.seconds:.2f} |"
        )
        print(rows[-1], flush=True)
        found.setdefault(model.name, {})[streams] = {
            "reference": reference.peak,
            "optimal": optimal.peak,
            "bound": optimal.bound,
            "in place": in_place.peak,
            "merged bound": in_place.bound,
            "kind": in_place.kind,
            "seconds": in_place.seconds,
        }
    return rows


def anchor_rows(found: dict[str, dict[str, Any]]) -> list[str]:
    """Ours beside what others need."""
    rows: list[str] = []
    with ANCHORS.open() as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if row["model"] not in found or "single" not in found[row["model"]]:
                continue
            own = found[row["model"]]["single"]["in place"]
            merged = int(row["merged_bound"]) if row["merged_bound"] else None
            cells = [
                f"{int(row[key]):,}" if row[key] else ""
                for key in ("ort_as_is", "ort_optimised", "iree_transient")
            ]
            share = f"{own / merged:.3f}" if merged else ""
            rows.append(
                f"| {row['model']} | {own:,} | {merged or 0:,} | {share} | {' | '.join(cells)} |"
            )
    return rows


def buffer_rows(folder: Path) -> list[str]:
    """The files of life times."""
    rows: list[str] = []
    for path in sorted(folder.glob("*.csv")):
        problem = read_table(path.read_text(), str(path)).problem()
        nodes = 10_000_000 // max(problem.count, 1)
        started = time.process_time()
        made = plan(problem, Options(budget_ms=1000, most_nodes=nodes))
        seconds = time.process_time() - started
        assert not check_plan(problem, made.offsets)
        ratio = made.peak / made.bound.bytes
        rows.append(
            f"| {path.name.split('.')[0]} | {problem.count} | {made.peak:,} | {made.bound.bytes:,} | {ratio:.4f} "
            f"| {seconds:.2f} |"
        )
        print(rows[-1], flush=True)
    return rows


# --- growth ---------------------------------------------------------------------------------------------------------


def random_graph(count: int, streams: int, seed: int = 0) -> GraphOp:
    """`count` nodes on `streams` streams in runs of about 25."""
    rng = random.Random(seed)
    kinds = [TensorType(f32, [size]) for size in (100, 1000, 4000, 16000, 64000)]
    x = DataOp.make((), (kinds[2],), {"index": i64(0)}, {"ge.name": string("x")})
    ops: list[Operation] = [x]
    recent: list[list[SSAValue]] = [[x.results[0]] for _ in range(streams)]
    old: list[SSAValue] = [x.results[0]]
    for index in range(count):
        stream = (index // 25 + rng.randrange(2)) % streams
        read = [rng.choice(recent[stream][-8:]) for _ in range(rng.choice([1, 1, 2]))]
        if rng.random() < 0.05:
            read.append(rng.choice(recent[rng.randrange(streams)][-8:]))
        if rng.random() < 0.01:
            read.append(rng.choice(old))
        marks: dict[str, Attribute] = {"ge.name": string(f"n{index}")}
        if streams > 1:
            marks["ge.stream"] = i64(stream)
        kind = rng.choice(("Relu", "Foo", "Add", "MatMul"))
        op = OpOp.make(read, [rng.choice(kinds)], {"type": string(kind)}, marks)
        ops.append(op)
        recent[stream] = [*recent[stream][-8:], op.results[0]]
        if rng.random() < 0.02:
            old = [*old[-63:], op.results[0]]
    ops.append(NetOutputOp.make([ops[-1].results[0]], (), {}, {"ge.name": string("out")}))
    graph = GraphOp("main")
    graph.block.add_ops(ops)
    return graph


def growth_rows(counts: Sequence[int]) -> list[str]:
    """Seconds of planning by the number of nodes."""
    rows: list[str] = []
    for streams in (1, 4):
        for count in counts:
            module = ModuleOp([random_graph(count, streams)])
            started = time.process_time()
            GePlanMemory().apply(Context(), module)
            seconds = time.process_time() - started
            graph = graphs(module)[0]
            peak, bound = get_int(graph, "ge.peak_bytes", 0), get_int(graph, "ge.lower_bound_bytes")
            kind = text_of(graph.attributes["ge.lower_bound_kind"]) or ""
            rows.append(
                f"| {streams} | {count:,} | {seconds:.2f} | {seconds / count * 1e6:.0f} "
                f"| {(peak or 0) / (bound or 1):.3f} {LETTERS[kind]} |"
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--buffers", type=Path, default=BUFFERS)
    parser.add_argument(
        "--no-growth", action="store_true", help="leave out the large random graphs"
    )
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    parts = [HEAD]
    head = "| model | reference | optimal | bound | in place | merged bound | ratio | s |"
    rule = "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    models = installed(ALL_MODELS)
    for streams, title in zip(WAYS, ("One stream", "Up to four streams"), strict=True):
        print(f"\n{title}\n{head}")
        rows = model_rows(models, streams, found)
        parts.append("\n".join([f"## {title}\n", head, rule, *rows]) + "\n")
    head = "| model | in place | 64-byte bound | ratio | onnxruntime, as it is | optimised | IREE transient |"
    rule = "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    parts.append("\n".join([ANCHOR_TEXT, head, rule, *anchor_rows(found)]) + "\n")
    if args.buffers.is_dir():
        head = "| model | buffers | peak | bound | ratio | s |\n| --- | ---: | ---: | ---: | ---: | ---: |"
        parts.append("\n".join([BUFFER_TEXT, head, *buffer_rows(args.buffers)]) + "\n")
    if not args.no_growth:
        head = "| streams | nodes | s | us a node | peak / bound |\n| ---: | ---: | ---: | ---: | ---: |"
        print(f"\nRandom graphs\n{head}")
        parts.append("\n".join([GROWTH_TEXT, head, *growth_rows((1000, 10_000, 100_000))]) + "\n")
    args.page.write_text("\n".join(parts))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
