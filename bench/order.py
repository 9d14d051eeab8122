"""What the order of nodes is worth in memory: modes of ge-topo-sort on models and on random graphs.

    python bench/order.py            every shared model, packaged ones where they are installed, random graphs
    python bench/order.py --growth   time of min-peak on random graphs of 1k to 100k nodes

Bytes are of the feature map for one stream: what ge-plan-memory needs, with a star where that is not its lower bound
for the order. "least" is what no order goes below, as far as ge-topo-sort knows ("=" where it is reached, "?" where
it left the order alone); "share" is the part of min-peak in the time from the model's file to the ordered graph.
"""

from __future__ import annotations

import random
import sys
from time import perf_counter

from models import ALL_MODELS, Model
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.ordering import OrderProblem, Overwrite, Unit, exact_peak, min_peak
from ge_dialect.analysis.remarks import RemarkCollector, collect_remarks
from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.formats.errors import GeError
from ge_dialect.program import compile
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.order.ge_topo_sort import GeTopoSort, OrderMode

MODES: tuple[OrderMode, ...] = ("stable", "bfs", "dfs", "rdfs", "min-peak")


def row(model: Model) -> str | None:
    """A line of the table, None for a model that is not installed or not of known shape."""
    if model.path is None:
        return None
    start = perf_counter()
    try:
        pipeline = "ge-pipeline{until=ge-insert-identity}"
        module = compile(model.path, dims=model.dims, pipeline=pipeline).module
    except GeError as error:
        print(f"{model.name}: {error}", file=sys.stderr)
        return None
    whole = perf_counter() - start
    if not is_known(module):
        return None
    peaks: list[int] = []
    cells: list[str] = []
    least: int | None = None
    for mode in MODES:
        copy = module.clone()
        seconds, remarks = _sort(copy, mode)
        GePlanMemory(check=True).apply(Context(), copy)
        root = graphs(copy)[0]
        bound = get_int(root, "ge.lower_bound_bytes") or 0
        peaks.append(get_int(root, "ge.peak_bytes") or 0)
        cells.append(f"{peaks[-1]:,}{'' if peaks[-1] == bound else '*'}")
        if mode == "min-peak":
            least = _stated_bound(remarks)
            whole = seconds / (whole + seconds)
    gain = 1 - peaks[-1] / peaks[0] if peaks[0] else 0.0
    proof = "?" if least is None else "=" if least == peaks[-1] else f"{least:,}"
    return f"| {model.name} | {' | '.join(cells)} | {proof} | {gain:.1%} | {whole:.0%} |"


def _stated_bound(remarks: RemarkCollector) -> int | None:
    for remark in remarks.remarks:
        if isinstance(bound := remark.args.get("bound"), int):
            return bound
    return None


def _sort(module: ModuleOp, mode: OrderMode) -> tuple[float, RemarkCollector]:
    start = perf_counter()
    with collect_remarks(RemarkCollector()) as remarks:
        GeTopoSort(mode).apply(Context(), module)
    return perf_counter() - start, remarks


def random_problem(seed: int, count: int) -> OrderProblem:
    """Layered at random: each node reads up to two of the eight before it; some can write in place."""
    rng = random.Random(seed)
    after: list[list[int]] = [[] for _ in range(count)]
    for node in range(1, count):
        for source in {rng.randrange(max(0, node - 8), node) for _ in range(rng.randrange(3))}:
            after[source].append(node)
    sizes = [512 * rng.choice([1, 1, 2, 4, 8, 16]) for _ in range(count)]
    units = [Unit(size, sorted({node, *after[node]})) for node, size in enumerate(sizes)]
    before: dict[int, list[int]] = {}
    for source, readers in enumerate(after):
        for node in readers:
            if sizes[source] == sizes[node] and rng.random() < 0.5:
                before.setdefault(node, []).append(source)
    overwrites = {node: Overwrite(sizes[node], found) for node, found in before.items()}
    return OrderProblem(count, after, units, overwrites)


def against_exact(count: int, nodes: int) -> str:
    """How near min-peak comes to the optimum on small random graphs, and how far the given order is from it."""
    found: list[int] = []
    given: list[int] = []
    exact: list[int] = []
    proven = 0
    for seed in range(count):
        problem = random_problem(seed, nodes)
        result = min_peak(problem)
        found.append(result.peak)
        given.append(problem.peak(range(nodes)))
        exact.append(exact_peak(problem))
        proven += result.peak == result.bound
    hits = sum(a == b for a, b in zip(found, exact, strict=True))
    worst = max(a / b for a, b in zip(found, exact, strict=True))
    mean = sum(a / b for a, b in zip(given, exact, strict=True)) / count
    return (
        f"{count} random graphs of {nodes} nodes: optimal on {hits}, worst ratio {worst:.3f}, "
        f"proven by itself on {proven}; the given order takes {mean:.3f} times the optimum on the mean"
    )


def growth() -> None:
    """Time a node as graphs grow."""
    print("| nodes | given order | min-peak | bound | seconds | us a node |")
    print("| --- | --- | --- | --- | --- | --- |")
    for count in (1_000, 3_000, 10_000, 30_000, 100_000):
        problem = random_problem(1, count)
        start = perf_counter()
        found = min_peak(problem)
        seconds = perf_counter() - start
        given = problem.peak(range(count))
        print(
            f"| {count:,} | {given:,} | {found.peak:,} | {found.bound:,} | {seconds:.2f} | "
            f"{seconds / count * 1e6:.0f} |"
        )


def main() -> None:
    if "--growth" in sys.argv:
        growth()
        return
    print(f"| model | {' | '.join(MODES)} | least | gain | share |")
    print(f"| --- | {' | '.join('---' for _ in MODES)} | --- | --- | --- |")
    for model in ALL_MODELS:
        if (line := row(model)) is not None:
            print(line, flush=True)
    print()
    print(against_exact(300, 16))


if __name__ == "__main__":
    main()
