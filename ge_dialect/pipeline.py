"""`ge-pipeline`: from an imported graph to a task list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ge_dialect.assign_streams import MAX_CONCURRENCY, scheduled_streams
from ge_dialect.formats.errors import GeError
from ge_dialect.passes import PASSES
from ge_dialect.preset import Preset
from ge_dialect.transforms.order.ge_topo_sort import OrderMode
from ge_dialect.transforms.streams.schedule.graph import DEFAULT_DEVICE
from ge_dialect.universe import resolve

HOST_EXEC = "ge-host-exec"
HOST_FUSION = "ge-host-fusion"
SINK = "ge-sink-clusters"
TOPO_SORT = "ge-topo-sort"
CONTROL_FLOW = "ge-lower-control-flow"
SYNC_SINGLE, HOST_STREAMS = "ge-sync-single-stream", "ge-assign-host-streams"
SPLIT_STREAMS = "ge-split-streams"
OPTIMIZE_EVENTS, SCHEDULE_ORDER = "ge-optimize-events", "ge-schedule-order"
NoTaskMode: TypeAlias = Literal["off", "faithful", "aggressive"]
NO_TASK = frozenset({"ge-concat-no-task", "ge-pack-no-task", "ge-split-no-task"})

GE_PIPELINE: tuple[str, ...] = (
    # Constants are folded and shapes made known first: everything after decides by shapes, and an operator that only
    # looks at shapes must not reach an engine.
    "ge-canonicalize",
    # Engines decide which nodes make tasks, which share a stream and which only rename memory.
    "ge-assign-engines",
    # Where all shapes are known, branches and loops become labels and jumps: one graph, which is then static, so that
    # the host leaves it whole, and memory, streams and events see all of it.
    CONTROL_FLOW,
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
    # One main stream: only attached streams, and more tasks than a stream holds, need events; few models have them.
    SYNC_SINGLE,
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
    SPLIT_STREAMS,
    "ge-update-active-streams",
    "ge-insert-sync-nodes",
    "ge-default-streams",
)
"""What several streams need between memory planning and the task list."""


@dataclass(frozen=True)
class GePipeline(Preset):
    """The whole way from an imported graph to the task list.

    Expects a module of `ge.graph`s. Guarantees afterwards: one `ge_task.model` in their place when all shapes are
    known, else one `ge_task.host`. Why the passes stand in this order: docs/architecture.md.

    Options:
    * `until`: the last pass to run, so that the graph can be looked at after any prefix of the pipeline; of a pass that
      runs twice, the second run;
    * `host-exec`: false leaves every node on the engine that it was given, to see what host execution is worth;
    * `host-fusion`: true joins moved nodes that read each other (ge-host-fusion, behind the second ge-host-exec);
    * `partition`: false leaves a dynamic model whole, scheduled by the host node by node.
    * `no-task`: `mode` of the no-task passes, or `off`: every concat, pack and split keeps its task;
    * `streams`: `mode` of `ge-assign-streams`, such as `multi` or `"LoadBalance:4"`. With any but `single`, and for
      graphs with attached streams or more tasks than a stream holds, the passes for events, activation and splitting
      run behind `ge-plan-memory`; modes of our own (`"schedule:4"`, `max-concurrency`) with the least set of events,
      and `schedule` with an order of its own (ge-schedule-order). Parts that are sunk get streams in this mode; what
      the host drives stays on one stream (ge-assign-host-streams);
    * `dynamic-streams`: several streams for what the host drives, too, by GE's rules for unknown shapes. Mode `dynamic`
      is this with `multi` for what is of known shape;
    * `device`: the device profile by which `schedule` decides;
    * `order`: `mode` of `ge-topo-sort`. `min-peak` needs the fewest bytes.

    Before and after:

        ge.graph @net {
          %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
          %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<64xf32>
          ge.net_output (%y) {ge.name = "out"}
        }

        ge_task.model @net streams 1 arenas {hbm = 1024, weight = 0} zero_copy 1024 {
          %x = ge_task.buffer hbm at 512 size 256 input 0 name "x" : tensor<64xf32>
          %y = ge_task.buffer hbm at 0 size 256 output 0 : tensor<64xf32>
          ge_task.fusion_start stream 0 op 1 {ge.name = "y"}
          ge_task.kernel "Relu"(%x) -> (%y) engine "AIcoreEngine" kernel_type 2 stream 0 op 1 {ge.name = "y"}
          ge_task.fusion_end stream 0 op 1 {ge.name = "y"}
          ge_task.end_graph stream 0 op 2 {ge.name = "out"}
        }
    """

    name = "ge-pipeline"

    until: str | None = None
    host_exec: bool = True
    host_fusion: bool = False
    partition: bool = True
    no_task: NoTaskMode = "faithful"
    streams: str = "single"
    dynamic_streams: bool = False
    device: str = DEFAULT_DEVICE
    order: OrderMode = "stable"

    def passes(self) -> tuple[ModulePass, ...]:
        """Raises GeError when `until` is no pass of the pipeline, StreamError for a mode `schedule:N` with a bad N."""
        names = GE_PIPELINE
        if self.host_fusion:
            names = _in_place_of(names, SINK, (HOST_FUSION, SINK))
        names = _with_streams(names, self.streams, self.dynamic_streams)
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
        options = {
            SINK: {
                "no-task": self.no_task,
                **_if_not_stable("order", self.order),
                **({} if self.streams == "single" else {"streams": self.streams}),
                **({} if self.device == DEFAULT_DEVICE else {"device": self.device}),
            },
            **_stream_options(self.streams, self.device, self.order),
            HOST_STREAMS: {
                "mode": self.streams,
                **({"dynamic": True} if _many_on_host(self.streams, self.dynamic_streams) else {}),
            },
        }
        return made_passes((name for name in names if name not in left_out), self.no_task, options)


def _many_on_host(streams: str, dynamic_streams: bool) -> bool:
    return dynamic_streams or streams == "dynamic"


def _known_mode(streams: str) -> str:
    """The mode for what is of known shape."""
    return "multi" if streams == "dynamic" else streams


def _with_streams(
    names: tuple[str, ...], streams: str, dynamic_streams: bool = False
) -> tuple[str, ...]:
    """The list with what a mode of streams needs. Raises StreamError for a mode `schedule:N` with a bad N."""
    scheduled = scheduled_streams(streams)
    if streams != "single":
        names = _in_place_of(names, SYNC_SINGLE, SYNC_PASSES)
    if scheduled is not None or streams == MAX_CONCURRENCY:
        names = _in_place_of(names, OPTIMIZE_EVENTS, (OPTIMIZE_EVENTS, "ge-minimize-events"))
    first = () if streams == "single" and not dynamic_streams else (HOST_STREAMS,)
    order = () if scheduled is None else (SCHEDULE_ORDER,)
    return _in_place_of(names, TOPO_SORT, (TOPO_SORT, *first, *order))


def _stream_options(
    streams: str, device: str, order: OrderMode
) -> dict[str, Mapping[str, str | int]]:
    """The options of the passes behind `ge-sink-clusters` that streams and order decide."""
    return {
        TOPO_SORT: _if_not_stable("mode", order),
        SCHEDULE_ORDER: {"streams": scheduled_streams(streams) or 1, "device": device},
        "ge-assign-streams": {"mode": _known_mode(streams), "device": device},
    }


def _in_place_of(names: tuple[str, ...], name: str, new: tuple[str, ...]) -> tuple[str, ...]:
    place = names.index(name)
    return (*names[:place], *new, *names[place + 1 :])


def _if_not_stable(option: str, order: OrderMode) -> dict[str, str]:
    return {} if order == "stable" else {option: order}


def sunk_passes(
    no_task: NoTaskMode = "faithful",
    order: OrderMode = "stable",
    streams: str = "single",
    device: str = DEFAULT_DEVICE,
) -> tuple[ModulePass, ...]:
    """What a part of known shape goes through: the passes behind the cut, less those for dynamic graphs."""
    behind = GE_PIPELINE[GE_PIPELINE.index(SINK) + 1 :]
    names = (name for name in _with_streams(behind, streams) if name != HOST_STREAMS)
    return made_passes(names, no_task, _stream_options(streams, device, order))


_NO_OPTIONS: Mapping[str, Mapping[str, str | int]] = MappingProxyType({})


def made_passes(
    names: Iterable[str],
    no_task: NoTaskMode = "faithful",
    options: Mapping[str, Mapping[str, str | int]] = _NO_OPTIONS,
) -> tuple[ModulePass, ...]:
    """The passes of these names, with the options that there are for them."""
    passes: list[ModulePass] = []
    for name in names:
        if name in NO_TASK and no_task == "off":
            continue
        own = {"mode": no_task} if name in NO_TASK else options.get(name, {})
        arguments = {key: (value,) for key, value in own.items()}
        passes.append(resolve(PASSES[name]).from_spec(ArgSpec(name, {**arguments})))
    return tuple(passes)
