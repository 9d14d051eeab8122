"""The files that ge-run reads and writes: one or one a rank, all of them or none."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from ge_dialect.runtime import RunResult
from ge_dialect.runtime.timeline import chrome_trace_json
from ge_dialect.tools.npz import write_npz_to
from ge_dialect.tools.output import check_targets, whole_file


def of_ranks(path: str | None, ranks: int) -> list[str]:
    """The files that an option names: none, one for all ranks or, with `{rank}` in it, one a rank."""
    if path is None:
        return []
    return [path.replace("{rank}", str(i)) for i in range(ranks)] if "{rank}" in path else [path]


def check_files(args: argparse.Namespace, tool: str) -> None:
    """Raise GeError when ge-run would write a file over another one of its command line."""
    read = {"the model": args.model, "--weights": args.weights}
    read |= {f"--inputs {path}": path for path in of_ranks(args.inputs, args.ranks)}
    written = {f"--outputs {path}": path for path in of_ranks(args.outputs, args.ranks)}
    check_targets(read, {**written, "--timeline": args.trace}, tool)


def write_files(args: argparse.Namespace, result: RunResult) -> None:
    """Write what `--outputs` and `--timeline` name; when one file cannot be written the others stay as they were.

    Raises OSError, and GeError for an output that an npz cannot hold.
    """
    with ExitStack() as files:
        for path, outputs in zip(of_ranks(args.outputs, args.ranks), result.ranks, strict=False):
            write_npz_to(files.enter_context(whole_file(path, "wb")), outputs)
        if args.trace is not None:
            trace = files.enter_context(whole_file(args.trace))
            trace.write(chrome_trace_json(result.timeline, result.flows))
