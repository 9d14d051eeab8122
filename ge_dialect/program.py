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
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_pipeline

from ge_dialect.formats.errors import GeError
from ge_dialect.passes import PASSES
from ge_dialect.pipeline import GePipeline
from ge_dialect.preset import expand
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

    `dims` fixes symbolic dimensions of an ONNX model. Raises GeError or xdsl's ParseError with the place of the fault.
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

    if path.suffix != ".mlir":
        raise GeError(f"unknown file extension '{path.suffix}' (known: .onnx, .mlir)", str(path))
    with path.open("rb") as stream:
        return LocatedMLIRFrontend().parse(context(), stream, str(path))


def make_passes(pipeline: str | Sequence[ModulePass]) -> tuple[ModulePass, ...]:
    """The passes of a pipeline, presets expanded; text is in ge-opt's syntax, `a{n=1},b`.

    Raises GeError for an unknown pass or a wrong option.
    """
    if not isinstance(pipeline, str):
        return expand(tuple(pipeline))
    passes: list[ModulePass] = []
    for spec in parse_pipeline(pipeline):
        reference = PASSES.get(spec.name)
        if reference is None:
            raise GeError(f"unknown pass '{spec.name}'")
        try:
            passes.append(resolve(reference).from_spec(spec))
        except ValueError as error:
            raise GeError(f"pass '{spec.name}': {error}") from error
    return expand(tuple(passes))


@dataclass(frozen=True)
class Program:
    """A compiled model: `module` holds the task list (or what the chosen pipeline left)."""

    module: ModuleOp
    device_options: DeviceOptions | None = None

    @cached_property
    def executable(self) -> Executable:
        """The task list, loaded into an emulated device. Raises GeError when there is none or it is not runnable."""
        from ge_dialect.runtime import DeviceOptions, load

        return load(self.module, self.device_options or DeviceOptions())

    def run(self, inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray]) -> RunResult:
        """One step on `inputs`, by name or in order of the model's inputs.

        Raises GeError when a name, shape or element type is not what the model has.
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
    module = load(model, dims=dims)
    ctx: Any = context()
    for each in make_passes(pipeline if pipeline is not None else (GePipeline(),)):
        each.apply(ctx, module)
    if verify:
        module.verify()
    return Program(module, device_options)
