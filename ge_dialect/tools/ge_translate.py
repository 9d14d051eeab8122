"""ge-translate: between files of other tools and MLIR text, without passes: ONNX -> ge, ge -> ONNX.

    ge-translate --import-onnx model.onnx -o model.mlir
    ge-translate --export-onnx model.mlir -o model.onnx

The direction may be left out where the file extensions say it. Unlike ge-opt, which is for looking at, the text holds
all weights unless `--weights` says otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.formats.errors import GeError
from ge_dialect.program import context
from ge_dialect.tools.diagnostics import placed_in, run_tool
from ge_dialect.tools.frontends import LocatedMLIRFrontend, OnnxFrontend
from ge_dialect.tools.instrument import verify_located
from ge_dialect.tools.output import check_targets, text_output, whole_file
from ge_dialect.tools.printing import GeMLIRTarget
from ge_dialect.tools.weights_file import WeightsWriter, load_weights

TOOL = "ge-translate"
DIRECTIONS = {(".onnx", ".mlir"): "import-onnx", (".mlir", ".onnx"): "export-onnx"}


def main(args: Sequence[str] | None = None) -> int:
    """The command line tool; returns the exit code."""
    options = _parser().parse_args(args)
    return run_tool(lambda: translate(options), TOOL)


def translate(options: argparse.Namespace) -> None:
    """Raises GeError, ParseError or OSError for what is wrong with the files."""
    ctx = context()
    direction = _direction(options)
    weights = _weights_path(options)
    if direction == "import-onnx":
        check_targets(
            {"the input": options.input_file},
            {"-o": options.output_file, "--weights": weights},
            TOOL,
        )
    else:
        check_targets({"--weights": weights}, {"-o": options.output_file}, TOOL)
    with placed_in("<stdin>" if options.input_file == "-" else options.input_file):
        if direction == "import-onnx":
            module = _read(ctx, options, OnnxFrontend(tuple(options.dim)))
            _write_text(ctx, module, options)
        else:
            module = _read(ctx, options, LocatedMLIRFrontend())
            if (path := _weights_path(options)) is not None:
                load_weights(module, path)
            _write_onnx(module, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        TOOL, description="translate between ONNX models and MLIR text"
    )
    direction = parser.add_mutually_exclusive_group()
    for name, words in (("import-onnx", "ONNX to MLIR text"), ("export-onnx", "MLIR text to ONNX")):
        direction.add_argument(
            f"--{name}", dest="direction", action="store_const", const=name, help=words
        )
    parser.add_argument("input_file", nargs="?", default="-", help="the input; - is standard input")
    parser.add_argument(
        "-o", dest="output_file", default="-", help="the output; - is standard output"
    )
    parser.add_argument(
        "--weights",
        default="inline",
        metavar="inline|elide|FILE",
        help="constants of more than 256 bytes: in the text (default), left out, or in FILE beside it",
    )
    parser.add_argument(
        "--dim",
        action="append",
        default=[],
        metavar="NAME=N",
        help="fix a symbolic dimension of an ONNX model",
    )
    return parser


def _direction(options: argparse.Namespace) -> str:
    """The direction that the command line gives, else the one of the file extensions."""
    if options.direction is not None:
        return options.direction
    source, target = Path(options.input_file).suffix, Path(options.output_file).suffix
    for (left, right), direction in DIRECTIONS.items():
        if (source, target) in ((left, right), (left, "")):
            return direction
    raise GeError(
        f"cannot tell the direction from '{options.input_file}' and '{options.output_file}': "
        "give --import-onnx or --export-onnx",
        TOOL,
    )


def _weights_path(options: argparse.Namespace) -> str | None:
    return None if options.weights in ("inline", "elide") else options.weights


def _read(
    ctx: Context, options: argparse.Namespace, frontend: OnnxFrontend | LocatedMLIRFrontend
) -> ModuleOp:
    """The verified module in the input file."""
    name = options.input_file
    if name == "-":
        module = frontend.parse(ctx, BytesIO(sys.stdin.buffer.read()), "<stdin>")
    else:
        with open(name, "rb") as stream:
            module = frontend.parse(ctx, stream, name)
    verify_located(module)
    return module


def _write_text(ctx: Context, module: ModuleOp, options: argparse.Namespace) -> None:
    target = GeMLIRTarget(weights="elide" if options.weights == "elide" else "inline")
    with text_output(options.output_file) as output:
        if (path := _weights_path(options)) is None:
            target.emit(ctx, module, output)
        else:
            with WeightsWriter(path) as weights:
                weights.externalize(module)
                target.emit(ctx, module, output)


def _write_onnx(module: ModuleOp, options: argparse.Namespace) -> None:
    from google.protobuf.message import EncodeError

    from ge_dialect.lowering.onnx import export_onnx

    model = export_onnx(module)
    try:
        data = model.SerializeToString()
    except (EncodeError, ValueError) as error:  # protobuf's limit of 2 GiB
        raise GeError(f"the model cannot be serialized: {error}") from error
    if options.output_file == "-":
        sys.stdout.buffer.write(data)
    else:
        with whole_file(options.output_file, "wb") as stream:
            stream.write(data)


if __name__ == "__main__":
    sys.exit(main())
