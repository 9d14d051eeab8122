"""ge-run: lowers a model where needed, runs it on the emulated device, says what that cost and what came out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ge_dialect import program
from ge_dialect.dialects.ge_task import HostOp, ModelOp
from ge_dialect.formats.errors import GeError
from ge_dialect.gears import Gear, GearedExecutable, parse_gears, sizes_among
from ge_dialect.runtime import DeviceOptions, Executable, RunResult, TensorSlot, load
from ge_dialect.runtime.checker import Finding, check
from ge_dialect.tools.diagnostics import run_tool
from ge_dialect.tools.frontends import LocatedMLIRFrontend, parse_dims
from ge_dialect.tools.instrument import verify_located
from ge_dialect.tools.npz import read_npz
from ge_dialect.tools.oracle import compare_with_oracle
from ge_dialect.tools.random_inputs import random_inputs
from ge_dialect.tools.run_files import check_files, of_ranks, write_files
from ge_dialect.tools.run_summary import Summary
from ge_dialect.tools.symbolic_dims import dim_labels, require_dims, with_dims
from ge_dialect.tools.weights_file import load_weights

TOOL = "ge-run"

_LIMITS = {
    "ranks": (1, 1024),
    "repeat": (1, 1_000_000),
    "seed": (0, (1 << 64) - 1),
    "max_tasks": (1, 1 << 62),
}
"""Least and greatest value of the options that are numbers."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(TOOL, "%(prog)s [options] model", __doc__)
    option = parser.add_argument
    option(
        "model", help="an ONNX model, or MLIR text of dialect ge or ge_task; - is standard input"
    )
    option(
        "--inputs",
        metavar="F.npz",
        help="inputs by name (random without it); {rank} in it: one file a rank",
    )
    option(
        "--outputs",
        metavar="F.npz",
        help="write the outputs by name; {rank} in it: one file a rank",
    )
    option("--json", action="store_true", help="print the report as JSON")
    option(
        "--timeline",
        "--trace",
        dest="trace",
        metavar="F.json",
        help="write the simulated timeline for chrome://tracing or Perfetto; implies --costs",
    )
    option(
        "--costs",
        action="store_true",
        help="show the simulated time of each kind of work of host and device as a bar",
    )
    option(
        "--ranks",
        type=int,
        default=1,
        metavar="N",
        help="emulated devices that run the program side by side",
    )
    option(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="fix a symbolic dimension of an ONNX model",
    )
    option(
        "--dynamic",
        action="store_true",
        help="leave all dimensions open in the program; --dim then only sizes the random inputs",
    )
    option(
        "--gears",
        metavar="NAME=N,N,...",
        help="one static program for each value (or for each of NAME=N,NAME=N;NAME=N,NAME=N); the inputs choose",
    )
    option(
        "--pipeline",
        default="ge-pipeline",
        metavar="PASSES",
        help="how a graph is lowered, in ge-opt's syntax: 'ge-pipeline{host-exec=false}', say",
    )
    option(
        "--weights",
        metavar="FILE",
        help="the constants' bytes that MLIR text written with --weights=FILE refers to",
    )
    option(
        "--seed", type=int, default=0, metavar="N", help="of random inputs and of --order random"
    )
    option(
        "--order",
        choices=("round_robin", "random"),
        default="round_robin",
        help="how streams take turns",
    )
    option(
        "--max-tasks",
        type=int,
        default=DeviceOptions().max_tasks,
        metavar="N",
        help="a step that runs more tasks than this is taken for an endless loop",
    )
    option(
        "--profile",
        default="default",
        metavar="NAME|F.toml",
        help="device profile for the simulated clock",
    )
    option(
        "--check",
        action="store_true",
        help="compare the outputs of an ONNX model with onnxruntime's",
    )
    option(
        "--opaque",
        action="store_true",
        help="operators without a kernel give bytes that depend on their inputs",
    )
    option(
        "--accumulate",
        choices=("float32", "float64"),
        default="float32",
        help="in what products of float32 are summed; float64 gives the same bits on any machine",
    )
    option(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="run N steps and report the last, and all wall times",
    )
    return parser


@dataclass(frozen=True, slots=True)
class _Inputs:
    """The inputs of each rank, and the seed when they are random."""

    ranks: list[Mapping[str, Any]]
    seed: int | None


def _run(arguments: Sequence[str]) -> None:
    args = _parser().parse_args(arguments)
    for name, (least, most) in _LIMITS.items():
        value = getattr(args, name)
        if not least <= value <= most:
            bound = f"at least {least}" if value < least else f"at most {most}"
            raise GeError(f"--{name.replace('_', '-')} should be {bound}, got {value}", TOOL)
    check_files(args, TOOL)
    if args.check and (not args.model.endswith(".onnx") or args.ranks > 1):
        raise GeError("--check compares one rank of an .onnx model", TOOL)
    dims = _dims(args)
    if args.gears is None:
        module = _load(args, {} if args.dynamic else dims)
        if args.inputs is None and not args.dynamic:
            require_dims(module, args.model)
        labels = dim_labels(module)
        _lower(module, args.pipeline)
        modules = [module]
        executable = load(module, _options(args))
    else:
        gears = _gears(args)
        sizes = sizes_among(gears, dims)
        labels = dim_labels(_load(args, {}))
        modules, executable = _geared(args, gears, dims)
        dims = sizes
    slots = with_dims(executable.inputs, labels, dims) if _sized(args) else executable.inputs
    inputs = _inputs(args, slots)
    result, wall = _repeat(executable, inputs, args.repeat)
    summary = Summary(
        args.model,
        result.report,
        result.ranks,
        wall,
        inputs.seed,
        executable.opaque_types(),
        [x for module in modules for x in _findings(module)],
        costs=args.costs or args.trace is not None,
    )
    if args.check:
        summary.verdict = compare_with_oracle(args.model, inputs.ranks[0], result.outputs)
    _write(args, result, summary)
    _judge(summary)


