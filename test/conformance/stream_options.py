"""The options of a case of streams.json in the terms of the passes, and the passes that they ask for."""

from __future__ import annotations

import json
from dataclasses import dataclass

from stream_case_graphs import Json, nodes_by_name
from xdsl.passes import ModulePass

from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel
from ge_dialect.assign_streams import GeAssignStreams
from ge_dialect.transforms.streams.custom_pass import CustomStreamPass, StreamContext

AUTO = "ge.autoMultistreamParallelMode"
NAMES = "ge.optionNameMap"
ALLOCATE_NEXT = "allocate_next"


def options_of(case: Json) -> GeAssignStreams:
    """The case's options in the terms of the pass."""
    options: Json = case.get("options", {})
    single = options.get("ge.enableSingleStream") == "true"
    dynamic = case["level"].startswith("dynamic")
    return GeAssignStreams(
        mode="single" if single else "dynamic" if dynamic else "multi",
        auto=options.get(AUTO, ""),
        max_parallel=",".join(
            [
                *(f"{name}:{n}" for name, n in case.get("max_parallel", {}).items()),
                *filter(None, [options.get("ge.streamMaxParallelNum", "")]),
            ]
        ),
        memory_priority=options.get("ge.exec.memoryOptimizationPolicy") == "MemoryPriority",
        hcom_parallel=options.get("ge.hcomParallel") == "1",
        ac_parallel_enable=options.get("ac_parallel_enable", ""),
        option_names=",".join(
            f"{name}:{shown}" for name, shown in json.loads(options.get(NAMES, "{}")).items()
        ),
        topo_sorting_mode=options.get("ge.topoSortingMode", ""),
    )


@dataclass(frozen=True)
class CasePass(CustomStreamPass):
    """The stream pass that a case describes: `(node, stream)` pairs."""

    name = "ge-test-stream-pass"

    moves: tuple[tuple[str, int | str], ...] = ()

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        found = nodes_by_name(model.module)
        for node, stream in self.moves:
            number = context.allocate_next() if stream == ALLOCATE_NEXT else int(stream)
            context.set_stream(found[node], number)


def chain_of(case: Json) -> tuple[ModulePass, ...]:
    """The passes of the case's mode, with the case's own stream pass in its place."""
    options = options_of(case)
    moves = tuple((move["node"], move["stream"]) for move in case.get("custom_pass", ()))
    custom = [CasePass(moves)] if moves else []
    if options.mode == "single":
        return options.single()
    if options.mode == "dynamic":
        return options.dynamic(options.auto, custom)
    return options.multi(options.auto, custom)
