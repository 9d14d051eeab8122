"""What the reference would do with the same nodes, so that schedules can be compared with it."""

from __future__ import annotations

from collections.abc import Sequence

from ge_dialect.transforms.streams.dag.allocate import allocate
from ge_dialect.transforms.streams.dag.problem import Dag, DagNode
from ge_dialect.transforms.streams.schedule.problem import FREE, Problem


def balanced(problem: Problem, limit: int) -> list[int]:
    """The streams of `LoadBalance:limit`; nodes with a lane have one stream a lane beside them."""
    readers: list[list[int]] = [[] for _ in problem.times]
    for node, sources in enumerate(problem.sources):
        for source in sources:
            readers[source].append(node)
    serial = [
        "" if problem.lane(node) is FREE else repr(problem.lane(node))
        for node in range(len(problem.times))
    ]
    dag = Dag([DagNode(each) for each in serial], readers)
    return allocate(dag, "LoadBalance", limit - 1).streams


def free_streams(problem: Problem, streams: Sequence[int]) -> int:
    """How many streams the nodes without lane use."""
    if not problem.lanes:
        return len(set(streams))
    return len(
        {stream for lane, stream in zip(problem.lanes, streams, strict=True) if lane is FREE}
    )


def keeps_lanes(problem: Problem, streams: Sequence[int]) -> bool:
    """Whether every lane has one stream, which nobody else uses."""
    if not problem.lanes:
        return True
    lane_of: dict[int, object] = {}
    stream_of_lane: dict[object, int] = {}
    for lane, stream in zip(problem.lanes, streams, strict=True):
        if lane_of.setdefault(stream, lane) != lane:
            return False
        if lane is not FREE and stream_of_lane.setdefault(lane, stream) != stream:
            return False
    return True
