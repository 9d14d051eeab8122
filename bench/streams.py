"""Streams and events of real models and of generated graphs, mode by mode; `--write` makes docs/streams_models.md.

    python bench/streams.py [--full] [--write] [--json FILE] [NAME ...]

Models are compiled in every mode and run on the emulator (device profile `ascend-2024`), with outputs compared to
those on one stream. Generated graphs are assigned and synchronised, not run: their times are those of the scheduler's
own simulation with the least set of events. Without `--full` three models and graphs of 1,000 nodes; with it all shared
models and graphs of 1,000, of 10,000 and (not in all modes) of 100,000 nodes, the time of the smallest being the median
of three runs. Beside each stands the speed of a plain walk over the same graph, before the first pass.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from feeds import make_feeds
from models import ROOT, SHARED_MODELS, Model
from stream_graphs import HOSTILE, NETWORKS, module_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from ge_dialect.analysis.remarks import Remark, RemarkCollector, collect_remarks
from ge_dialect.analysis.streams.nodes import StreamModel, stream_of
from ge_dialect.dialects.collector import collector_paused
from ge_dialect.dialects.ge.access import get_int, graphs, static_shape
from ge_dialect.program import Program, context, load, make_passes
from ge_dialect.runtime import DeviceOptions
from ge_dialect.transforms.streams.own_streams import taking_part
from ge_dialect.transforms.streams.schedule.choice import best_order, best_streams
from ge_dialect.transforms.streams.schedule.graph import DEFAULT_DEVICE, Clock
from ge_dialect.transforms.streams.schedule.problem import Problem, SyncTimes, in_new_order
from ge_dialect.transforms.streams.schedule.simulation import simulate

PAGE = ROOT / "docs" / "streams_models.md"
MODES = (
    "single",
    "multi",
    "LoadBalance:2",
    "LoadBalance:4",
    "MainStream:4",
    "WeightedLoadBalance:4",
    "schedule:2",
    "schedule:4",
    "max-concurrency",
)
SHORT_MODELS = ("squeezenet_slim", "inception_v3_slim", "moe_dense_slim")
EVENTS = "ge-activate-streams,ge-insert-events,ge-optimize-events"  # the reference's three optimisations and switches


@dataclass(frozen=True)
class Row:
    """One graph in one mode. `inserted`: an event an edge; then what is left after each optimisation of the reference
    (`send`, `recv`, `activation` with switches) and `minimal`. Times in microseconds of the device; `bound`: no
    schedule on so many streams takes less. `seconds`: streams, events and minimisation; `walk`: a walk over the
    graph."""

    graph: str
    nodes: int
    mode: str
    streams: int
    inserted: int
    send: int
    recv: int
    activation: int
    minimal: int
    makespan: float | None
    bound: float
    seconds: float
    walk: float

    def cells(self) -> list[str]:
        """The row of the table."""
        time_us = "" if self.makespan is None else f"{self.makespan:,.0f}"
        over = "" if not self.makespan or not self.bound else f"{self.makespan / self.bound:.3f}"
        counts = (self.streams, self.inserted, self.send, self.recv, self.activation, self.minimal)
        return [
            self.graph,
            self.mode,
            *(f"{x:,}" for x in counts),
            time_us,
            f"{self.bound:,.0f}",
            over,
        ]


HEADS = [
    "graph",
    "mode",
    "streams",
    "inserted",
    "send",
    "recv",
    "activation",
    "minimal",
    "us",
    "bound",
    "us/bound",
]


def order_pass(mode: str) -> str:
    """The pass that a mode wants before the assignment."""
    name, _, number = mode.partition(":")
    return f"ge-schedule-order{{streams={number}}}," if name == "schedule" else ""


def walk_seconds(module: ModuleOp) -> float:
    """Processor time of reading one attribute of every node and of each node that it reads: the least of any pass."""
    start = time.process_time()
    for op in graphs(module)[0].block.ops:
        get_int(op, "ge.stream")
        for operand in op.operands:
            if isinstance(operand, OpResult):
                get_int(operand.op, "ge.stream")
    return time.process_time() - start


def assign(module: ModuleOp, mode: str) -> tuple[list[Remark], float, float]:
    """Streams, events and the least set of them; remarks, and seconds of processor time for that and for a walk.

    The cycle collector rests, as it does in the tools (`collector_paused`).
    """
    passes = make_passes(
        f'{order_pass(mode)}ge-assign-streams{{mode="{mode}"}},{EVENTS},ge-minimize-events'
    )
    heard = RemarkCollector()
    gc.collect()
    with collector_paused():
        walk = walk_seconds(module)
        start = time.process_time()
        for each in passes:
            # The certificate of the last pass is not part of the work.
            if each.name == "ge-minimize-events":
                each.apply(context(), module)
                continue
            with collect_remarks(heard):
                each.apply(context(), module)
        seconds = time.process_time() - start
    return heard.remarks, seconds, walk


def problem_of(module: ModuleOp) -> tuple[Problem, list[int]]:
    """The scheduling problem of the root graph, and the streams of its nodes from 0."""
    model = StreamModel(module)
    view = model.graphs[0]
    part = taking_part(view, model.engines)
    numbers: dict[int, int] = {}
    streams = [stream_of(view.nodes[index]) for index in part.nodes]
    return Clock(model, DEFAULT_DEVICE).problem(view, part), [
        numbers.setdefault(stream, len(numbers)) for stream in streams
    ]


def counts(remarks: Sequence[Remark], module: ModuleOp) -> dict[str, int]:
    """The numbers of events, step by step."""
    added = sum(int(x.args["added"] or 0) for x in remarks if x.pass_name == "ge-insert-events")
    dropped = {name: 0 for name in ("by_send", "by_recv", "by_activation", "by_switch")}
    for remark in remarks:
        if remark.pass_name == "ge-optimize-events":
            for name in dropped:
                dropped[name] += int(remark.args[name] or 0)
    send = added - dropped["by_send"]
    recv = send - dropped["by_recv"]
    return {
        "inserted": added,
        "send": send,
        "recv": recv,
        "activation": recv - dropped["by_activation"] - dropped["by_switch"],
        "minimal": get_int(graphs(module)[0], "ge.event_num", 0) or 0,
    }


def row_of(name: str, mode: str, module: ModuleOp, makespan: float | None, limit: int = 256) -> Row:
    """Assign, synchronise and simulate; `makespan` is the emulator's, None to simulate here."""
    nodes = sum(1 for _ in graphs(module)[0].block.ops)
    remarks, seconds, walk = assign(module, mode)
    problem, streams = problem_of(module)
    count = len(set(streams))
    if makespan is None and count <= limit:
        makespan = simulate(problem, streams).makespan
    number = mode.partition(":")[2]
    bound = problem.bound(int(number) if number else max(count, 1))
    return Row(
        name,
        nodes,
        mode,
        count,
        **counts(remarks, module),
        makespan=makespan,
        bound=bound,
        seconds=seconds,
        walk=walk,
    )


