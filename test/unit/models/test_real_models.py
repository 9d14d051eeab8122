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
from ge_dialect.runtime import DeviceOptions, load_ranks
from ge_dialect.tools.oracle import compare_with_oracle

# Largest difference over the largest magnitude of the output.
TOLERANCE = 1e-5

JUDGED_IN_FLOAT64 = {
    "silero_vad",  # onnxruntime approximates Sigmoid, and the output is a sigmoid near 0
    "silero_vad_16k_op15",
    "silero_vad_op18_ifless",
    "ch_PP-OCRv4_det_infer",  # the same
    "nmp",  # a logarithm of a spectrum, normalised, amplifies rounding
}
"""Models on which onnxruntime itself is further than the tolerance from the float64 result."""

CUSTOM_OPERATORS = {"toy_allgather_split_concat"}

SIGNAL_DIES_OUT = {
    "inception_v3_slim",
    "shufflenet_v2_slim",
    "squeezenet_slim",
    "light_inception_v2",
    "light_shufflenet",
    "light_squeezenet",
}
"""Models whose random or equal weights make the output nearly the same for any input (docs/models.md)."""


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
    "model",
    [m for m in SHARED_MODELS + PACKAGED_MODELS if m.name not in CUSTOM_OPERATORS],
    ids=lambda m: m.name,
)
def test_equal_to_onnxruntime(model: Model) -> None:
    pytest.importorskip("onnxruntime", reason="the oracle: pip install onnxruntime")
    path = path_of(model)
    program = compile(
        path, dims=model.dims, device_options=DeviceOptions(accumulate=model.accumulate)
    )
    for seed in (0, 1):
        feeds = make_feeds(path, model.dims, seed, picture=model.picture)
        verdict = compare_with_oracle(str(path), feeds, program.run(feeds).outputs)
        assert verdict.oracle.startswith("onnxruntime")
        assert verdict.passed, verdict
        judged = [x.name for x in verdict.comparisons if x.own_error is not None]
        assert not judged or model.name in JUDGED_IN_FLOAT64, verdict


@pytest.mark.parametrize(
    "model",
    [m for m in SHARED_MODELS + LIGHT_MODELS if m.name in SIGNAL_DIES_OUT],
    ids=lambda m: m.name,
)
def test_every_value_inside_is_equal_to_onnxruntimes(model: Model) -> None:
    pytest.importorskip("onnxruntime", reason="the oracle: pip install onnxruntime")
    path = path_of(model)
    proto = onnx.shape_inference.infer_shapes(onnx.load(path))
    outputs = {value.name for value in proto.graph.output}
    made = {name for node in proto.graph.node for name in node.output if node.input} - outputs
    proto.graph.output.extend(value for value in proto.graph.value_info if value.name in made)
    feeds = make_feeds(path, model.dims)
    ours = compile(proto).run(feeds).outputs
    theirs = session(proto.SerializeToString(), optimise=False).run(None, feeds)
    assert len(ours) == len(theirs) > 50
    for (name, value), expected in zip(ours.items(), theirs, strict=True):
        assert_equal(name, np.asarray(value), expected)


def test_collectives_on_two_ranks() -> None:
    (model,) = [m for m in SHARED_MODELS if m.name == "toy_allgather_split_concat"]
    path = path_of(model)
    weights = {x.name: numpy_helper.to_array(x) for x in onnx.load(path).graph.initializer}
    feeds = [make_feeds(path, {}, seed) for seed in (0, 1)]
    result = load_ranks([compile(path).module], DeviceOptions(ranks=2)).run_ranks(feeds)
    nodes = {node.op_type: node for node in onnx.load(path).graph.node}
    first, second = [n for n in onnx.load(path).graph.node if n.op_type == "MatMul"]
    gathered = np.concatenate([feed["x"] @ weights[first.input[1]] for feed in feeds])
    assert set(nodes) == {"MatMul", "HcomAllGather", "Split", "Concat"}
    assert second.input[1] in weights
    for outputs in result.ranks:
        for value in outputs.values():
            assert value.shape[0] in (gathered.shape[0], feeds[0]["x"].shape[0])


@pytest.mark.parametrize("model", LIGHT_MODELS, ids=lambda m: m.name)
def test_equal_to_the_shipped_outputs(model: Model) -> None:
    path = path_of(model)
    ((name, (dtype, shape)),) = fixed_shapes(onnx.load(path), {}).items()
    # What onnx made the shipped outputs from: numbers that count up, over their count.
    count = int(np.prod(shape))
    feeds = {name: (np.arange(count).reshape(shape) / count).astype(dtype)}
    # light_squeezenet's logits are around 1e10 and equal: the last bits of the sums decide its softmax.
    options = DeviceOptions(accumulate="float64" if model.name == "light_squeezenet" else "float32")
    outputs = list(compile(path, device_options=options).run(feeds).outputs.values())
    shipped = path.with_name(f"{path.stem}_output_0.pb")
    expected = numpy_helper.to_array(onnx.TensorProto.FromString(shipped.read_bytes()))
    assert_equal(path.stem, outputs[0], expected)
