"""`ge-pipeline`: from an imported graph to a task list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ge_dialect.formats.errors import GeError
from ge_dialect.passes import PASSES
from ge_dialect.preset import Preset
from ge_dialect.universe import resolve

HOST_EXEC = "ge-host-exec"
SINK = "ge-sink-clusters"
NoTaskMode: TypeAlias = Literal["off", "faithful", "aggressive"]
NO_TASK = frozenset({"ge-concat-no-task", "ge-pack-no-task", "ge-split-no-task"})

GE_PIPELINE: tuple[str, ...] = (
    # Constants are folded and shapes made known first: everything after decides by shapes, and an operator that only
    # looks at shapes must not reach an engine.
    "ge-canonicalize",
    # Engines decide which nodes make tasks, which share a stream and which only rename memory.
    "ge-assign-engines",
    # Dynamic models: tiny computations go to the host before the graph is cut, so that they stay out of the parts that
    # are sunk; once more behind the cut, when moved nodes can lead into the parts. Static models pass through.
    HOST_EXEC,
    "ge-partition-dynamic",
    HOST_EXEC,
    # Each part of known shape goes through the rest of this list alone and comes back as a task list.
    SINK,
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

SYNC_PASSES: tuple[str, ...] = (
    # What starts which stream, then the events that make the order that memory was planned with hold between streams.
    "ge-activate-streams",
    "ge-insert-events",
    "ge-optimize-events",
    "ge-reuse-events",
    "ge-insert-attached-events",
    "ge-activate-switches",
    "ge-activate-loops",
    "ge-cover-attached-streams",
    "ge-insert-sync-nodes",
    "ge-attached-sync",
    # Streams that hold more tasks than a queue are cut, which needs events at the cuts.
    "ge-split-streams",
    "ge-update-active-streams",
    "ge-insert-sync-nodes",
    "ge-default-streams",
)
"""What several streams need between memory planning and the task list."""


@dataclass(frozen=True)
class GePipeline(Preset):
    """The whole way from an imported graph to the task list.

    Expects a module of `ge.graph`s. Leaves one `ge_task.model` when all shapes are known, else one `ge_task.host`.

    Options:
    * `until`: the last pass to run, so that the graph can be looked at after any prefix of the pipeline; of a pass that
      runs twice, the second run;
    * `host-exec`: false leaves every node on the engine that it was given, to see what host execution is worth;
    * `partition`: false leaves a dynamic model whole, scheduled by the host node by node.
    * `no-task`: `mode` of the no-task passes, or `off`: every concat, pack and split keeps its task;
    * `streams`: `mode` of `ge-assign-streams`, such as `multi` or `"LoadBalance:4"`. With any but `single` the passes
      for events, activation and splitting run behind `ge-plan-memory`. Parts that are sunk stay on one stream.
    """

    name = "ge-pipeline"

    until: str | None = None
    host_exec: bool = True
    partition: bool = True
    no_task: NoTaskMode = "faithful"
    streams: str = "single"

    def passes(self) -> tuple[ModulePass, ...]:
        """Raises GeError when `until` is no pass of the pipeline."""
        names = GE_PIPELINE
        if self.streams != "single":
            behind = names.index("ge-plan-memory") + 1
            names = (*names[:behind], *SYNC_PASSES, *names[behind:])
        if self.until is not None:
            if self.until not in names:
                raise GeError(
                    f"ge-pipeline has no pass '{self.until}'; it runs {', '.join(names)}",
                    "ge-pipeline",
                )
            names = names[: len(names) - names[::-1].index(self.until)]
        left_out = {HOST_EXEC} if not self.host_exec else set[str]()
        if not self.partition:
            left_out |= {"ge-partition-dynamic", SINK}
        return _made((name for name in names if name not in left_out), self.no_task, self.streams)


def sunk_passes(no_task: NoTaskMode = "faithful") -> tuple[ModulePass, ...]:
    """What a part of known shape goes through: the passes behind the cut, less those for dynamic graphs."""
    return _made(GE_PIPELINE[GE_PIPELINE.index(SINK) + 1 :], no_task)


def _made(
    names: Iterable[str], no_task: NoTaskMode, streams: str = "single"
) -> tuple[ModulePass, ...]:
    passes: list[ModulePass] = []
    for name in names:
        if name == SINK:
            passes.append(_make(name, no_task=no_task))
        elif name == "ge-assign-streams":
            passes.append(_make(name, mode=streams))
        elif name not in NO_TASK:
            passes.append(_make(name))
        elif no_task != "off":
            passes.append(_make(name, mode=no_task))
    return tuple(passes)


def _make(name: str, **options: str) -> ModulePass:
    arguments = {key: (value,) for key, value in options.items()}
    return resolve(PASSES[name]).from_spec(ArgSpec(name, {**arguments}))
