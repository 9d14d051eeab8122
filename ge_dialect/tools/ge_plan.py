"""ge-plan: gives the buffers of a CSV file offsets in as few bytes as it can, or within a capacity."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ge_dialect.analysis.packing import Options, Plan, check_plan, plan
from ge_dialect.analysis.packing.csv_format import Table, plan_text, read_table
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.diagnostics import placed_in, run_tool
from ge_dialect.tools.memory_map import MapBuffer, MemoryMap, check_name, write_memory_maps
from ge_dialect.tools.output import check_targets, text_output

TOOL = "ge-plan"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(TOOL, "%(prog)s [options] file", __doc__)
    option = parser.add_argument
    option("file", help="CSV with the columns id,lower,upper,size; - is standard input")
    option("-o", "--output", metavar="F.csv", help="write there instead of standard output")
    option(
        "--capacity",
        type=int,
        metavar="N",
        help="stop at the first plan within N bytes; an error when none is found",
    )
    option(
        "--budget-ms",
        type=int,
        default=60_000,
        metavar="N",
        help="time for the search in milliseconds (default 60000); 0: quick orders only",
    )
    option(
        "--memory-map",
        metavar="F.html|svg|csv",
        help="draw the plan: time across, addresses up",
    )
    return parser


def _run(arguments: Sequence[str]) -> None:
    args = _parser().parse_args(arguments)
    for name in ("capacity", "budget_ms"):
        value = getattr(args, name)
        if value is not None and value < 0:
            raise GeError(f"--{name.replace('_', '-')} should not be negative, got {value}", TOOL)
    if args.memory_map:
        check_name(args.memory_map)  # a wrong name is an error before anything is written
    check_targets({}, {"-o": args.output, "--memory-map": args.memory_map}, TOOL)
    table = _read(args.file)
    with placed_in(args.file):
        problem = table.problem()
        found = plan(problem, Options(args.capacity, args.budget_ms))
        if faults := check_plan(problem, found.offsets):
            raise AssertionError(f"the planner made a wrong plan: {faults[0]}")
        if args.capacity is not None and found.peak > args.capacity:
            raise GeError(_too_large(found, args.capacity))
    with text_output(args.output) as stream:
        # First, while the plan's file is open: when one of the two cannot be written there is neither.
        if args.memory_map:
            write_memory_maps(args.memory_map, [_map_of(args.file, table, found)])
        stream.write(plan_text(table, found.offsets))
    # The plan itself may be on standard output.
    print(_summary(found), file=sys.stderr if args.output in (None, "-") else sys.stdout)


def _read(file: str) -> Table:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise GeError(f"not UTF-8 text: {error.reason} at byte {error.start}", file) from error
    return read_table(text, "<stdin>" if file == "-" else file)


def _summary(found: Plan) -> str:
    bound = found.bound
    ratio = found.peak / bound.bytes if bound.bytes else 1.0
    return (
        f"peak {found.peak} bytes, lower bound {bound.bytes} ({bound.kind}), ratio {ratio:.4f}, "
        f"by {found.method}, {found.nodes} nodes, {found.seconds:.3f} s"
    )


def _too_large(found: Plan, capacity: int) -> str:
    if found.bound.bytes > capacity:
        why = f"no plan needs less than {found.bound.bytes} ({found.bound.kind})"
    else:
        why = f"the best plan found in time needs {found.peak}"
    return f"the buffers do not fit into {capacity} bytes: {why}"


def _map_of(file: str, table: Table, found: Plan) -> MemoryMap:
    rows = zip(
        table.ids, table.lower, table.upper, table.sizes, found.offsets.tolist(), strict=True
    )
    return MemoryMap(
        Path(file).name,
        [MapBuffer(*row) for row in rows],
        found.peak,
        found.bound.bytes,
        found.bound.kind,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line tool; returns the exit code: 0, or 1 for a user's error or buffers that do not fit.

    A wrong option raises SystemExit(2).
    """
    given = sys.argv[1:] if arguments is None else arguments
    return run_tool(lambda: _run(given), TOOL)


if __name__ == "__main__":
    sys.exit(main())
