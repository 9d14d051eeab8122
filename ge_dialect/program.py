"""The Python way in: compile a model, run it, look at what became of it.

import ge_dialect

program = ge_dialect.compile("model.onnx", dims={"batch": 1})
outputs = program.run({"x": array}).outputs
print(program.module)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ge_dialect.dialects.collector import collector_paused
from ge_dialect.formats.errors import GeError
from ge_dialect.passes import PASSES
from ge_dialect.pipeline import GePipeline
from ge_dialect.preset import expand
from ge_dialect.tools.pass_options import option_problem
from ge_dialect.universe import DIALECTS, resolve

if TYPE_CHECKING:
    import onnx

    from ge_dialect.runtime import DeviceOptions, Executable, RunResult


def context() -> Context:
    """A context in which builtin and this project's dialects are loaded."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    for reference in DIALECTS.values():
        ctx.load_dialect(resolve(reference))
    return ctx


def load(
    model: str | Path | onnx.ModelProto | ModuleOp, *, dims: Mapping[str, int] | None = None
) -> ModuleOp:
    """The module of a model: an `.onnx` file, an `.mlir` file, an onnx.ModelProto, or a module (returned as it is).

    `dims` fixes symbolic dimensions of an ONNX model: by name, or `input:axis` where they have none. Raises GeError or
    xdsl's ParseError with the place of the fault, OSError for a text file that cannot be read.
    """
    if isinstance(model, ModuleOp):
        return model
    if isinstance(model, str | Path):
        path = Path(model)
        if path.suffix != ".onnx":
            return _load_text(path)
    from ge_dialect.lowering.onnx import import_onnx

    return import_onnx(model, dims=dims)


def _load_text(path: Path) -> ModuleOp:
    from ge_dialect.tools.frontends import LocatedMLIRFrontend
    from ge_dialect.tools.instrument import verify_located

    if path.suffix != ".mlir":
        raise GeError(f"unknown file extension '{path.suffix}' (known: .onnx, .mlir)", str(path))
    with path.open("rb") as stream:
        module = LocatedMLIRFrontend().parse(context(), stream, str(path))
    verify_located(module)  # anyone can have written it; what an importer makes is trusted
    return module


def make_passes(pipeline: str | Sequence[ModulePass]) -> tuple[ModulePass, ...]:
    """The passes of a pipeline, presets expanded; text is in ge-opt's syntax, `a{n=1},b`.

    Names are this project's and, behind them, those that other installed xDSL packages offer. Raises GeError for text
    that is no pipeline, an unknown pass or a wrong option.
    """
    if not isinstance(pipeline, str):
        return expand(tuple(pipeline))
    try:
        specs = tuple(parse_pipeline(pipeline))
    except ArgSpecParseError as error:
        # xDSL's text is several lines: the place, the pipeline, carets, what is wrong.
        complaint = str(error).strip().splitlines()[-1].strip()
        raise GeError(f"'{pipeline}' is no pipeline: {complaint}") from error
    passes: list[ModulePass] = []
    for spec in specs:
        kind = _pass_class(spec.name)
        try:
            passes.append(kind.from_spec(spec))
        except ValueError as error:
            problem = option_problem(kind, spec, str(error))
            raise GeError(f"pass '{spec.name}': {problem}") from error
    return expand(tuple(passes))


def _pass_class(name: str) -> type[ModulePass]:
    if name in PASSES:
        return resolve(PASSES[name])
    offered = Universe.get_multiverse().all_passes
    if name not in offered:
        raise GeError(f"unknown pass '{name}'")
    return offered[name]()


@dataclass(frozen=True)
class Program:
    """A compiled model: `module` holds the task list (or what the chosen pipeline left).

    Without `device_options` the emulated device has its defaults, but an operator without a kernel is an error and not
    opaque bytes.
    """

    module: ModuleOp
    device_options: DeviceOptions | None = None

    @cached_property
    def executable(self) -> Executable:
        """The task list, loaded into an emulated device once: variables keep their values from run to run.

        Raises GeError when there is no task list or it is not runnable.
        """
        from ge_dialect.runtime import DeviceOptions, load

        with collector_paused():
            return load(self.module, self.device_options or DeviceOptions(unknown_kernels="error"))

    def run(self, inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray]) -> RunResult:
        """One step on `inputs`: arrays of the model's shapes and element types, by name or in order of its inputs.

        Raises GeError when a name, shape or element type is not what the model has (nothing is converted), and when
        the run itself goes wrong.
        """
        return self.executable.run(inputs)


def compile(
    model: str | Path | onnx.ModelProto | ModuleOp,
    *,
    dims: Mapping[str, int] | None = None,
    pipeline: str | Sequence[ModulePass] | None = None,
    verify: bool = True,
    device_options: DeviceOptions | None = None,
) -> Program:
    """Load a model and run a pipeline on it (default: `ge-pipeline`, all the way to a task list).

    A module given as `model` is changed in place. With `verify` the result is verified (structure). Raises what
    `load` and `make_passes` raise, and what the passes raise.
    """
    passes = make_passes(pipeline if pipeline is not None else (GePipeline(),))
    with collector_paused():
        module = load(model, dims=dims)
        ctx = context()
        for each in passes:
            each.apply(ctx, module)
        if verify:
            module.verify()
    return Program(module, device_options)