def _sized(args: argparse.Namespace) -> bool:
    """Whether --dim sizes random inputs instead of the program."""
    return args.inputs is None and (args.dynamic or args.gears is not None)


def _gears(args: argparse.Namespace) -> list[dict[str, int]]:
    if args.dynamic or not args.model.endswith(".onnx"):
        told = ", which --dynamic does not" if args.dynamic else ""
        raise GeError(f"--gears makes static programs of an .onnx model{told}", TOOL)
    return parse_gears(args.gears)


def _geared(
    args: argparse.Namespace, gears: Sequence[Gear], dims: Mapping[str, int]
) -> tuple[list[ModuleOp], GearedExecutable]:
    """The programs of --gears; dimensions that no gear sets have the values of --dim."""
    fixed = {name: value for name, value in dims.items() if name not in gears[0]}
    modules: list[ModuleOp] = []
    for gear in gears:
        module = _load(args, {**fixed, **gear})
        require_dims(module, args.model)
        _lower(module, args.pipeline)
        modules.append(module)
    return modules, GearedExecutable(gears, [load(x, _options(args)) for x in modules])


def _load(args: argparse.Namespace, dims: Mapping[str, int]) -> ModuleOp:
    """The module of the model, its constants loaded; `-` is MLIR text."""
    if args.model == "-":
        module = LocatedMLIRFrontend().parse(program.context(), sys.stdin.buffer, "<stdin>")
        verify_located(module)
    else:
        module = program.load(args.model, dims=dims)
    if args.weights is not None:
        load_weights(module, args.weights)
    return module


def _dims(args: argparse.Namespace) -> dict[str, int]:
    dims = parse_dims(tuple(args.dim))
    if dims and not args.model.endswith(".onnx") and not args.dynamic:
        raise GeError(
            "--dim fixes dimensions of .onnx models only; with --dynamic it sizes random inputs",
            TOOL,
        )
    return dims


def _lower(module: ModuleOp, pipeline: str) -> None:
    """Run the pipeline on a module of graphs; one that holds a program is only verified."""
    if any(isinstance(op, ModelOp | HostOp) for op in module.body.block.ops):
        module.verify()
    else:
        program.compile(module, pipeline=pipeline)


def _options(args: argparse.Namespace) -> DeviceOptions:
    return DeviceOptions(
        order=args.order,
        seed=args.seed,
        ranks=args.ranks,
        profile=args.profile,
        unknown_kernels="opaque" if args.opaque else "error",
        accumulate=args.accumulate,
        record_timeline=args.trace is not None,
        max_tasks=args.max_tasks,
    )


def _inputs(args: argparse.Namespace, slots: Sequence[TensorSlot]) -> _Inputs:
    if args.inputs is None:
        ranks: list[Mapping[str, Any]] = [
            random_inputs(slots, args.seed + rank) for rank in range(args.ranks)
        ]
        return _Inputs(ranks, args.seed if slots else None)
    given: list[Mapping[str, Any]] = [read_npz(path) for path in of_ranks(args.inputs, args.ranks)]
    return _Inputs(given if len(given) == args.ranks else given * args.ranks, None)


def _repeat(executable: Executable, inputs: _Inputs, count: int) -> tuple[RunResult, list[float]]:
    wall: list[float] = []
    while True:
        result = executable.run_ranks(inputs.ranks)
        wall.append(result.report.wall_us)
        if len(wall) == count:
            return result, wall


def _findings(module: ModuleOp) -> list[Finding]:
    return [x for op in module.body.block.ops if isinstance(op, ModelOp) for x in check(op)]


def _write(args: argparse.Namespace, result: RunResult, summary: Summary) -> None:
    write_files(args, result)
    print(json.dumps(summary.to_dict(), indent=2) if args.json else summary.to_text(), flush=True)


def _judge(summary: Summary) -> None:
    """Raises GeError when the checker proved something wrong or the oracle disagrees."""
    errors = [x for x in summary.findings if x.severity == "error"]
    if errors:
        raise GeError(f"the checker found {len(errors)} errors, the first: {errors[0].message}")
    if summary.verdict is not None and not summary.verdict.passed:
        failed = [x.name for x in summary.verdict.comparisons if not x.passed]
        raise GeError(
            f"{len(failed)} outputs differ from {summary.verdict.oracle}: {', '.join(failed)}"
        )


def main(args: Sequence[str] | None = None) -> int:
    """The command line tool; returns the exit code: 0, or 1 for a user's error, wrong outputs or checker errors.

    A wrong option raises SystemExit(2).
    """
    given = sys.argv[1:] if args is None else list(args)
    model = next((word for word in given if Path(word).suffix in (".onnx", ".mlir")), TOOL)
    return run_tool(lambda: _run(given), model)


if __name__ == "__main__":
    sys.exit(main())
