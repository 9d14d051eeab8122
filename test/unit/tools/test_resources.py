"""`--resources`: what a module takes of a device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ge_dialect import program
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels.device_limits import DeviceLimits, limits_of
from ge_dialect.kernels.device_profile import load_profile
from ge_dialect.tools.ge_opt import main as ge_opt
from ge_dialect.tools.resources import Ids, Resources, Usage, resources_of, to_text
from ge_dialect.tools.resources.report import ranges_text

GRAPH = """
ge.graph @g {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  %a = ge.op "A" (%x) {ge.name = "a"} : tensor<64xf32>
  %b = ge.op "B" (%x) attrs {_stream_label = "l"} {ge.name = "b"} : tensor<64xf32>
  %c = ge.op "C" (%a, %b) {ge.name = "c"} : tensor<64xf32>
  ge.net_output (%c) {ge.name = "out"}
}
"""
MULTI = "ge-pipeline{streams=multi"


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "g.mlir"
    path.write_text(GRAPH)
    return str(path)


def found_by(source: str, pipeline: str, device: str = "") -> Resources:
    module = program.load(source)
    ctx = program.context()
    for each in program.make_passes(pipeline):
        each.apply(ctx, module)
    return resources_of(module, device)


def test_graph_and_task_list_agree(source: str) -> None:
    graph = found_by(source, f"{MULTI} until=ge-default-streams}}")
    tasks = found_by(source, f"{MULTI}}}")
    (before,), (after,) = graph.parts, tasks.parts
    assert (before.kind, after.kind) == ("graph", "task list")
    assert before.tasks == after.tasks
    assert set(before.tasks or ()) == {0, 1}
    assert before.events == after.events == Ids(1, [0])
    assert before.memory == after.memory
    assert graph.rows == tasks.rows
    assert graph.fits


def test_counting_leaves_the_graph_alone(source: str) -> None:
    module = program.load(source)
    ctx = program.context()
    for each in program.make_passes("ge-assign-engines"):
        each.apply(ctx, module)
    before = module.clone()
    (part,) = resources_of(module).parts
    assert part.memory is None
    assert part.tasks == {0: 4}  # three kernels and the end
    assert module.is_structurally_equivalent(before)


TASKS = """
ge_task.model @m streams 4 events 3 arenas {hbm = 512, host = 4096} {
  ge_task.nop stream 0 sqe_num 5
  ge_task.event_record 1 stream 0
  ge_task.event_wait 1 stream 2
}
"""


def task_list(tmp_path: Path) -> Usage:
    path = tmp_path / "t.mlir"
    path.write_text(TASKS)
    (part,) = resources_of(program.load(str(path))).parts
    return part


def test_unused_ids_and_idle_streams(tmp_path: Path) -> None:
    part = task_list(tmp_path)
    assert part.tasks == {0: 6, 2: 2}  # a wait and its reset
    assert part.idle_streams == [1, 3]
    assert part.events.unused == [0, 2]
    assert part.memory == {"hbm": 512}
    text = to_text(Resources("d", DeviceLimits(streams=4), [part]))
    assert "  streams without tasks: 1, 3\n" in text
    assert "  events: 3, unused: 0, 2\n" in text
    assert text.endswith(
        "fits device d (not known: events, notifies, tasks of a stream, memory bytes)"
    )


@pytest.mark.parametrize(
    ("limits", "exceeded"),
    [
        (DeviceLimits(streams=4, events=3, tasks_per_stream=13, memory_bytes=512), []),
        (DeviceLimits(streams=3), ["streams"]),
        (DeviceLimits(events=2), ["events"]),
        (DeviceLimits(tasks_per_stream=12), ["tasks of a stream"]),  # 6 and 7 for profiling
        (DeviceLimits(tasks_per_stream=12, unlimited_depth=True), []),
        (DeviceLimits(memory_bytes=511), ["memory bytes"]),
    ],
)
def test_verdict(tmp_path: Path, limits: DeviceLimits, exceeded: list[str]) -> None:
    found = Resources("d", limits, [task_list(tmp_path)])
    assert [row.resource for row in found.exceeded] == exceeded
    last = to_text(found).splitlines()[-1]
    assert last.startswith(f"exceeds device d: {exceeded[0]}" if exceeded else "fits device d")


def test_huge_streams_have_limits_of_their_own() -> None:
    part = Usage("m", "task list", Ids(2, [0, 1]), tasks={0: 2000, 1: 5}, huge_streams=[0])
    limits = DeviceLimits(
        streams=1, huge_streams=1, tasks_per_stream=12, tasks_per_huge_stream=2006
    )
    found = Resources("d", limits, [part])
    assert [row.resource for row in found.exceeded] == ["tasks of a huge stream"]


def test_parts_add_up() -> None:
    part = Usage("m", "task list", Ids(2, [0, 1]), tasks={0: 1, 1: 1}, memory={"hbm": 10})
    host = Usage("h", "host program", Ids(1, [0]))
    found = Resources("d", DeviceLimits(streams=4, memory_bytes=19), [host, part, part])
    assert [row.resource for row in found.exceeded] == ["streams", "memory bytes"]


def test_ge_opt_prints_json(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [source, "-p", f"{MULTI}}}", "-o", "/dev/null", "--device", "ascend-2024"]
    assert ge_opt([*arguments, "--resources=json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().err)
    assert (found["device"], found["fits"]) == ("ascend-2024", True)
    assert found["resources"][0] == {
        "resource": "streams",
        "needed": 2,
        "limit": 2048,
        "fits": True,
    }
    assert found["parts"][0]["name"] == "g"
    assert ge_opt([*arguments, "--resources"]) == 0
    assert capsys.readouterr().err.endswith("fits device ascend-2024\n")


def test_nothing_to_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "e.mlir"
    path.write_text("builtin.module {}")
    assert ge_opt([str(path), "--resources", "-o", "/dev/null"]) == 1
    assert "the module has neither a graph nor a task list" in capsys.readouterr().err


def test_the_device_decides_where_streams_are_cut(tmp_path: Path) -> None:
    nodes = "".join(
        f'  %n{i + 1} = ge.op "A" (%n{i}) {{ge.name = "n{i}"}} : tensor<64xf32>\n'
        for i in range(60)
    )
    source, device, out = tmp_path / "g.mlir", tmp_path / "d.toml", tmp_path / "o.mlir"
    source.write_text(
        f'ge.graph @g {{\n  %n0 = ge.data index 0 {{ge.name = "x"}} : tensor<64xf32>\n{nodes}'
        '  ge.net_output (%n60) {ge.name = "out"}\n}\n'
    )
    device.write_text("[limits]\ntasks_per_stream = 57\nunlimited_depth = false\n")
    whole = [str(source), "-p", f"{MULTI}}}", "-o", str(out)]
    assert ge_opt(whole) == 0
    assert "streams 1 " in out.read_text()
    assert ge_opt([*whole, "--device", str(device)]) == 0
    assert "streams 3 " in out.read_text()
    device.write_text("[limits]\ntasks_per_stream = 57\nunlimited_depth = true\n")
    assert ge_opt([*whole, "--device", str(device)]) == 0
    assert "streams 1 " in out.read_text()
    device.write_text("[limits]\nunlimited_depth = false\n")
    assert ge_opt([*whole, "--device", str(device)]) == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"stream": 1}, "unknown key 'stream'"),
        ({"streams": -1}, "limits.streams should be a whole number >= 0, got -1"),
        ({"streams": 1.5}, "got 1.5"),
        ({"streams": True}, "got True"),
        ({"unlimited_depth": 1}, "limits.unlimited_depth should be true or false, got 1"),
        (3, r"\[limits\] should be a table"),
    ],
)
def test_bad_limits(table: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        limits_of(table)


def test_unknown_device(source: str) -> None:
    with pytest.raises(GeError, match="no device profile 'none'"):
        found_by(source, "ge-assign-engines", "none")


@pytest.mark.parametrize("name", ["default", "ascend-2024"])
def test_shipped_profiles_have_limits(name: str) -> None:
    limits = load_profile(name).limits
    assert None not in (limits.streams, limits.events, limits.tasks_per_stream, limits.memory_bytes)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([0, 2, 3, 4, 9], "0, 2 to 4, 9"), ([1, 2], "1 to 2")],
)
def test_ranges(numbers: list[int], text: str) -> None:
    assert ranges_text(numbers) == text


def test_a_graph_of_unknown_shape_takes_what_it_takes_at_run_time(tmp_path: Path) -> None:
    path = tmp_path / "d.mlir"
    path.write_text(GRAPH.replace("tensor<64xf32>", "tensor<?xf32>"))
    found = found_by(str(path), "ge-assign-engines")
    (part,) = found.parts
    assert (part.kind, part.tasks, part.memory) == ("graph of unknown shape", None, None)
    assert [row.resource for row in found.unknown] == ["tasks of a stream", "memory bytes"]
