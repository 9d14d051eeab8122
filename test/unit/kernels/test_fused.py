"""The kernel of several nodes as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ge_dialect.kernels import KernelInputError, OpSpec, UnsupportedOpError, bind, evaluate
from ge_dialect.kernels.fused import body_of, text_of_body

BODY: list[dict[str, Any]] = [
    {"type": "Mul", "inputs": [-1, -2], "n_outputs": 1},
    {"type": "SplitD", "inputs": [0], "n_outputs": 2, "attrs": {"split_dim": 0, "num_split": 2}},
    {"type": "Max", "inputs": [2, 1], "n_outputs": 1, "source": "ai.onnx::Max@13"},
]


def spec(body: object = None, outputs: object = (3, 1)) -> OpSpec:
    attrs = {"_fused_body": BODY if body is None else body, "_fused_outputs": outputs}
    return OpSpec("FusedHostCpu", attrs, 2)


def test_values() -> None:
    inputs = [np.array([1, 2, 3, 4]), np.array([5, 1, 1, 5])]
    results = evaluate(spec(), inputs)
    assert [x.tolist() for x in results] == [[5, 20], [5, 2]]
    outputs = [np.zeros(2, np.int64), np.zeros(2, np.int64)]
    bind(spec(), inputs, outputs)()
    assert [x.tolist() for x in outputs] == [[5, 20], [5, 2]]


def test_the_text_of_the_function() -> None:
    assert text_of_body(body_of(spec()), [3, 1]) == (
        "def fused(inputs):\n"
        "    v0 = value(step0((inputs[0], inputs[1], ))[0])\n"
        "    v1, v2, = map(value, step1((v0, ))[:2])\n"
        "    v3 = value(step2((v2, v1, ))[0])\n"
        "    return [v3, v1]\n"
    )


@pytest.mark.parametrize(
    ("body", "outputs", "message"),
    [
        ([], (0,), "_fused_body is missing"),
        (None, (), "_fused_outputs is missing"),
        (None, (4,), "value 4 is read before it is made"),
        ([{"type": "Mul", "inputs": [0, -1], "n_outputs": 1}], (0,), "value 0 is read before"),
    ],
)
def test_a_body_that_does_not_fit(body: object, outputs: object, message: str) -> None:
    with pytest.raises(KernelInputError, match=message):
        evaluate(spec(body, outputs), [])


def test_an_operator_without_kernel() -> None:
    with pytest.raises(UnsupportedOpError, match="Frobnicate"):
        evaluate(spec([{"type": "Frobnicate", "inputs": [-1], "n_outputs": 1}], (0,)), [])
