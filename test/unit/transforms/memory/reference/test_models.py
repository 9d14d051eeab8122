"""Real models out of the bytes that plans give them: the same numbers as without reuse."""

from __future__ import annotations

import numpy as np
import pytest
from feeds import make_feeds
from models import SHARED_MODELS, Model

from ge_dialect.program import compile, context, load, make_passes

BEFORE = "ge-canonicalize,ge-assign-engines,{marks}ge-topo-sort,ge-assign-streams"
NO_TASK = "ge-mark-phony,ge-concat-no-task,ge-pack-no-task,ge-split-no-task,ge-insert-identity,"
WITHOUT_REUSE = "ge-plan-memory{mode=reference reuse=false}"
PLANS = {
    "plain": ("", "ge-plan-memory{mode=reference check=true}"),
    "in place": ("", "ge-plan-memory{mode=reference check=true in-place=true}"),
    "no task": (NO_TASK, "ge-plan-memory{mode=reference check=true}"),
    "optimal": ("", "ge-plan-memory{check=true}"),
    "optimal, no task": (NO_TASK, "ge-plan-memory{check=true}"),
}
SLOW = {"llama2_shape", "gpt2_slim_dyn"}


def outputs(model: Model, marks: str, plan: str) -> dict[str, np.ndarray]:
    assert model.path is not None
    module = load(model.path, dims=model.dims)
    for each in make_passes(f"{BEFORE.format(marks=marks)},{plan},convert-ge-to-ge-task"):
        each.apply(context(), module)
    return dict(compile(module, pipeline=()).run(make_feeds(model.path, model.dims, 0)).outputs)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, id=model.name, marks=[pytest.mark.slow] if model.name in SLOW else [])
        for model in SHARED_MODELS
    ],
)
def test_equal_to_memory_that_is_used_once(model: Model) -> None:
    if model.path is None:
        pytest.skip(model.why)
    expected = outputs(model, "", WITHOUT_REUSE)
    for name, (marks, plan) in PLANS.items():
        found = outputs(model, marks, plan)
        for key, value in expected.items():
            np.testing.assert_array_equal(found[key], value, err_msg=f"{name}: {key}")
