"""`ge-pipeline{streams=...}`: real models on several streams give the numbers of one stream, in any order of tasks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from feeds import make_feeds
from models import SHARED_MODELS, Model

from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.program import compile
from ge_dialect.runtime import DeviceOptions

PROFILE = DeviceOptions(profile="ascend-2024")
NAMES = ("inception_v3_slim", "moe_dense_slim", "gpt2_slim_dyn")


@pytest.mark.parametrize(
    "model", [m for m in SHARED_MODELS if m.name in NAMES], ids=lambda m: m.name
)
def test_same_numbers_on_four_streams(model: Model) -> None:
    if model.path is None:
        pytest.skip(model.why)
    feeds = make_feeds(model.path, model.dims)
    expected = compile(model.path, dims=model.dims).run(feeds).outputs
    for seed in (1, 2, 3):
        program = compile(
            model.path,
            dims=model.dims,
            pipeline='ge-pipeline{streams="LoadBalance:4"}',
            device_options=DeviceOptions(order="random", seed=seed),
        )
        result = program.run(feeds)
        assert result.report.streams == 4
        assert result.report.events > 0
        for name, value in result.outputs.items():
            assert value.tobytes() == expected[name].tobytes(), name


@pytest.mark.parametrize("mode", ["schedule:4", "max-concurrency"])
@pytest.mark.parametrize(
    "model", [m for m in SHARED_MODELS if m.name in NAMES], ids=lambda m: m.name
)
def test_modes_of_our_own(model: Model, mode: str) -> None:
    if model.path is None:
        pytest.skip(model.why)
    feeds = make_feeds(model.path, model.dims)
    single = compile(model.path, dims=model.dims, device_options=PROFILE).run(feeds)
    with collect_remarks() as heard:
        program = compile(
            model.path,
            dims=model.dims,
            pipeline=f'ge-pipeline{{streams="{mode}"}}',
            device_options=replace(PROFILE, order="random", seed=1),
        )
    result = program.run(feeds)
    for remark in heard.remarks:
        if remark.pass_name == "ge-stream-schedule" and "simulated_us" in remark.args:
            # The scheduler's prediction is the emulator's time, events included.
            predicted = remark.args["simulated_us"]
            assert predicted == pytest.approx(result.report.host_us["idle"])
            assert remark.args["events"] == result.report.events
    for name, value in result.outputs.items():
        assert value.tobytes() == single.outputs[name].tobytes(), name
    assert result.report.events > 0
    assert result.report.simulated_us < single.report.simulated_us
    if mode == "schedule:4":
        assert result.report.streams <= 4


def test_a_model_without_parallel_work_stays_on_one_stream() -> None:
    model = next(m for m in SHARED_MODELS if m.name == "unet_slim")
    if model.path is None:
        pytest.skip(model.why)
    program = compile(model.path, pipeline='ge-pipeline{streams="schedule:4"}')
    report = program.run(make_feeds(model.path, model.dims)).report
    assert (report.streams, report.events) == (1, 0)


def test_one_stream_needs_no_synchronisation() -> None:
    from ge_dialect.pipeline import SYNC_PASSES, GePipeline

    single = [each.name for each in GePipeline().passes()]
    several = [each.name for each in GePipeline(streams="multi").passes()]
    assert not set(SYNC_PASSES) & set(single)
    where = several.index("ge-plan-memory") + 1
    assert several[where : where + len(SYNC_PASSES)] == list(SYNC_PASSES)