# --- models -----------------------------------------------------------------------------------------------------------


def until_sorted(model: Model) -> ModuleOp:
    """The graph as streams are assigned to it."""
    assert model.path is not None
    module = load(model.path, dims=model.dims) if model.dims else load(model.path)
    for each in make_passes("ge-pipeline{until=ge-topo-sort}"):
        each.apply(context(), module)
    return module


def rows_of_model(model: Model, modes: Sequence[str]) -> Iterator[Row]:
    """The model in every mode, run on the emulator with tasks in random order; outputs are those on one stream."""
    assert model.path is not None
    feeds = make_feeds(model.path, model.dims)
    sorted_graph = until_sorted(model)
    expected: dict[str, bytes] = {}
    for mode in modes:
        module = sorted_graph.clone()
        passes = make_passes(f'ge-pipeline{{streams="{mode}"}}')
        behind = 1 + next(i for i, each in enumerate(passes) if each.name == "ge-topo-sort")
        for each in passes[behind:]:
            each.apply(context(), module)
        options = DeviceOptions(profile=DEFAULT_DEVICE, order="random", seed=1)
        result = Program(module, options).run(feeds)
        outputs = {name: np.asarray(value).tobytes() for name, value in result.outputs.items()}
        expected = expected or outputs
        if outputs != expected:
            raise SystemExit(f"{model.name}: other outputs in mode {mode}")
        yield row_of(model.name, mode, sorted_graph.clone(), result.report.host_us["idle"])


def elements_row(model: Model) -> list[str]:
    """List scheduling by another cost model: output elements + 256 a node, 128 from stream to stream."""
    module = until_sorted(model)
    for each in make_passes("ge-assign-streams{mode=multi}"):
        each.apply(context(), module)
    stream_model = StreamModel(module)
    view = stream_model.graphs[0]
    part = taking_part(view, stream_model.engines)
    device, _ = problem_of(module)
    times = [
        256.0 + sum(_elements(result.type) for result in view.nodes[index].results) if time else 0.0
        for index, time in zip(part.nodes, device.times, strict=True)
    ]
    problem = Problem(times, part.sources, SyncTimes(latency=128.0), device.lanes)
    path = problem.critical_path()
    cells = [model.name, f"{len(times):,}", f"{problem.work / path:.2f}" if path else "1.00"]
    for limit in (2, 4):
        order = best_order(problem, limit)
        best = best_streams(
            problem if order is None else in_new_order(problem, order), limit
        ).outcome
        cells += [
            str(best.streams),
            str(best.events),
            f"{best.makespan / problem.bound(limit):.3f}",
        ]
    return cells


def _elements(kind: object) -> int:
    shape = static_shape(kind)  # pyright: ignore[reportArgumentType]
    return int(np.prod(shape, dtype=np.int64)) if shape is not None else 0


# --- output -----------------------------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(each)} |" for each in lines)


