"""Timelines against the Chrome trace format: well formed spans, arrows with two ends, tracks with names.

What is checked is what Perfetto and chrome://tracing rely on: `X` events have a time and a duration and nest on their
track, every `s` has exactly one `f` that is not before it, and both lie on a span of their track.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ge_dialect import program
from ge_dialect.runtime import DeviceOptions, Executable, RunResult
from ge_dialect.runtime.timeline import chrome_trace_json

Loader = Callable[..., Executable]

_SLACK = 1e-6


def check_trace(text: str) -> dict[str, list[dict[str, Any]]]:
    """Raise AssertionError unless `text` is a well formed trace; its spans by the names of their tracks."""
    trace = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    assert trace["displayTimeUnit"] in ("ms", "ns")
    names: dict[tuple[int, int], str] = {}
    processes: set[int] = set()
    spans: dict[tuple[int, int], list[dict[str, Any]]] = {}
    ends: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for event in trace["traceEvents"]:
        assert isinstance(event["name"], str)
        assert event["name"]
        assert isinstance(event["pid"], int)
        kind = event["ph"]
        if kind == "M":
            assert event["name"] in ("process_name", "thread_name")
            if event["name"] == "process_name":
                processes.add(event["pid"])
            else:
                assert (event["pid"], event["tid"]) not in names, "a track has two names"
                names[event["pid"], event["tid"]] = event["args"]["name"]
            continue
        assert kind in ("X", "s", "f"), f"an event of kind {kind}"
        assert isinstance(event["tid"], int)
        assert event["ts"] >= 0
        if kind == "X":
            assert event["dur"] >= 0
            spans.setdefault((event["pid"], event["tid"]), []).append(event)
        else:
            assert kind == "s" or event["bp"] == "e"
            ends.setdefault((event["cat"], event["name"], event["id"]), []).append(event)
    for track, events in spans.items():
        assert track in names
        assert track[0] in processes
        open_until: list[float] = []
        for event in sorted(events, key=lambda x: (x["ts"], -x["dur"])):
            start, end = event["ts"], event["ts"] + event["dur"]
            while open_until and open_until[-1] <= start + _SLACK:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + _SLACK, f"{event} crosses another span"
            open_until.append(end)
    for pair in ends.values():
        assert [x["ph"] for x in pair] == ["s", "f"]
        assert pair[0]["ts"] <= pair[1]["ts"] + _SLACK
        for end in pair:
            assert any(
                x["ts"] - _SLACK <= end["ts"] <= x["ts"] + x["dur"] + _SLACK
                for x in spans[end["pid"], end["tid"]]
            ), f"{end} is on no span"
    return {names[track]: events for track, events in spans.items()}


def check_result(result: RunResult) -> dict[str, list[dict[str, Any]]]:
    return check_trace(chrome_trace_json(result.timeline, result.flows))


@pytest.mark.parametrize(
    ("event", "complaint"),
    [
        ({"ph": "X", "ts": 1.0, "dur": -1.0}, "assert -1.0 >= 0"),
        ({"ph": "X", "ts": 0.5, "dur": 9.0}, "crosses"),
        ({"ph": "s", "ts": 0.5, "id": 7, "cat": "flow"}, "s"),
        ({"ph": "B", "ts": 0.5}, "kind B"),
    ],
)
def test_the_check_sees_what_is_wrong(event: dict[str, Any], complaint: str) -> None:
    base = [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "rank 0"}},
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "host"}},
        {"ph": "X", "name": "a", "pid": 0, "tid": 0, "ts": 0.0, "dur": 2.0},
    ]
    trace = {"traceEvents": base, "displayTimeUnit": "ms"}
    assert check_trace(json.dumps(trace))["host"]
    trace["traceEvents"] = [*base, {"name": "b", "pid": 0, "tid": 0, **event}]
    with pytest.raises((AssertionError, KeyError), match=complaint):
        check_trace(json.dumps(trace))


STEPS = """
ge_task.host @m streams 2 events 1 {
  %x = ge_task.input 0 name "x" : host tensor<?xf32>
  %d = ge_task.h2d(%x) stream 0
  %a = ge_task.launch "Neg"(%d) -> (device tensor<?xf32>) stream 0 {ge.name = "a"}
  ge_task.record 0 stream 0
  ge_task.wait 0 stream 1
  %b = ge_task.launch "Abs"(%a) -> (device tensor<?xf32>) stream 1 {ge.name = "b"}
  ge_task.sync stream 1
  %h = ge_task.d2h(%b) stream 1
  ge_task.output 0(%h) name "y"
}"""


def test_steps_of_a_host_program(loaded: Loader) -> None:
    result = loaded(STEPS, record_timeline=True).run([np.ones(4, np.float32)])
    tracks = check_result(result)
    assert set(tracks) == {"host", "stream 0", "stream 1"}
    assert {x.kind for x in result.flows[0]} == {"launch", "copy", "event"}


CLUSTER = """
ge_task.host @m streams 2 {
  %x = ge_task.input 0 name "x" : device tensor<4xf32>
  %y = ge_task.execute @part(%x) -> (device tensor<4xf32>) stream 1 op 3
  %z = ge_task.execute @part(%y) -> (device tensor<4xf32>) stream 1 op 4
  ge_task.output 0(%z) name "z"
}
ge_task.model @part streams 2 events 1 arenas {hbm = 1536} {
  %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
  %a = ge_task.buffer hbm at 512 size 16 : tensor<4xf32>
  %y = ge_task.buffer hbm at 1024 size 16 output 0 : tensor<4xf32>
  ge_task.kernel "Neg"(%x) -> (%a) stream 0 {ge.name = "n"}
  ge_task.event_record 0 stream 0
  ge_task.event_wait 0 stream 1
  ge_task.kernel "Abs"(%a) -> (%y) stream 1 {ge.name = "m"}
}"""


def test_tasks_of_a_part_are_shown_on_its_streams(loaded: Loader) -> None:
    executable = loaded(CLUSTER, record_timeline=True)
    result = executable.run([np.ones(4, np.float32)])
    tracks = check_result(result)
    # The part's first stream is the one that executes it; its second has a track of its own for each step.
    assert [x["name"] for x in tracks["stream 1"] if x["cat"] == "kernel"] == ["n", "n"]
    assert [x["name"] for x in tracks["stream 2"] if x["cat"] == "kernel"] == ["m"]
    assert [x["name"] for x in tracks["stream 3"] if x["cat"] == "kernel"] == ["m"]
    assert "stream 0" not in tracks or all(x["cat"] != "kernel" for x in tracks["stream 0"])
    kinds = [(x.kind, x.source.track, x.target.track) for x in result.flows[0]]
    assert kinds.count(("event", "stream 1", "stream 2")) == 1
    assert kinds.count(("event", "stream 1", "stream 3")) == 1
    assert kinds.count(("launch", "host", "stream 1")) == 2
    plain = loaded(CLUSTER).run([np.ones(4, np.float32)])
    assert plain.report.simulated_us == pytest.approx(result.report.simulated_us)
    last = max(x["ts"] + x["dur"] for events in tracks.values() for x in events)
    assert last == pytest.approx(result.report.simulated_us)


def dynamic_model() -> onnx.ModelProto:
    """A part of known shape, a node whose size depends on data, shape arithmetic, and a Reshape."""
    make = helper.make_node
    nodes = [
        make("Neg", ["x"], ["a"]),
        make("Exp", ["a"], ["b"]),
        make("Tanh", ["b"], ["c"]),
        make("Sqrt", ["b"], ["d"]),
        make("Add", ["c", "d"], ["e"]),
        make("NonZero", ["e"], ["i"]),
        make("Shape", ["i"], ["s"]),
        make("Gather", ["s", "one"], ["g"]),
        make("Reshape", ["i", "flat"], ["r"]),
    ]
    graph = helper.make_graph(
        nodes,
        "main",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])],
        [
            helper.make_tensor_value_info("r", TensorProto.INT64, ["n"]),
            helper.make_tensor_value_info("g", TensorProto.INT64, [1]),
        ],
        [
            helper.make_tensor("one", TensorProto.INT64, [1], [1]),
            helper.make_tensor("flat", TensorProto.INT64, [1], [-1]),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("profile", ["default", "ascend-2024"])
def test_a_dynamic_model(profile: str) -> None:
    options = DeviceOptions(unknown_kernels="error", record_timeline=True, profile=profile)
    compiled = program.compile(dynamic_model(), device_options=options)
    result = compiled.run({"x": np.arange(8, dtype=np.float32).reshape(2, 4)})
    tracks = check_result(result)
    kernels = {x["args"]["type"] for x in tracks["stream 0"] if x["cat"] == "kernel"}
    assert {"Neg", "Exp", "NonZero"} <= kernels  # those of the part, and what the host launches
    host = {x["cat"] for x in tracks["host"]}
    assert {"infer_shape", "alloc", "launch", "execute", "stream_sync"} <= host


@pytest.mark.parametrize("streams", ["single", "multi"])
def test_a_static_model(streams: str) -> None:
    model = dynamic_model()
    del model.graph.node[5:]
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, [2, 4]))
    options = DeviceOptions(unknown_kernels="error", record_timeline=True)
    compiled = program.compile(
        model, pipeline=f'ge-pipeline{{streams="{streams}"}}', device_options=options
    )
    assert check_result(compiled.run({"x": np.ones((2, 4), np.float32)}))
