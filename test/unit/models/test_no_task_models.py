"""Concats without task in real models: how many, what for, and the same outputs bit by bit."""

from __future__ import annotations

import pytest
from models import LIGHT_MODELS, SHARED_MODELS
from no_task import Outcome, outcome

MODELS = {model.name: model for model in SHARED_MODELS + LIGHT_MODELS}

LEAST_MARKED = {
    # model: concats, marked by the reference's rules, marked in mode aggressive
    "densenet121_slim": (58, 3, 58),
    "inception_v3_slim": (11, 7, 11),
    "squeezenet_slim": (8, 8, 8),
    "unet_slim": (4, 4, 4),
    "shufflenet_v2_slim": (16, 16, 16),
    "light_inception_v2": (10, 10, 10),
}


@pytest.mark.parametrize("name", LEAST_MARKED)
def test_marks_and_outputs(name: str) -> None:
    model = MODELS[name]
    if model.path is None:
        pytest.skip(model.why)
    found: dict[str, Outcome] = {
        mode: outcome(model, mode) for mode in ("off", "faithful", "aggressive")
    }
    off = found["off"]
    concats, *least = LEAST_MARKED[name]
    for mode, wanted in zip(("faithful", "aggressive"), least, strict=True):
        x = found[mode]
        marked = len(x.of("passed"))
        assert marked + len(x.of("missed")) == concats
        assert marked >= wanted
        assert off.report.tasks - x.report.tasks == marked == x.report.avoided_launches
        assert x.report.peak_bytes <= off.report.peak_bytes
        assert x.outputs == off.outputs
