"""How well and how fast offset packing places buffers, beside the hill climb of ethos-u-vela (PyPI) in the same run.

    python bench/packing.py [--budget-ms N] [--minimise] [--python] [--without FEATURE ...] [--json FILE] CSV ...

A CSV lists `id,lower,upper,size`; a number in its name (`A.1048576.csv`) is the capacity that the plan must keep. With
`--minimise` it is ignored and the fewest bytes are sought for the whole budget. `--python` does without the compiled
kernel, `--without` without one technique of the search. Peaks are given as multiples of the most bytes alive at once.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ge_dialect.analysis.packing import Options, check_plan, lower_bound, plan
from ge_dialect.analysis.packing.csv_format import Table, read_table
from ge_dialect.analysis.packing.outcome import Feature

Row = dict[str, str | int | float | bool | None]


def vela_hill_climb() -> Callable[[Table], list[int]] | None:
    """Vela's allocator on a table; None where it is not installed (`pip install ge-dialect[bench]`).

    It is told no capacity, as it would then run 99 999 rounds whatever comes out: it ends 500 rounds after its last
    improvement.
    """
    if find_spec("ethosu") is None:
        return None
    allocate: Any = import_module("ethosu.vela.hillclimb_allocation").allocate_live_ranges
    live_range: Any = import_module("ethosu.vela.live_range").LiveRange

    def run(table: Table) -> list[int]:
        # It keeps lists by moment: only the order of the moments is given to it, not their distances.
        moments = {at: i for i, at in enumerate(sorted({*table.lower, *table.upper}))}
        ranges: list[Any] = []
        for lower, upper, size in zip(table.lower, table.upper, table.sizes, strict=True):
            item = live_range(None, 1)
            item.start_time, item.end_time, item.size = moments[lower], moments[upper] - 1, size
            ranges.append(item)
        return list(allocate(ranges, None, 1 << 60))

    return run


def capacity_in(path: Path) -> int | None:
    """The number in `A.1048576.csv`."""
    parts = path.name.split(".")
    return int(parts[-2]) if len(parts) > 2 and parts[-2].isdecimal() else None


def measure(path: Path, options: Options, vela: Callable[[Table], list[int]] | None) -> Row:
    """One row of the table."""
    table = read_table(path.read_text(), str(path))
    problem = table.problem()
    bound = lower_bound(problem).bytes
    start = time.process_time()
    found = plan(problem, options)
    seconds = time.process_time() - start
    faults = check_plan(problem, found.offsets)
    assert not faults, faults
    row: Row = {
        "file": path.name,
        "buffers": problem.count,
        "bound": bound,
        "peak": found.peak,
        "ratio": found.peak / bound,
        "fits": None if options.capacity is None else found.peak <= options.capacity,
        "by": found.method,
        "nodes": found.nodes,
        "seconds": seconds,
        "wall": found.seconds,
    }
    if vela is not None:
        start = time.process_time()
        offsets = vela(table)
        peak = max(at + size for at, size in zip(offsets, table.sizes, strict=True))
        assert not check_plan(problem, offsets)
        row |= {"vela ratio": peak / bound, "vela seconds": time.process_time() - start}
    return row


def show(rows: Sequence[Row]) -> None:
    """Print the table and its means."""
    print(
        f"{'file':34} {'n':>6} {'bound':>10} {'peak/bound':>10} {'fits':>5} {'cpu s':>8} {'nodes':>9} ",
        end="",
    )
    print(f"{'vela/bound':>10} {'cpu s':>7}  by")
    for row in rows:
        fits = {None: "", True: "yes", False: "no"}[row["fits"]]
        print(
            f"{row['file']:34} {row['buffers']:6} {row['bound']:10} {row['ratio']:10.4f} {fits:>5} "
            f"{row['seconds']:8.3f} {row['nodes']:9} {row.get('vela ratio', math.nan):10.4f} "
            f"{row.get('vela seconds', math.nan):7.2f}  {row['by']}"
        )
    count = len(rows)
    ratio = sum(float(row["ratio"] or 0) for row in rows) / count
    seconds = sum(float(row["seconds"] or 0) for row in rows)
    print(
        f"mean ratio {ratio:.4f}, {sum(bool(row['fits']) for row in rows)} of {count} fit, {seconds:.2f} s in all"
    )
    if "vela ratio" in rows[0]:
        print(f"vela: mean ratio {sum(float(row['vela ratio'] or 0) for row in rows) / count:.4f}")


def main() -> None:
    """Print the table and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--budget-ms", type=int, default=60_000)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--without", action="append", default=[], choices=[x.name for x in Feature])
    parser.add_argument("--no-vela", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    features = Feature.ALL
    for name in args.without:
        features &= ~Feature[name]
    vela = None if args.no_vela else vela_hill_climb()
    if vela is None and not args.no_vela:
        print("ethos-u-vela is not installed: its columns are empty")
    rows = [
        measure(
            path,
            Options(
                None if args.minimise else capacity_in(path),
                args.budget_ms,
                not args.python,
                features,
            ),
            vela,
        )
        for path in args.files
    ]
    show(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
