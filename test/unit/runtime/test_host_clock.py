"""Host and streams on the simulated clock: what overlaps, what waits, what is skipped, what the timeline shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ge_dialect.runtime import Executable
from ge_dialect.runtime.timeline import chrome_trace, chrome_trace_json

Loader = Callable[..., Executable]

PROFILE = """
[device]
kernel = { fixed_us = 100.0 }
[host]
infer_shape = { fixed_us = 1.0 }
tiling = { fixed_us = 2.0 }
alloc = { fixed_us = 3.0 }
launch = { fixed_us = 4.0 }
host_call = { fixed_us = 5.0 }
h2d = { issue_us = 6.0, fixed_us = 10.0, bytes_per_us = 4.0 }
d2h = { issue_us = 7.0, fixed_us = 20.0, bytes_per_us = 4.0 }
stream_sync = { fixed_us = 8.0 }
record = { fixed_us = 0.5 }
wait = { fixed_us = 0.25 }
"""


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "clock.toml"
    path.write_text(PROFILE)
    return str(path)


TWO_STREAMS = """
ge_task.host @m streams 2 events 1 {
  %x = ge_task.input 0 name "x" : host tensor<?xf32>
  %d = ge_task.h2d(%x) stream 0
  %a = ge_task.launch "Neg"(%d) -> (device tensor<?xf32>) stream 0 {ge.name = "a"}
  ge_task.record 0 stream 0
  ge_task.wait 0 stream 1
  %b = ge_task.launch "Abs"(%a) -> (device tensor<?xf32>) stream 1 {ge.name = "b"}
  %c = ge_task.host_call "Exp"(%x) -> (host tensor<?xf32>) {ge.name = "c"}
  ge_task.sync stream 1
  %h = ge_task.d2h(%b) stream 1
  ge_task.output 0(%h) name "y"
  ge_task.output 1(%c) name "c"
}"""


def test_host_and_streams_run_side_by_side(loaded: Loader, profile: str) -> None:
    report = loaded(TWO_STREAMS, profile=profile).run([np.ones(4, np.float32)]).report
    copied = 6 + 10 + 16 / 4  # the host asks for 6, then the stream copies
    first = copied + 100  # the host has issued the launch long before
    second = first + 100
    synchronised = second + 8
    assert report.simulated_us == pytest.approx(synchronised + 7 + 20 + 16 / 4)
    called = 1 + 3 + 5  # a call that allocates for itself infers the shape too
    issued = 6 + 10 + 0.5 + 0.25 + 10 + called
    assert report.host_us["idle"] == pytest.approx(second - issued + 24)
    assert report.host_us["launch"] == 8
    assert report.device_us == pytest.approx({"h2d": 14, "kernel": 200, "d2h": 24})
    assert sum(report.host_us.values()) == pytest.approx(report.simulated_us)


def test_timeline_adds_up(loaded: Loader, profile: str) -> None:
    executable = loaded(TWO_STREAMS, profile=profile, record_timeline=True)
    plain = loaded(TWO_STREAMS, profile=profile)
    x = np.ones(4, np.float32)
    result = executable.run([x])
    assert result.report.simulated_us == pytest.approx(plain.run([x]).report.simulated_us)
    tracks: dict[str, list[Any]] = {}
    for interval in result.timeline[0]:
        tracks.setdefault(interval.track, []).append(interval)
    assert set(tracks) == {"host", "stream 0", "stream 1"}
    for intervals in tracks.values():
        assert all(a.end <= b.start + 1e-9 for a, b in pairwise(intervals))
    kinds = [(x.kind, x.source.track, x.target.track) for x in result.flows[0]]
    assert ("event", "stream 0", "stream 1") in kinds
    assert kinds.count(("launch", "host", "stream 0")) == 2  # the kernel and the record
    assert ("copy", "host", "stream 0") in kinds
    assert ("copy", "host", "stream 1") in kinds
    for flow in result.flows[0]:
        assert flow.source.start <= flow.target.start


def test_arrows_of_the_trace_have_two_ends(loaded: Loader, profile: str) -> None:
    executable = loaded(TWO_STREAMS, profile=profile, record_timeline=True)
    result = executable.run([np.ones(4, np.float32)])
    trace = json.loads(chrome_trace_json(result.timeline, result.flows))
    ends: dict[int, list[dict[str, Any]]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], []).append(event)
    assert len(ends) == len(result.flows[0]) > 4
    spans = [x for x in trace["traceEvents"] if x["ph"] == "X"]
    for start, finish in ends.values():
        assert (start["ph"], finish["ph"]) == ("s", "f")
        for end in (start, finish):
            assert any(
                x["tid"] == end["tid"] and x["ts"] <= end["ts"] <= x["ts"] + x["dur"] for x in spans
            )


def test_events_of_a_task_list_are_arrows(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 2 events 1 arenas {hbm = 1536} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
      %a = ge_task.buffer hbm at 512 size 16 : tensor<4xf32>
      %y = ge_task.buffer hbm at 1024 size 16 output 0 name "y" : tensor<4xf32>
      ge_task.kernel "Neg"(%x) -> (%a) stream 0 {ge.name = "n"}
      ge_task.event_record 0 stream 0
      ge_task.event_wait 0 stream 1
      ge_task.kernel "Abs"(%a) -> (%y) stream 1 {ge.name = "m"}
      ge_task.end_graph stream 1
    }"""
    result = loaded(text, record_timeline=True).run([np.ones(4, np.float32)])
    (flow,) = result.flows[0]
    assert (flow.kind, flow.source.kind, flow.target.kind) == (
        "event", "event_record", "event_wait",
    )  # fmt: skip
    assert flow.source.end <= flow.target.start
    assert result.report.device_us["kernel"] == 20
    assert (
        sum(1 for x in chrome_trace(result.timeline, result.flows)["traceEvents"] if x["ph"] == "s")
        == 1
    )


