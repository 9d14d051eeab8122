"""Random models: what the whole pipeline computes, in every mode of its passes, is what onnxruntime computes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto
from random_models import random_model

from ge_dialect.program import compile
from ge_dialect.runtime import DeviceOptions

SEEDS = range(24)
PIPELINES = (
    "ge-pipeline",
    "ge-pipeline{no-task=off}",
    "ge-pipeline{no-task=aggressive}",
    'ge-pipeline{streams="LoadBalance:4"}',
    'ge-pipeline{no-task=aggressive streams="MainStream:3"}',
)


@lru_cache(maxsize=len(SEEDS))
def _case(seed: int) -> tuple[ModelProto, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The model of `seed`, numbers to feed, and what onnxruntime makes of them."""
    model = random_model(seed)
    rng = np.random.default_rng(seed)
    feeds = {
        item.name: rng.uniform(
            -2, 2, [d.dim_value for d in item.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for item in model.graph.input
    }
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [item.name for item in model.graph.output]
    return model, feeds, dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_are_those_of_onnxruntime(seed: int, pipeline: str) -> None:
    model, feeds, expected = _case(seed)
    options = DeviceOptions(order="random", seed=seed, unknown_kernels="error")
    outputs = compile(model, pipeline=pipeline, device_options=options).run(feeds).outputs
    assert list(outputs) == list(expected)
    for name, value in expected.items():
        scale = max(1.0, float(np.abs(value).max(initial=0)))
        assert np.allclose(outputs[name], value, rtol=0, atol=1e-5 * scale), name
