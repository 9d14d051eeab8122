"""From a graph to a scheduling problem: times by the device profile or as measured."""

from __future__ import annotations

from ge_dialect.analysis.streams.engines import EngineTable
from ge_dialect.analysis.streams.node_time import NodeTimes
from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel
from ge_dialect.dialects.ge.access import node_name
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.transforms.streams.dag.profile import measured, read_profile
from ge_dialect.transforms.streams.own_streams import TakingPart
from ge_dialect.transforms.streams.schedule.problem import Problem, SyncTimes

DEFAULT_DEVICE = "ascend-2024"


class Clock:
    """What nodes and events of a model cost: by the device profile `device`, nodes that the CSV file `measured_times`
    ("" for none) knows by that.

    Raises GeError for a profile or file that cannot be read.
    """

    def __init__(self, model: StreamModel, device: str, measured_times: str = "") -> None:
        profile = load_profile(device)
        self.engines: EngineTable = model.engines
        self._times = NodeTimes(model.module, profile)
        self._measured = read_profile(measured_times) if measured_times else {}
        flag = profile.task("sync", 0)
        self._sync = SyncTimes(record=flag, wait=flag)

    def problem(self, view: GraphNodes, part: TakingPart) -> Problem:
        """The problem of the nodes that take part."""
        times: list[float] = []
        for index in part.nodes:
            op = view.nodes[index]
            row = measured(self._measured, node_name(op)) if self._measured else None
            times.append(self._times.of(op) if row is None else row.time)
        return Problem(times, part.sources, self._sync, part.lanes if part.has_lanes else ())
