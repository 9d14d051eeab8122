"""Real models on four streams: the numbers of one stream, whatever the streams do meanwhile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import data_operands, graphs, is_absent, set_int
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge_task import EventRecordOp, EventWaitOp, ModelOp
from ge_dialect.program import context, load, make_passes
from ge_dialect.runtime import DeviceOptions
from ge_dialect.runtime import load as load_device
from ge_dialect.runtime.checker import check
from ge_dialect.tools.random_inputs import random_inputs

STREAMS = 4
SYNC = (
    "ge-activate-streams,ge-insert-events,ge-optimize-events{minimal}ge-reuse-events{colored}"
    "ge-insert-attached-events,ge-activate-switches,ge-activate-loops,ge-cover-attached-streams,"
    "ge-insert-sync-nodes,ge-verify-sync{split},convert-ge-to-ge-task"
)
WAYS = {
    "reference": SYNC.format(minimal=",", colored=",", split=""),
    "minimal": SYNC.format(
        minimal=",ge-minimize-events,",
        colored=",ge-color-events,",
        split=",ge-split-streams{max_tasks=59},ge-update-active-streams,ge-insert-sync-nodes,ge-verify-sync",
    ),
}


def run(passes: str, module: ModuleOp) -> None:
    for each in make_passes(passes):
        each.apply(context(), module)
    module.verify()


def branches_round_robin(module: ModuleOp) -> None:
    """A node goes on with the stream of a producer that nobody has gone on with yet, else the next stream in turn."""
    root = graphs(module)[0]
    stream_of: dict[Operation, int] = {}
    continued: set[Operation] = set()
    turn = 0
    for op in root.block.ops:
        op.attributes.pop("ge.stream", None)
        producers = [x.owner for x in data_operands(op) if not is_absent(x)]
        if not isinstance(op, GeNode) or not producers:
            continue
        free = [x for x in producers if x in stream_of and x not in continued]
        if free:
            assert isinstance(free[0], Operation)
            continued.add(free[0])
            stream_of[op] = stream_of[free[0]]
        else:
            stream_of[op] = turn % STREAMS
            turn += 1
        set_int(op, "ge.stream", stream_of[op])
    set_int(root, "ge.stream_num", STREAMS)


def task_list(module: ModuleOp) -> ModelOp:
    return next(op for op in module.body.block.ops if isinstance(op, ModelOp))


def queue_entries(model: ModelOp) -> dict[int, int]:
    """Entries of each stream's queue; a wait takes two."""
    found: dict[int, int] = {}
    for task in model.tasks():
        stream = task.properties["stream"].value.data  # pyright: ignore
        found[stream] = found.get(stream, 0) + 1 + isinstance(task, EventWaitOp)
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "name",
    [
        "inception_v3_slim",
        pytest.param("moe_dense_slim", marks=pytest.mark.slow),
        pytest.param("hrnet_slim", marks=pytest.mark.slow),
    ],
)
def test_model(name: str, way: str, shared_models: Path) -> None:
    path = shared_models / f"{name}.onnx"
    single, several = load(path), load(path)
    run("ge-pipeline", single)
    run("ge-pipeline{until=ge-topo-sort}", several)
    branches_round_robin(several)
    run(f"ge-plan-memory,{WAYS[way]}", several)
    model = task_list(several)
    assert model.event_num.value.data > 20 or way == "minimal"
    assert check(model) == []
    if way == "minimal":
        assert max(queue_entries(model).values()) <= 59
    device = load_device(single, DeviceOptions())
    inputs = random_inputs(device.inputs, 0)
    expected = device.run(inputs).outputs
    for seed in range(4):
        outputs = load_device(several, DeviceOptions(order="random", seed=seed)).run(inputs).outputs
        assert outputs.keys() == expected.keys()
        assert all(np.array_equal(outputs[key], expected[key]) for key in expected)


def test_a_missing_event_is_found(shared_models: Path) -> None:
    module = load(shared_models / "inception_v3_slim.onnx")
    run("ge-pipeline{until=ge-topo-sort}", module)
    branches_round_robin(module)
    minimal = SYNC.format(minimal=",ge-minimize-events,", colored=",", split="")
    run(f"ge-plan-memory,{minimal}", module)
    count = task_list(module).event_num.value.data
    assert count > 20
    for event in range(0, count, 5):
        broken = module.clone()
        model = task_list(broken)
        for op in list(model.body.block.ops):
            if isinstance(op, EventRecordOp | EventWaitOp) and op.event.value.data == event:
                op.detach()
                op.erase()
        assert any(finding.condition == "hazard" for finding in check(model)), event
