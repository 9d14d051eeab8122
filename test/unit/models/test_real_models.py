"""Real models, from file to numbers: equal to onnxruntime, or to the outputs that are shipped with them.

The models are not part of the repository (see bench/models.py); one that is not installed is skipped with the reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from feeds import fixed_shapes, make_feeds, session
from models import LIGHT_MODELS, PACKAGED_MODELS, SHARED_MODELS, Model
from onnx import numpy_helper

from ge_dialect.program import compile

# Largest difference over the largest magnitude of the output.
TOLERANCE = 1e-5

CUSTOM_OPERATORS = {"toy_allgather_split_concat"}


def assert_equal(name: str, ours: np.ndarray, expected: np.ndarray) -> None:
    assert ours.shape == expected.shape, name
    assert ours.dtype == expected.dtype, name
    if expected.size == 0:
        return
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(ours, expected, name)
        return
    scale = float(np.max(np.abs(expected))) or 1.0
    error = float(np.max(np.abs(ours.astype(np.float64) - expected.astype(np.float64)))) / scale
    assert error <= TOLERANCE, f"{name}: error {error:.2e} of the output's scale"


def path_of(model: Model) -> Any:
    if model.path is None:
        pytest.skip(model.why)
    return model.path


@pytest.mark.parametrize(
    "model", [m for m in SHARED_MODELS + PACKAGED_MODELS if m.name not in CUSTOM_OPERATORS], ids=lambda m: m.name
)
def test_equal_to_onnxruntime(model: Model) -> None:
    pytest.importorskip("onnxruntime", reason="the oracle: pip install onnxruntime")
    path = path_of(model)
    program = compile(path, dims=model.dims)
    oracle = session(path, optimise=False)
    for seed in (0, 1):
        feeds = make_feeds(path, model.dims, seed)
        outputs = program.run(feeds).outputs
        expected = oracle.run(None, feeds)
        assert list(outputs) == [value.name for value in oracle.get_outputs()]
        for (name, ours), theirs in zip(outputs.items(), expected, strict=True):
            assert_equal(name, ours, theirs)


@pytest.mark.parametrize("model", LIGHT_MODELS, ids=lambda m: m.name)
def test_equal_to_the_shipped_outputs(model: Model) -> None:
    path = path_of(model)
    ((name, (dtype, shape)),) = fixed_shapes(onnx.load(path), {}).items()
    # What onnx made the shipped outputs from: numbers that count up, over their count.
    count = int(np.prod(shape))
    feeds = {name: (np.arange(count).reshape(shape) / count).astype(dtype)}
    outputs = list(compile(path).run(feeds).outputs.values())
    shipped = path.with_name(f"{path.stem}_output_0.pb")
    expected = numpy_helper.to_array(onnx.TensorProto.FromString(shipped.read_bytes()))
    assert_equal(path.stem, outputs[0], expected)
