"""Real models in every mode: the numbers of one stream, in whatever order the streams run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.program import context, load, make_passes
from ge_dialect.runtime import DeviceOptions
from ge_dialect.runtime import load as load_device
from ge_dialect.tools.random_inputs import random_inputs

SYNC = (
    "ge-activate-streams,ge-insert-events,ge-optimize-events,ge-reuse-events,ge-insert-attached-events,"
    "ge-activate-switches,ge-activate-loops,ge-cover-attached-streams,ge-insert-sync-nodes,ge-attached-sync,"
    "ge-verify-sync,convert-ge-to-ge-task"
)


def compiled(path: Path, mode: str) -> tuple[ModuleOp, int]:
    """The task list in a mode, and the number of streams."""
    module = load(path)
    pipeline = f'ge-canonicalize,ge-assign-engines,ge-topo-sort,ge-assign-streams{{mode="{mode}"}}'
    for each in make_passes(pipeline):
        each.apply(context(), module)
    streams = get_int(graphs(module)[0], "ge.stream_num")
    assert streams is not None
    for each in make_passes(f"ge-plan-memory,{SYNC}"):
        each.apply(context(), module)
    module.verify()
    return module, streams


@pytest.mark.parametrize(
    ("name", "mode", "streams"),
    [
        ("inception_v3_slim", "multi", 1),
        ("inception_v3_slim", "LoadBalance:4", 4),
        ("inception_v3_slim", "MainStream:4", 3),
        ("squeezenet_slim", "LoadBalance:4", 4),
    ],
)
def test_numbers(name: str, mode: str, streams: int, shared_models: Path) -> None:
    path = shared_models / f"{name}.onnx"
    several, count = compiled(path, mode)
    assert count == streams
    single = load_device(compiled(path, "single")[0], DeviceOptions())
    inputs = random_inputs(single.inputs, 0)
    expected = single.run(inputs).outputs
    for seed in range(2):
        device = load_device(several, DeviceOptions(order="random", seed=seed))
        outputs = device.run(inputs).outputs
        assert outputs.keys() == expected.keys()
        assert all(np.array_equal(outputs[key], expected[key]) for key in expected)
