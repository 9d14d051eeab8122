"""ge-opt: reads MLIR text or a model, runs passes, writes MLIR text or another target. mlir-opt's conventions.

Command line, input and pipeline come from xDSL's driver. This file adds what users of mlir-opt expect and xDSL lacks:
errors as one line, places for operations, printing and timing on standard error, remarks, presets, whole files.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import fields, replace
from difflib import get_close_matches
from importlib.metadata import version
from io import BytesIO, StringIO
from typing import IO, Any, ClassVar, Literal, TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ParseError
from xdsl.utils.frontend import Frontend
from xdsl.xdsl_opt_main import xDSLOptMain

from ge_dialect.analysis.explain import Explanation, explaining
from ge_dialect.analysis.remarks import Remark, RemarkCollector, collect_remarks
from ge_dialect.dialects.ge.access import ge_type, graphs, node_name, nodes
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.preset import expand
from ge_dialect.tools.diagnostics import USER_ERRORS, error_line, placed_in, run_tool
from ge_dialect.tools.expected import complaints, read_expectations
from ge_dialect.tools.frontends import LocatedMLIRFrontend, LocatingParser, OnnxFrontend
from ge_dialect.tools.instrument import PassInstrument
from ge_dialect.tools.list_passes import ListPasses
from ge_dialect.tools.memory_map import MemoryMap, check_name, maps_of_module, write_memory_maps
from ge_dialect.tools.output import check_targets, text_output
from ge_dialect.tools.pass_options import option_problem
from ge_dialect.tools.printing import GeMLIRTarget
from ge_dialect.tools.resources import resources_of, to_json, to_text
from ge_dialect.tools.weights_file import WeightsWriter, load_weights

TOOL = "ge-opt"
SPLIT_MARKER = "// -----\n"
EACH_VARIABLE = "GE_VERIFY_EACH"
"""The environment variable that turns `--verify-each` on everywhere, when it is set and not empty or 0."""

_LEFT_OUT = {"--remarks": "--remarks=.", "--resources": "--resources=text"}
"""Options whose value may be left out, with the value that they then have."""

SpecT = TypeVar("SpecT", bound=ArgSpecConvertible)


class GeOptMain(xDSLOptMain):
    """The driver. Construction and `run` raise what `diagnostics.USER_ERRORS` lists; a wrong option SystemExit."""

    version_format: ClassVar[str] = (
        f"{TOOL} of ge-dialect {version('ge-dialect')} on xdsl {{xdsl_version}}"
    )

    def __init__(self, args: Sequence[str] | None = None) -> None:
        given = sys.argv[1:] if args is None else args
        # argparse would take the input file for the value of an option whose value may be left out.
        words = [_LEFT_OUT.get(word, word) for word in given]
        super().__init__("Graph Engine optimizer driver", words)

    # Registration and command line

    def register_all_frontends(self) -> None:
        """Text with places instead of xDSL's, and ONNX models."""
        super().register_all_frontends()
        self.available_frontends["mlir"] = lambda: LocatedMLIRFrontend
        self.available_frontends["onnx"] = lambda: OnnxFrontend

    def register_all_targets(self) -> None:
        """MLIR text that can leave out weights instead of xDSL's."""
        super().register_all_targets()
        self.available_targets["mlir"] = lambda: GeMLIRTarget

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """xDSL's options and those that mlir-opt has or that a graph compiler needs."""
        super().register_all_arguments(arg_parser)
        arg_parser.prog = TOOL
        arg_parser.usage = "%(prog)s [options] [input file]"
        option = arg_parser.add_argument
        option("--pass-pipeline", dest="passes", metavar="PIPELINE", help="the same as -p")
        option(
            "--dump-pass-pipeline", action="store_true", help="print the expanded pipeline (stderr)"
        )
        option("--list-passes", action=ListPasses, help="list the passes of ge-dialect and exit")
        option(
            "--print-ir-after",
            action="append",
            default=[],
            metavar="PASS",
            help="print the IR after PASS (stderr)",
        )
        option(
            "--print-ir-after-all",
            action="store_true",
            help="print the IR after each pass (stderr)",
        )
        option("--timing", action="store_true", help="print the time of each pass (stderr)")
        option(
            "--verify-each",
            action="store_true",
            default=os.environ.get(EACH_VARIABLE, "0") not in ("", "0"),
            help="verify behind each pass, not only at the start and at the end",
        )
        option(
            "--verify-roundtrip",
            action="store_true",
            help="check that the result, printed in both forms, parses to an equal module",
        )
        option(
            "--semantics",
            choices=("error", "remark", "off"),
            default="error",
            help="what it is when a node's types do not fit its operator (default: an error)",
        )
        option(
            "--weights",
            metavar="elide|inline|FILE",
            help="constants of more than 256 bytes: left out of MLIR text (default), in full, or read from and "
            "written to FILE beside it",
        )
        option(
            "--dim",
            action="append",
            default=[],
            metavar="NAME=N",
            help="fix a symbolic dimension of an ONNX model",
        )
        option(
            "--remarks",
            metavar="REGEX|json",
            help="print what the passes did and why not (stderr): lines that match REGEX, or JSON lines",
        )
        option(
            "--explain",
            metavar="NODE",
            help="print every check that a pass made of NODE (a name, or GRAPH/NAME), with its values (stderr)",
        )

        option(
            "--memory-map",
            metavar="F.html|svg|csv",
            help="draw the memory plans that the pipeline leaves: time across, addresses up",
        )
        option(
            "--resources",
            choices=("text", "json"),
            help="print streams, events, tasks and bytes that the result takes, and the device's limits (stderr)",
        )
        option(
            "--device",
            metavar="NAME|FILE.toml",
            default="",
            help="the device profile of --resources (without it: default) and of passes that go by one",
        )

    # Pipeline

    def setup_pipeline(self) -> None:
        """Raises GeError for an unknown pass or a wrong option, ArgSpecParseError for a malformed pipeline."""
        args = self.args
        self._remark_pattern = _compile(args.remarks)
        specs = tuple(parse_pipeline(_without_anchor(args.passes)))
        passes = expand(tuple(self._make_pass(spec) for spec in specs), self._on_device)
        if args.dump_pass_pipeline:
            names = ",".join(str(each.spec()) for each in passes)
            print(f"builtin.module({names})", file=sys.stderr)
        for name in args.print_ir_after:
            self._check_pass_name(name)
            if name not in {each.name for each in passes}:
                raise GeError(f"--print-ir-after: the pipeline has no pass '{name}'", TOOL)
        after_all = args.print_ir_after_all or args.print_between_passes
        self._instrument = PassInstrument(
            self.ctx,
            self._mlir_target(),
            not args.disable_verify,
            args.verify_each,
            args.semantics,
            None if after_all else frozenset(args.print_ir_after),
        )
        self.pipeline = PassPipeline(passes, self._instrument)

    def _make_pass(self, spec: ArgSpec) -> ModulePass:
        self._check_pass_name(spec.name)
        return _from_spec(self.available_passes[spec.name](), spec, "pass")

    def _on_device(self, module_pass: ModulePass) -> ModulePass:
        """The pass with the profile of `--device`, when it goes by one and was given none."""
        default = {field.name: field.default for field in fields(module_pass)}.get("device")
        if not self.args.device or getattr(module_pass, "device", None) != default:
            return module_pass
        return replace(module_pass, device=self.args.device) if default is not None else module_pass

    def _check_pass_name(self, name: str) -> None:
        if name in self.available_passes:
            return
        close = get_close_matches(name, self.available_passes)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise GeError(f"unknown pass '{name}'{hint}", TOOL)

    # Input

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        """No file and `-` are standard input; with `-f` any file extension will do."""
        if self.args.input_file == "-":
            self.args.input_file = None
        stream, extension = super().get_input_stream()
        if self.args.frontend:
            extension = parse_spec(self.args.frontend).name
        if extension not in self.available_frontends:
            stream.close()
            known = ", ".join(f".{name}" for name in self.available_frontends)
            message = f"unknown file extension '.{extension}' (known: {known}); -f names a frontend"
            raise GeError(message, self.get_input_name())
        if self.args.split_input_file and extension != "mlir":
            stream.close()
            raise GeError("--split-input-file is for MLIR text", self.get_input_name())
        return stream, extension

    def get_input_name(self) -> str:
        """The name that locations and errors show."""
        return self.args.input_file or "<stdin>"

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp:
        """Parse one chunk, which begins after `start_offset` lines of the input."""
        spec = parse_spec(self.args.frontend or file_extension)
        # The legacy form, a function of the stream, is gone from all that is registered here.
        factory = cast(Callable[[], type[Frontend]], self.available_frontends[spec.name])
        frontend = _from_spec(factory(), spec, "frontend")
        given: dict[str, Any] = {"line_offset": start_offset}
        if self.args.no_implicit_module:
            given["no_implicit_module"] = True
        if self.args.dim:
            given["dims"] = tuple(self.args.dim)
        names = {field.name for field in fields(frontend)}
        if "dims" in given and "dims" not in names:
            raise GeError("--dim fixes dimensions of .onnx models only", TOOL)
        frontend = replace(frontend, **{name: given[name] for name in given if name in names})
        return frontend.parse(self.ctx, chunk, self.get_input_name())

    # Run and output

    def run(self) -> None:
        """Raises GeError at the end when a diagnostic differs from the comments (`--verify-diagnostics`) or there is
        nothing to explain (`--explain`)."""
        path = self._weights_path
        written = {"-o": self.args.output_file, "--memory-map": self.args.memory_map}
        check_targets({}, {**written, "--weights": path}, TOOL)
        if self.args.memory_map:
            check_name(self.args.memory_map)  # a wrong name is an error before anything is written
        if self.args.device:
            load_profile(self.args.device)
        self._maps: list[MemoryMap] = []
        self._node_types: dict[str, str] = {}
        chunks, extension = self.prepare_input()
        mismatches: list[str] = []
        explanation = None if self.args.explain is None else Explanation(self.args.explain)
        self._weights = None if path is None else WeightsWriter(path)
        with ExitStack() as stack:
            for chunk, _ in chunks:
                stack.enter_context(chunk)
            output = stack.enter_context(text_output(self.args.output_file))
            if self._weights is not None:
                stack.enter_context(self._weights)
            if explanation is not None:
                stack.enter_context(explaining(explanation))
            for index, (chunk, offset) in enumerate(chunks):
                if index > 0:
                    output.write(SPLIT_MARKER)
                mismatches += self._run_chunk(chunk, extension, offset, output)
            if self.args.memory_map:
                write_memory_maps(self.args.memory_map, self._maps)
        if self.args.timing or self.args.time_passes:
            print(self._instrument.report(), file=sys.stderr)
        if mismatches:
            print(*mismatches, sep="\n", file=sys.stderr)
            raise GeError(f"{len(mismatches)} diagnostics differ from the comments", TOOL)
        if explanation is not None:
            self._print_explanation(explanation)

    def _run_chunk(
        self, chunk: IO[bytes], extension: str, offset: int, output: IO[str]
    ) -> list[str]:
        """Process one chunk; returns what does not fit the `expected-...` comments in it."""
        checking = self.args.verify_diagnostics
        source = chunk.read() if checking else b""
        expectations = read_expectations(source.decode("utf-8", "replace"), offset)
        errors: list[str] = []
        collector = RemarkCollector()
        listening = checking or self.args.remarks is not None
        text = ""
        try:
            with collect_remarks(collector) if listening else nullcontext():
                text = self._process(BytesIO(source) if checking else chunk, extension, offset)
        except USER_ERRORS as error:
            if not (checking or (self.args.parsing_diagnostics and isinstance(error, ParseError))):
                raise
            errors.append(error_line(error, self.get_input_name()))
        finally:
            self._print_remarks(collector.remarks)
        output.write(text)
        output.flush()
        if expectations:
            remarks = [remark.render(self.get_input_name()) for remark in collector.remarks]
            return complaints(self.get_input_name(), expectations, errors + remarks)
        # Without comments the errors are output, as in xDSL, for FileCheck to look at.
        print(*errors, sep="\n", end="\n" if errors else "", flush=True)
        return []

    def _process(self, chunk: IO[bytes], extension: str, offset: int) -> str:
        """The output for one chunk: parse, passes, print."""
        with placed_in(self.get_input_name()):
            with self._instrument.timed("(parse)"):
                module = self.parse_chunk(chunk, extension, offset)
                if self._weights_path is not None:
                    load_weights(module, self._weights_path)
            if self.args.explain is not None:
                self._node_types |= _node_names(module)
            self.apply_passes(module)
            if self.args.explain is not None:
                self._node_types |= _node_names(module)
            if self.args.memory_map:
                self._maps += maps_of_module(module)
            if self.args.resources:
                self._print_resources(module)
            if self.args.verify_roundtrip:
                verify_roundtrip(self.ctx, module)
            with self._instrument.timed("(print)"):
                return self.output_resulting_program(module)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The text of `prog` for the target."""
        spec = parse_spec(self.args.target)
        if spec.name != "mlir":
            return super().output_resulting_program(prog)
        if self._weights is not None:
            self._weights.externalize(prog)
        output = StringIO()
        self._mlir_target("elide" if self._weights is None else "inline").emit(
            self.ctx, prog, output
        )
        return output.getvalue()

    def _mlir_target(self, weights: Literal["elide", "inline"] = "elide") -> GeMLIRTarget:
        """The target `mlir` with the options of `-t` and of the command line; `weights` where they say nothing."""
        args = self.args
        spec = parse_spec(args.target)
        options = (
            _from_spec(GeMLIRTarget, spec, "target") if spec.name == "mlir" else GeMLIRTarget()
        )
        inline = "inline" in (args.weights, options.weights, weights)
        return GeMLIRTarget(
            options.print_generic_format or args.print_op_generic,
            options.print_properties_as_attributes or args.print_no_properties,
            options.print_debuginfo or args.print_debuginfo,
            options.syntax_highlight or args.syntax_highlight,
            "inline" if inline else "elide",
        )

    @property
    def _weights_path(self) -> str | None:
        """The file that `--weights` names."""
        return None if self.args.weights in (None, "elide", "inline") else self.args.weights

    def _print_remarks(self, remarks: Sequence[Remark]) -> None:
        if self.args.remarks is None:
            return
        for remark in remarks:
            line = remark.render(self.get_input_name())
            if self.args.remarks == "json":
                print(remark.to_json(), file=sys.stderr)
            elif self._remark_pattern.search(line):
                print(line, file=sys.stderr)

    def _print_resources(self, module: ModuleOp) -> None:
        found = resources_of(module, self.args.device)
        text = to_json(found) if self.args.resources == "json" else to_text(found)
        print(text, file=sys.stderr)

    def _why_unexplained(self, node: str) -> str:
        """Why there is nothing to say about a node."""
        if (kind := self._node_types.get(node)) is not None:
            return f'the node "{node}" of type {kind} is no candidate of any pass of the pipeline that explains'
        close = get_close_matches(node, self._node_types, 1)
        hint = f'; did you mean "{close[0]}"?' if close else ""
        return f'there is no node "{node}"{hint}'

    def _print_explanation(self, explanation: Explanation) -> None:
        """Raises GeError when no pass judged the node."""
        if not explanation.chains:
            raise GeError(f"--explain: {self._why_unexplained(explanation.node)}", TOOL)
        for chain in explanation.chains:
            print(chain.render(self.get_input_name()), file=sys.stderr)


def _node_names(module: ModuleOp) -> dict[str, str]:
    """The type of each node of a module, by its name and by `graph/name`."""
    found: dict[str, str] = {}
    for graph in graphs(module):
        for op in nodes(graph):
            name = node_name(op)
            found[f"{graph.sym_name.data}/{name}"] = found[name] = ge_type(op)
    return found


def verify_roundtrip(ctx: Context, module: ModuleOp) -> None:
    """Raises GeError when `module`, printed in the generic or the custom form, does not parse to an equal module."""
    for generic in (True, False):
        form = "generic" if generic else "custom"
        text = StringIO()
        GeMLIRTarget(print_generic_format=generic, weights="inline").emit(ctx, module, text)
        try:
            again = LocatingParser(ctx, text.getvalue(), f"<{form} form>").parse_module()
        except ParseError as error:
            raise GeError(
                f"the {form} form does not parse: {error_line(error, '')}", TOOL
            ) from error
        if not module.is_structurally_equivalent(again):
            raise GeError(f"the {form} form parses to a different module", TOOL)


def _from_spec(kind: type[SpecT], spec: ArgSpec, what: str) -> SpecT:
    try:
        return kind.from_spec(spec)
    except ValueError as error:
        raise GeError(
            f"{what} '{spec.name}': {option_problem(kind, spec, str(error))}", TOOL
        ) from error


def _without_anchor(pipeline: str) -> str:
    """`a,b` out of mlir-opt's `builtin.module(a,b)`; xDSL's pipelines are flat and run on the module."""
    anchored = re.fullmatch(r"\s*builtin\.module\((.*)\)\s*", pipeline, re.DOTALL)
    return pipeline if anchored is None else anchored[1]


def _compile(pattern: str | None) -> re.Pattern[str]:
    try:
        return re.compile(pattern or "")
    except re.error as error:
        raise GeError(f"--remarks: {error} in '{pattern}'", TOOL) from error


def main(args: Sequence[str] | None = None) -> int:
    """The command line tool; returns the exit code."""
    return run_tool(lambda: GeOptMain(args).run(), TOOL)


if __name__ == "__main__":
    sys.exit(main())
