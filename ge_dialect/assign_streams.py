"""Pass `ge-assign-streams`: which stream each node runs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass

from ge_dialect.preset import Preset
from ge_dialect.transforms.streams.auto_mode import (
    DAG_STRATEGIES,
    MAX_AUTO_STREAMS,
    OPTION,
    parse_auto_mode,
)
from ge_dialect.transforms.streams.errors import StreamError, bad_option
from ge_dialect.transforms.streams.ge_attached_sync import GeAttachedSync
from ge_dialect.transforms.streams.ge_cluster_engines import GeClusterEngines
from ge_dialect.transforms.streams.ge_dynamic_events import GeDynamicEvents
from ge_dialect.transforms.streams.ge_mark_cv_parallel import GeMarkCvParallel
from ge_dialect.transforms.streams.ge_stream_all_reduce import GeStreamAllReduce
from ge_dialect.transforms.streams.ge_stream_attached import GeStreamAttached
from ge_dialect.transforms.streams.ge_stream_auto import GeStreamAuto
from ge_dialect.transforms.streams.ge_stream_dependency import GeStreamDependency
from ge_dialect.transforms.streams.ge_stream_dynamic import GeStreamDynamic
from ge_dialect.transforms.streams.ge_stream_dynamic_compact import GeStreamDynamicCompact
from ge_dialect.transforms.streams.ge_stream_dynamic_refresh import GeStreamDynamicRefresh
from ge_dialect.transforms.streams.ge_stream_independent import GeStreamIndependent
from ge_dialect.transforms.streams.ge_stream_ineffective import GeStreamIneffective
from ge_dialect.transforms.streams.ge_stream_jumps import GeStreamJumps
from ge_dialect.transforms.streams.ge_stream_label import GeStreamLabel
from ge_dialect.transforms.streams.ge_stream_max_concurrency import GeStreamMaxConcurrency
from ge_dialect.transforms.streams.ge_stream_mde_group import GeStreamMdeGroup
from ge_dialect.transforms.streams.ge_stream_node_update import GeStreamNodeUpdate
from ge_dialect.transforms.streams.ge_stream_number import GeStreamNumber
from ge_dialect.transforms.streams.ge_stream_parallel_group import GeStreamParallelGroup
from ge_dialect.transforms.streams.ge_stream_refresh import GeStreamRefresh
from ge_dialect.transforms.streams.ge_stream_schedule import DEFAULT_STREAMS, GeStreamSchedule
from ge_dialect.transforms.streams.ge_stream_single import GeStreamSingle
from ge_dialect.transforms.streams.ge_stream_skipped_engine import GeStreamSkippedEngine
from ge_dialect.transforms.streams.ge_transfer_stream_labels import GeTransferStreamLabels
from ge_dialect.transforms.streams.schedule.graph import DEFAULT_DEVICE

MAX_CONCURRENCY, SCHEDULE = "max-concurrency", "schedule"
PLAIN_MODES = ("single", "multi", "dynamic", MAX_CONCURRENCY)
_KNOWN = ", ".join((*PLAIN_MODES, "cv", *(f"{each}:N" for each in (SCHEDULE, *DAG_STRATEGIES))))


def scheduled_streams(mode: str) -> int | None:
    """The N of mode `schedule:N`, 4 for `schedule`, None for another mode. Raises StreamError (E10001) for a bad N."""
    name, colon, number = mode.partition(":")
    if name != SCHEDULE:
        return None
    if not colon:
        return DEFAULT_STREAMS
    if not number.isascii() or not number.isdecimal() or not 1 <= int(number) <= MAX_AUTO_STREAMS:
        raise bad_option("mode", mode, f"the number of streams is from 1 to {MAX_AUTO_STREAMS}")
    return int(number)


@dataclass(frozen=True)
class GeAssignStreams(Preset):
    """Put the nodes of every graph on streams: a list of passes, one a rule of GE's allocator.

    Expects `ge.engine` on the nodes (ge-assign-engines) and block order = topological order. Guarantees afterwards:
    `ge.stream` on every node that needs one, in no graph a number that no node has; none (that is, -1) on inputs,
    constants and what is computed from these alone without device tasks; `ge.stream_num` on the root graph, attached
    streams included. Streams from before are forgotten.

    Options:
    * `mode`:
      * `single` (default): one stream (spec/streams.md section 3);
      * `multi`: streams by engine, label and dependency (section 2), as GE does by default;
      * `cv`, `"LoadBalance:N"`, `"MainStream:N"`, `"WeightedLoadBalance:N"`: `multi` in this automatic mode
        (sections 1.6 and 14.3), N streams from 1 to 64;
      * `dynamic`: models of unknown shape on several streams, with the events between them (section 4);
      * `"schedule:N"`: at most N streams (`schedule`: 4) by simulated time, see ge-stream-schedule;
      * `max-concurrency`: as many streams as lose no concurrency, see ge-stream-max-concurrency;
    * `auto`: the text of GE's `ge.autoMultistreamParallelMode`, for modes that do not say it themselves; the root
      graph's `ge.auto_multistream_mode` wins over both;
    * `max-parallel`, `memory-priority`: see ge-stream-dependency;
    * `hcom-parallel`: see ge-stream-all-reduce;
    * `ac-parallel-enable`: see ge-stream-dynamic;
    * `topo-sorting-mode`: see ge-cluster-engines;
    * `profile`: see ge-stream-auto and ge-stream-schedule;
    * `device`: the device profile of `schedule`;
    * `option-names`: see ge-stream-single.

    Raises StreamError for an unknown mode and for options that exclude each other, with GE's code in the error object:
    an automatic mode and a single stream (E10056), a stream label and a single stream (E10055), values that are none
    (E10001).

    Before and after, mode `single`:

        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine"} : tensor<2xf32>
        %y = ge.op "Relu" (%x) {ge.name = "y", ge.engine = "AIcoreEngine", ge.stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-assign-streams"

    mode: str = "single"
    auto: str = ""
    max_parallel: str = ""
    memory_priority: bool = False
    hcom_parallel: bool = False
    ac_parallel_enable: str | int = ""
    topo_sorting_mode: str | int = ""
    profile: str = ""
    device: str = DEFAULT_DEVICE
    option_names: str = ""

    def passes(self) -> tuple[ModulePass, ...]:
        """Raises StreamError for an unknown mode."""
        if self.mode == "single":
            return self.single()
        if self.mode == MAX_CONCURRENCY:
            self._refuse_auto()
            return self.multi("", [GeStreamMaxConcurrency()])
        if (streams := scheduled_streams(self.mode)) is not None:
            self._refuse_auto()
            return self.multi("", [GeStreamSchedule(streams, self.device, self.profile)])
        auto = self._auto()
        return self.dynamic(auto) if self.mode == "dynamic" else self.multi(auto)

    def _auto(self) -> str:
        """The automatic mode that the options ask for."""
        if self.mode in PLAIN_MODES:
            return self.auto
        try:
            parse_auto_mode(self.mode)
        except StreamError as error:
            if self.mode.partition(":")[0] in DAG_STRATEGIES:
                reason = error.message.removeprefix(f"{OPTION} cannot be '{self.mode}': ")
                raise bad_option("mode", self.mode, reason) from None
            raise bad_option("mode", self.mode, f"expected one of {_KNOWN}") from None
        if not self.mode:
            raise bad_option("mode", self.mode, f"expected one of {_KNOWN}")
        self._refuse_auto()
        return self.mode

    def _refuse_auto(self) -> None:
        if self.auto:
            raise bad_option("auto", self.auto, f"the mode is '{self.mode}' already")

    def single(self) -> tuple[ModulePass, ...]:
        """The chain for one stream."""
        return (
            GeTransferStreamLabels(),
            GeClusterEngines(self.topo_sorting_mode),
            GeStreamSingle(self.auto, self.option_names),
            GeStreamNodeUpdate(),
            GeStreamSkippedEngine(),
            GeStreamNumber(),
            GeStreamRefresh(),
            GeStreamAttached(),
        )

    def multi(self, auto: str, custom: Sequence[ModulePass] = ()) -> tuple[ModulePass, ...]:
        """The chain for streams by engine, label and dependency; `custom` are stream passes of the user."""
        return (
            # Labels are final before anything groups by them.
            GeTransferStreamLabels(),
            GeMarkCvParallel(auto),
            GeClusterEngines(self.topo_sorting_mode),
            # Numbers are taken in this order: groups, labels, independent engines, engines by name.
            GeStreamMdeGroup(),
            GeStreamLabel(),
            GeStreamIndependent(),
            GeStreamDependency(self.max_parallel, self.memory_priority),
            # From here on nodes move, one by one.
            GeStreamNodeUpdate(),
            GeStreamParallelGroup(),
            GeStreamAllReduce(self.hcom_parallel),
            GeStreamSkippedEngine(),
            GeStreamIneffective(),
            # One range of numbers, which passes of users see.
            GeStreamNumber(),
            GeStreamAuto(auto, self.profile),
            *custom,
            # Jumps do not cross streams, whoever put their nodes there.
            GeStreamJumps(),
            # Nothing moves any more: close the gaps, then number what comes beside the main streams.
            GeStreamRefresh(),
            GeStreamAttached(),
        )

    def dynamic(self, auto: str, custom: Sequence[ModulePass] = ()) -> tuple[ModulePass, ...]:
        """The chain for models of unknown shape; `custom` are stream passes of the user."""
        return (
            GeTransferStreamLabels(),
            GeMarkCvParallel(auto),
            GeClusterEngines(self.topo_sorting_mode),
            GeStreamDynamic(ac_parallel_enable=self.ac_parallel_enable),
            GeStreamDynamicRefresh(),
            GeStreamAuto(auto, self.profile),
            *custom,
            GeStreamDynamicCompact(auto),
            GeDynamicEvents(),
            GeStreamAttached(),
            GeAttachedSync(),
        )
