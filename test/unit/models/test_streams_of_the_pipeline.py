"""`ge-pipeline{streams=...}`: real models on several streams give the numbers of one stream, in any order of tasks."""

from __future__ import annotations

import pytest
from feeds import make_feeds
from models import SHARED_MODELS, Model

from ge_dialect.program import compile
from ge_dialect.runtime import DeviceOptions

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


def test_one_stream_needs_no_synchronisation() -> None:
    from ge_dialect.pipeline import SYNC_PASSES, GePipeline

    single = [each.name for each in GePipeline().passes()]
    several = [each.name for each in GePipeline(streams="multi").passes()]
    assert not set(SYNC_PASSES) & set(single)
    where = several.index("ge-plan-memory") + 1
    assert several[where : where + len(SYNC_PASSES)] == list(SYNC_PASSES)