HEAD = """<!-- Written by bench/streams.py from real runs; changes made here are lost. -->

# Streams of real models and of generated graphs

What each `mode` of [`ge-assign-streams`](streams.md) makes of a graph. This page is written by

    make setup && .venv/bin/python bench/streams.py --full --write

* **inserted**: an event for each edge between two streams; **send**, **recv**, **activation**: what the reference's
  three optimisations leave, one after the other; **minimal**: what [`ge-minimize-events`](synchronisation.md) leaves.
* **us**: time of a step on the device under the profile `ascend-2024` (kernels by a roofline, at least 5 us; record and
  wait 1 us each). Models run on the emulator, in a random order of tasks, with the bits of one stream as output; modes
  of the reference with its own set of events, `schedule` and `max-concurrency` with the minimal one. Streams share no
  unit there: kernels of two streams run side by side.
* **bound**: the longest chain of nodes, or all work shared evenly by the streams that the mode may use, whatever is
  more; events cost nothing in it, so it is not always reached.
"""

ELEMENTS = """
## Another cost model

`schedule` on the same graphs when a node takes its output's elements + 256 (nodes without task nothing) and an event
delays by 128 and takes no time itself. `par`: all work by the longest chain.
"""

GENERATED = """
## Generated graphs

`bench/stream_graphs.py`; not run, so **us** is what the scheduler's simulation gives with minimal events (left out
above 256 streams and at 100,000 nodes, where not all modes are measured). **nodes/s**: for streams,
events and minimisation, in one thread; **walk nodes/s**: for reading one attribute of each node and of those that it
reads, before the first pass, when no cache holds the graph whatever its size.
"""


GENERATED_MODES = ("single", "multi", "LoadBalance:4", "schedule:4", "max-concurrency")
LARGE = 100_000
AT_LARGE = {
    "multi": {*NETWORKS, *HOSTILE},
    "schedule:4": {"layered", "transformer", "far_edges"},
    "max-concurrency": {*NETWORKS, "bipartite", "far_edges"},
}
"""What is measured at 100,000 nodes, by mode: all shapes for what every model goes through, so that the whole takes
minutes."""


def generated_rows(
    sizes: Sequence[int], names: Sequence[str], modes: Sequence[str]
) -> Iterator[Row]:
    """The generated graphs in every mode."""
    for name, shape in {**NETWORKS, **HOSTILE}.items():
        if names and name not in names:
            continue
        for size in sizes:
            made = shape(size)
            for mode in modes:
                if size >= LARGE and name not in AT_LARGE.get(mode, ()):
                    continue
                # The simulation of large graphs takes as long as all that is measured here: events are counted alone.
                limit = 256 if size < LARGE else 0
                rows = [
                    row_of(f"{name} {size:,}", mode, module_of(made), None, limit)
                    for _ in range(3 if size < 10_000 and len(sizes) > 1 else 1)
                ]
                yield replace(
                    rows[0],
                    seconds=statistics.median(row.seconds for row in rows),
                    walk=statistics.median(row.walk for row in rows),
                )


def main() -> None:
    """Print, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models and generated graphs (default: all)")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--write", action="store_true", help="write docs/streams_models.md")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    wanted = args.names or (None if args.full else SHORT_MODELS)
    models = [
        m for m in SHARED_MODELS if m.path is not None and (wanted is None or m.name in wanted)
    ]
    modes = MODES if args.full else GENERATED_MODES
    sizes = (1_000, 10_000, LARGE) if args.full else (1_000,)
    rows: list[Row] = []
    made: list[Row] = []
    elements: list[list[str]] = []

    def save() -> None:
        if args.json:
            args.json.write_text(json.dumps([asdict(row) for row in rows + made], indent=1))
        if args.write:
            PAGE.write_text(
                page([row.cells() for row in rows], elements, [speed(row) for row in made])
            )

    print_cells([*HEADS, "nodes/s"])
    for model in models:
        for row in rows_of_model(model, modes):
            rows.append(row)
            print_cells(row.cells())
    elements += (elements_row(model) for model in models)
    save()
    for row in generated_rows(sizes, args.names, GENERATED_MODES):
        made.append(row)
        print_cells(speed(row))
        save()


def print_cells(cells: Sequence[object]) -> None:
    """A line of the table: the graph and the mode to the left, figures to the right."""
    graph, mode, *figures = map(str, cells)
    print(f"{graph:22} {mode:21}", *(f"{each:>10}" for each in figures), flush=True)


def speed(row: Row) -> list[str]:
    """The row of a generated graph, with nodes a second."""
    return [
        *row.cells(),
        f"{row.nodes / row.seconds:,.0f}",
        f"{row.nodes / max(row.walk, 1e-9):,.0f}",
    ]


def page(
    models: Sequence[Sequence[str]],
    elements: Sequence[Sequence[str]],
    made: Sequence[Sequence[str]],
) -> str:
    """The page of three tables."""
    heads = ["model", "nodes", "par", *("streams", "events", "time/bound") * 2]
    parts = [
        HEAD,
        table(HEADS, models),
        ELEMENTS,
        "Left: at most two streams, right: at most four.\n",
        table(heads, elements),
        GENERATED,
        table([*HEADS, "nodes/s", "walk nodes/s"], made),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
