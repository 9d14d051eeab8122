"""From a module to something that runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge_task import HostOp, ModelOp
from ge_dialect.runtime.errors import LoadError
from ge_dialect.runtime.executor import ModelExecutable, RunResult
from ge_dialect.runtime.feeds import Feeds, TensorSlot
from ge_dialect.runtime.host import HostExecutable
from ge_dialect.runtime.options import DeviceOptions


class Executable(Protocol):
    """A program on the emulated device. Memory and variables live as long as the executable."""

    options: DeviceOptions
    inputs: list[TensorSlot]
    outputs: list[TensorSlot]

    def run(self, feeds: Feeds) -> RunResult:
        """One step on `feeds`, by name or in order, the same on every rank. Raises RunError and its kinds."""
        ...

    def run_ranks(self, feeds: Sequence[Feeds]) -> RunResult:
        """One step with inputs of its own for each rank. Raises what `run` raises."""
        ...

    def opaque_types(self) -> list[str]:
        """The operator types that nobody knows to compute, which ran as opaque bytes (choice E20)."""
        ...


def load(module: ModuleOp, options: DeviceOptions | None = None) -> Executable:
    """Load the program of `module`, its host program if it has one, else its only task list.

    Raises LoadError when there is none, or more than one, and when it cannot run; ProfileError for the profile.
    """
    return load_ranks([module], options)


def load_ranks(modules: Sequence[ModuleOp], options: DeviceOptions | None = None) -> Executable:
    """Load one program for all ranks, or one a rank (`DeviceOptions.ranks` of them). Raises what `load` raises."""
    options = options or DeviceOptions()
    programs = [op for module in modules for op in module.body.block.ops if isinstance(op, HostOp)]
    if not programs:
        return ModelExecutable([_only_model(module) for module in modules], options)
    if len(programs) > 1:
        raise LoadError(f"there are {len(programs)} host programs, one can run")
    models = {op.sym_name.data: op for op in modules[0].body.block.ops if isinstance(op, ModelOp)}
    return HostExecutable(programs[0], models, options)


def _only_model(module: ModuleOp) -> ModelOp:
    models = [op for op in module.body.block.ops if isinstance(op, ModelOp)]
    if len(models) != 1:
        found = "no task list" if not models else f"{len(models)} task lists and no host program"
        raise LoadError(
            f"the module has {found}; `convert-ge-to-ge-task` makes one out of a graph (ge-run does it by itself)"
        )
    return models[0]
