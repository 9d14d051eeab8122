"""All node cases that onnx ships are imported and verified; a sample goes back to ONNX and runs there."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest

from ge_dialect.lowering.onnx import export_onnx, import_onnx

SHARDS = 8
SAMPLE = 9
"""Every ninth case is exported and run."""


@cache
def _cases() -> tuple[Any, ...]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():  # cases overflow and divide by zero on purpose
        warnings.simplefilter("ignore")
        return tuple(collect_testcases(None))


@pytest.mark.parametrize("shard", range(SHARDS))
def test_all_node_cases_are_imported(shard: int) -> None:
    cases = _cases()
    assert len(cases) > 1000
    failures: list[str] = []
    for case in cases[shard::SHARDS]:
        try:
            import_onnx(case.model).verify()
        except Exception as error:  # every failing case is to be named
            failures.append(f"{case.name}: {type(error).__name__}: {error}")
    assert failures == []


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, list):
        return len(x) == len(y) and all(_same(a, b) for a, b in zip(x, y, strict=True))
    if x is None or y is None:
        return x is y
    return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


def test_a_sample_goes_back_and_computes_the_same(run: Any) -> None:
    compared = 0
    for case in _cases()[::SAMPLE]:
        if "bernoulli" in case.name or "random" in case.name:
            continue
        exported = export_onnx(import_onnx(case.model))
        onnx.checker.check_model(exported)
        arrays = case.data_sets[0][0]
        feeds = dict(zip([x.name for x in case.model.graph.input], arrays, strict=False))
        try:
            expected = run(case.model, feeds)
        except (
            Exception
        ):  # onnxruntime lacks some operators and types; those cases say nothing here
            continue
        assert _same(expected, run(exported, feeds)), case.name
        compared += 1
    assert compared > 100
