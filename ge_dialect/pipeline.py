"""`ge-pipeline`: from an imported graph to a task list."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ge_dialect.formats.errors import GeError
from ge_dialect.passes import PASSES
from ge_dialect.preset import Preset
from ge_dialect.universe import resolve

GE_PIPELINE: tuple[str, ...] = (
    # Constants are folded and shapes made known first: everything after decides by shapes, and an operator that only
    # looks at shapes must not reach an engine.
    "ge-canonicalize",
    # Engines decide which nodes make tasks, which share a stream and which only rename memory.
    "ge-assign-engines",
    # Which concats, packs and splits only name memory is decided while the graph is otherwise final; two that want one
    # tensor at two places get a copy between them, which then has its place in the order and a stream like any node.
    "ge-mark-phony",
    "ge-concat-no-task",
    "ge-pack-no-task",
    "ge-split-no-task",
    "ge-insert-identity",
    # The order is final from here on: streams are queues in it and life times are intervals of it.
    "ge-topo-sort",
    "ge-assign-streams",
    # Memory may be reused only in the order that data, control edges and streams give, so it comes after streams.
    "ge-plan-memory",
    "convert-ge-to-ge-task",
)
"""The passes of the preset, in order (design.md section 6)."""


@dataclass(frozen=True)
class GePipeline(Preset):
    """The whole way from an imported graph to the task list.

    Expects a module of `ge.graph`s. Leaves one `ge_task.model` when all shapes are known, else one `ge_task.host`.

    `until` names the last pass to run, so that the graph can be looked at after any prefix of the pipeline.
    """

    name = "ge-pipeline"

    until: str | None = None

    def passes(self) -> tuple[ModulePass, ...]:
        """Raises GeError when `until` is no pass of the pipeline."""
        names = GE_PIPELINE
        if self.until is not None:
            if self.until not in names:
                raise GeError(
                    f"ge-pipeline has no pass '{self.until}'; it runs {', '.join(names)}",
                    "ge-pipeline",
                )
            names = names[: names.index(self.until) + 1]
        return tuple(resolve(PASSES[name]).from_spec(ArgSpec(name, {})) for name in names)