EMPTY = """
ge_task.host @m streams 1 {
  %x = ge_task.input 0 name "x" : device tensor<?x4xf32>
  %a = ge_task.launch "Neg"(%x) -> (device tensor<?x4xf32>) stream 0 {ge.name = "a"}
  %r = ge_task.launch "ReduceSumD"(%a) -> (device tensor<4xf32>) stream 0 attrs {axes = [0], keep_dims = false}
  ge_task.output 0(%a) name "a"
  ge_task.output 1(%r) name "r"
}"""


def test_a_node_with_empty_results_is_not_launched(loaded: Loader, profile: str) -> None:
    executable = loaded(EMPTY, profile=profile)
    result = executable.run([np.zeros((0, 4), np.float32)])
    np.testing.assert_array_equal(result["r"], np.zeros(4))
    assert result["a"].shape == (0, 4)
    report = result.report
    assert (report.launches, report.steps["skipped_launch"]) == (1, 1)
    assert report.host_us["infer_shape"] == 2  # shapes are inferred all the same
    assert report.host_us["tiling"] == 2
    full = executable.run([np.zeros((3, 4), np.float32)]).report
    assert full.launches == 2
    assert "skipped_launch" not in full.steps


NON_ZERO = """
ge_task.host @m streams 1 {
  %x = ge_task.input 0 name "x" : device tensor<4xf32>
  %i = ge_task.launch "NonZero"(%x) -> (device tensor<1x?xi64>) stream 0 source "ai.onnx::NonZero@13"
  ge_task.output 0(%i) name "i"
}"""


def test_sizes_that_the_kernel_finds_are_read_back(loaded: Loader, profile: str) -> None:
    report = loaded(NON_ZERO, profile=profile).run([np.array([1, 0, 2, 0], np.float32)]).report
    assert (report.syncs, report.d2h) == (1, 2)  # the sizes, and the output at the end
    assert report.moved_bytes == 16 + 24 + 16


PLACES = """
ge_task.host @m streams 1 {
  %x = ge_task.input 0 name "x" : any tensor<2xi64>
  %h = ge_task.ensure_host(%x)
  %d = ge_task.ensure_device(%x)
  %n = ge_task.launch "Neg"(%d) -> (device tensor<2xi64>) stream 0
  %m = ge_task.host_call "Neg"(%h) -> (host tensor<2xi64>)
  ge_task.output 0(%n) name "n"
  ge_task.output 1(%m) name "m"
}"""


def test_an_input_on_the_host_needs_no_synchronisation(loaded: Loader) -> None:
    report = loaded(PLACES).run([np.array([1, 2])]).report
    assert (report.h2d, report.d2h, report.syncs) == (1, 1, 0)
