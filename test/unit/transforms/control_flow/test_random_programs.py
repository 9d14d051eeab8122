"""Random programs with nested branches and loops give what onnxruntime gives, whatever the streams do."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from random_programs import RandomProgram
from xdsl.passes import ModulePass

from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.pipeline import GePipeline
from ge_dialect.program import Program, compile
from ge_dialect.runtime import DeviceOptions
from ge_dialect.runtime.checker import check
from ge_dialect.transforms.memory.ge_plan_memory import GePlanMemory
from ge_dialect.transforms.split.ge_split_streams import GeSplitStreams


def _session(program: RandomProgram) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(program.model.SerializeToString(), options)


def _compiled(seed: int, passes: list[ModulePass]) -> tuple[RandomProgram, Program, ModelOp]:
    random = RandomProgram(seed)
    options = DeviceOptions(
        order="random", seed=seed, trap_uninitialised=True, unknown_kernels="error"
    )
    program = compile(random.model, pipeline=passes, device_options=options)
    (model,) = program.module.body.block.ops
    assert isinstance(model, ModelOp)
    return random, program, model


def _agrees(seed: int, passes: list[ModulePass], runs: int = 3) -> ModelOp:
    random, program, model = _compiled(seed, passes)
    assert [str(x) for x in check(model)] == []
    session = _session(random)
    for number in range(runs):
        feeds = random.feeds(number)
        found = program.run(feeds)
        assert found.report.warnings == []
        for name, wanted in zip(found.outputs, session.run(None, feeds), strict=True):
            np.testing.assert_allclose(found[name], wanted, rtol=1e-3, atol=1e-4)
    return model


@pytest.mark.parametrize("seed", range(30))
def test_one_stream(seed: int) -> None:
    _agrees(seed, list(GePipeline().passes()))


@pytest.mark.parametrize("streams", ["multi", "LoadBalance:4", "schedule:3", "max-concurrency"])
@pytest.mark.parametrize("seed", range(200, 206))
def test_several_streams(seed: int, streams: str) -> None:
    _agrees(seed, list(GePipeline(streams=streams).passes()))


def test_several_streams_are_used() -> None:
    counts = [
        _agrees(seed, list(GePipeline(streams="LoadBalance:4").passes()), 1)
        for seed in (204, 215, 224)
    ]
    assert all(model.stream_num.value.data > 1 for model in counts)
    assert all(model.event_num.value.data > 0 for model in counts)


@pytest.mark.parametrize("seed", range(500, 506))
def test_streams_that_are_cut(seed: int) -> None:
    short = GeSplitStreams(max_tasks=27 + 30)
    passes = [
        short if isinstance(each, GeSplitStreams) else each
        for each in GePipeline(streams="multi").passes()
    ]
    assert _agrees(seed, passes).stream_num.value.data > 1


@pytest.mark.parametrize("mode", ["first-fit", "reference"])
@pytest.mark.parametrize("seed", range(40, 44))
def test_other_plans_of_memory(seed: int, mode: str) -> None:
    plan = GePlanMemory(mode=mode, check=True)  # pyright: ignore[reportArgumentType]
    passes = [
        plan if isinstance(each, GePlanMemory) else each
        for each in GePipeline(no_task="off").passes()
    ]
    _agrees(seed, passes, 2)


def test_without_reuse_of_memory_nothing_else_comes_out() -> None:
    """The plans that reuse memory are not right by luck: the same tasks without reuse give the same numbers."""
    for seed in (7, 13):
        passes = [
            GePlanMemory(reuse=False) if isinstance(each, GePlanMemory) else each
            for each in GePipeline().passes()
        ]
        _agrees(seed, passes, 2)
