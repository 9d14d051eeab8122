"""Which of ONNX's own tests with branches and loops run as one task list with labels, and that they are right so."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests

from ge_dialect.analysis.remarks import collect_remarks
from ge_dialect.dialects.ge_task import HostOp, ModelOp
from ge_dialect.program import compile

ON_THE_DEVICE = {"If": 1, "Scan": 3, "LinearAttention": 14}
"""Tests by operator that become labels: of LinearAttention those of its definition by a Scan."""

NAMES = {"If": "if", "Scan": "scan", "LinearAttention": "linear_attention"}

ON_THE_HOST = {
    "test_if_opt": "is !ge.optional<",
    "test_if_seq": "is !ge.sequence<",
    "test_loop11": "it collects outputs, and its trip count is no constant",
    "test_loop13_seq": "is !ge.sequence<",
    "test_loop16_seq_none": "is !ge.optional<",
    "test_range_float_type_positive_delta_expanded": "its trip count is no constant",
    "test_range_int32_type_negative_delta_expanded": "its trip count is no constant",
    "test_scan_sum": "Scan of opset 8",
}


@cache
def cases() -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(load_model_tests(kind="node"))


def operators(graph: onnx.GraphProto) -> set[str]:
    inner = [x.g for node in graph.node for x in node.attribute if x.HasField("g")]
    return {node.op_type for node in graph.node}.union(*map(operators, inner))


def of(operator: str) -> Iterator[Any]:
    """Tests whose graph, not a function of theirs, has a branch or a loop; by what their names say."""
    for case in cases():
        if case.model is None or not operators(case.model.graph) & {"If", "Loop", "Scan"}:
            continue
        if case.name.startswith(f"test_{NAMES[operator]}"):
            yield case


@pytest.mark.parametrize("operator", ON_THE_DEVICE)
def test_static_ones_are_one_task_list(operator: str) -> None:
    found = 0
    for case in of(operator):
        if case.name in ON_THE_HOST:
            continue
        program = compile(case.model)
        (model,) = program.module.body.block.ops
        assert isinstance(model, ModelOp), case.name
        assert model.label_num.value.data > 0, case.name
        for inputs, outputs in case.data_sets:
            got = program.run([np.asarray(x) for x in inputs]).outputs.values()
            for value, wanted in zip(got, outputs, strict=True):
                np.testing.assert_allclose(value, wanted, rtol=case.rtol, atol=case.atol)
        found += 1
    assert found == ON_THE_DEVICE[operator]


@pytest.mark.parametrize("name", ON_THE_HOST)
def test_the_others_say_why_not(name: str) -> None:
    (case,) = (x for x in cases() if x.name == name)
    with collect_remarks() as said:
        program = compile(case.model)
    assert any(isinstance(op, HostOp) for op in program.module.body.block.ops)
    (why,) = (x.message for x in said.remarks if x.pass_name == "ge-lower-control-flow")
    assert ON_THE_HOST[name] in why
