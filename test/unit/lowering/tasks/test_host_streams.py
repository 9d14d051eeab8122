"""Host programs on several streams: each step runs behind what it reads, and outputs stay those of onnxruntime."""

from __future__ import annotations

import pytest
from feeds import make_feeds
from host_order import HostOrder
from models import PACKAGED_MODELS, SHARED_MODELS
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge_task import HostOp, ModelOp
from ge_dialect.dialects.ge_task.host_memory import WaitOp
from ge_dialect.program import compile
from ge_dialect.runtime import DeviceOptions
from ge_dialect.tools.oracle import compare_with_oracle

MODELS = {model.name: model for model in SHARED_MODELS + PACKAGED_MODELS}
DIMS = {
    "silero_vad": {"input:0": 1, "input:1": 512, "state:1": 1},
    "silero_vad_op18_ifless": {"batch": 1, "sequence": 512},
    "gpt2_slim_dyn": {"batch": 2, "seq": 8},
}
ONE, MANY = "", " dynamic-streams=true"


def host_of(module: ModuleOp) -> HostOp:
    return next(op for op in module.body.block.ops if isinstance(op, HostOp))


def check(module: ModuleOp) -> HostOrder:
    order = HostOrder()
    order.walk(host_of(module).body.block)
    assert not order.unordered, order.unordered[:5]
    return order


@pytest.mark.parametrize(
    ("name", "mode", "more"),
    [
        ("silero_vad", "multi", ONE),
        ("silero_vad", "LoadBalance:4", ONE),
        ("silero_vad", "schedule:4", ONE),
        ("silero_vad", "dynamic", ONE),
        ("silero_vad", "LoadBalance:4", MANY),
        ("silero_vad", "max-concurrency", MANY),
        ("silero_vad_op18_ifless", "MainStream:3", MANY),
        ("gpt2_slim_dyn", "LoadBalance:4", MANY),
    ],
)
def test_models(name: str, mode: str, more: str) -> None:
    pytest.importorskip("onnxruntime", reason="the oracle: pip install onnxruntime")
    path = MODELS[name].path
    if path is None:
        pytest.skip(MODELS[name].why)
    program = compile(
        path,
        pipeline=f'ge-pipeline{{streams="{mode}"{more}}}',
        device_options=DeviceOptions(order="random", seed=7),
    )
    order = check(program.module)
    streams = host_of(program.module).stream_num.value.data
    if more == ONE and mode != "dynamic":
        assert (streams, order.waits) == (1, 0)
    elif mode[-1].isdigit():
        assert streams > 1
        assert order.waits
    feeds = make_feeds(path, DIMS[name])
    verdict = compare_with_oracle(str(path), feeds, program.run(feeds).outputs)
    assert verdict.passed, verdict


def test_parts_of_known_shape_get_the_streams_of_the_mode() -> None:
    path = MODELS["silero_vad"].path
    if path is None:
        pytest.skip(MODELS["silero_vad"].why)
    found: dict[str, int] = {}
    for mode in ("single", "schedule:4"):
        module = compile(path, pipeline=f'ge-pipeline{{streams="{mode}"}}').module
        parts = [op for op in module.body.block.ops if isinstance(op, ModelOp)]
        found[mode] = max(op.stream_num.value.data for op in parts)
    assert found["single"] == 1
    assert found["schedule:4"] > 1


def test_the_checker_misses_a_wait() -> None:
    path = MODELS["gpt2_slim_dyn"].path
    if path is None:
        pytest.skip(MODELS["gpt2_slim_dyn"].why)
    module = compile(
        path, pipeline='ge-pipeline{streams="LoadBalance:4" dynamic-streams=true}'
    ).module
    waits = [op for op in host_of(module).body.block.ops if isinstance(op, WaitOp)]
    for wait in waits[len(waits) // 2 :]:
        wait.detach()
    order = HostOrder()
    order.walk(host_of(module).body.block)
    assert order.unordered
