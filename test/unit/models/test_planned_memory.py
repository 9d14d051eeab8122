"""Real models out of the bytes that `ge-plan-memory` plans by default, under adversarial interleavings: the bits of a run
in which no memory is used twice."""

from __future__ import annotations

import pytest
from feeds import make_feeds
from models import LIGHT_MODELS, PACKAGED_MODELS, SHARED_MODELS, Model
from xdsl.passes import ModulePass

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.pipeline import GePipeline
from ge_dialect.preset import expand
from ge_dialect.program import Program, compile
from ge_dialect.runtime import DeviceOptions
from ge_dialect.runtime.checker import check
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory

QUICK = {
    "hrnet_slim",
    "moe_dense_slim",
    "shufflenet_v2_slim",
    "squeezenet_slim",
    "toy_split_relu_concat_axis0",
    "toy_split_relu_concat_axis1",
    "light_squeezenet",
    "silero_vad_16k_op15",
}
UNUSED = {"toy_allgather_split_concat", "silero_vad"}
"""Several devices; a program that the host schedules."""


def passes(plan: GePlanMemory, streams: str) -> list[ModulePass]:
    return [
        plan if isinstance(each, GePlanMemory) else each
        for each in expand((GePipeline(streams=streams),))
    ]


def program(model: Model, plan: GePlanMemory, streams: str, seed: int) -> Program:
    assert model.path is not None
    options = DeviceOptions(order="random", seed=seed, accumulate=model.accumulate)
    made = compile(
        model.path, dims=model.dims, pipeline=passes(plan, streams), device_options=options
    )
    assert [
        finding for op in made.module.ops if isinstance(op, ModelOp) for finding in check(op)
    ] == []
    return made


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, id=model.name, marks=[] if model.name in QUICK else [pytest.mark.slow])
        for model in (*SHARED_MODELS, *LIGHT_MODELS, *PACKAGED_MODELS)
        if model.name not in UNUSED
    ],
)
def test_bits_do_not_depend_on_the_plan_nor_on_the_order_of_tasks(model: Model) -> None:
    if model.path is None:
        pytest.skip(model.why)
    feeds = make_feeds(model.path, model.dims, picture=model.picture)
    apart = GePlanMemory(mode="reference", reuse=False)
    expected = program(model, apart, "single", 0).run(feeds).outputs
    for streams, seed, in_place in (
        ("single", 0, None),
        ("LoadBalance:4", 1, None),
        ("LoadBalance:4", 2, None),
        ("LoadBalance:4", 3, False),
    ):
        plan = GePlanMemory(check=True, in_place=in_place)
        result = program(model, plan, streams, seed).run(feeds)
        assert result.report.lower_bound_bytes is not None
        assert result.report.feature_map_bytes >= result.report.lower_bound_bytes
        for name, value in result.outputs.items():
            assert value.tobytes() == expected[name].tobytes(), (streams, seed, name)


@pytest.mark.parametrize("name", ["inception_v3_slim", "resnet50_slim"])
@pytest.mark.parametrize("streams", ["single", "LoadBalance:4"])
def test_peak_is_the_bound_and_below_the_reference(name: str, streams: str) -> None:
    model = next(each for each in SHARED_MODELS if each.name == name)
    if model.path is None:
        pytest.skip(model.why)
    made = {
        mode: program(model, plan, streams, 0).executable
        for mode, plan in (
            ("reference", GePlanMemory(mode="reference")),
            ("apart", GePlanMemory(in_place=False)),
            ("in place", GePlanMemory()),
        )
    }
    feeds = make_feeds(model.path, model.dims)
    reports = {mode: each.run(feeds).report for mode, each in made.items()}
    for mode in ("apart", "in place"):
        assert reports[mode].feature_map_bytes == reports[mode].lower_bound_bytes
        assert reports[mode].feature_map_bytes < reports["reference"].feature_map_bytes
    # A third or a quarter of the intermediates need not be held beside their operands.
    assert reports["in place"].feature_map_bytes < 0.9 * reports["apart"].feature_map_bytes
