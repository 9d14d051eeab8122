"""Shape functions against the outputs of ONNX's own node cases, and against onnx's inference."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper, numpy_helper

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.formats.dtypes import dtype_of_numpy
from ge_dialect.kernels.shapes import (
    UNKNOWN,
    ShapeError,
    TensorInfo,
    infer,
    is_data_dependent,
    value_dependent_inputs,
)
from ge_dialect.kernels.shapes.onnx_inference import infer_by_onnx
from ge_dialect.kernels.spec import OpSpec

OWNERS_OF_GRAPHS = frozenset({"If", "Loop", "Scan", "SequenceMap"})

OUTPUT_SIZES_ONLY = frozenset({"MaxUnpool"})
"""Operators whose output the values of a non-constant input decide although no shape input is given."""


@dataclass(frozen=True)
class Case:
    """One node on tensors, with the outputs that it gives."""

    name: str
    spec: OpSpec
    inputs: tuple[np.ndarray | None, ...]
    outputs: tuple[Any, ...]


def _array(value: Any) -> Any:
    return (
        numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    )


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    values = {item.name: helper.get_attribute_value(item) for item in node.attribute}
    return {
        k: numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v
        for k, v in values.items()
    }


def _is_tensor(value: Any) -> bool:
    return not isinstance(value, (list, dict, onnx.SequenceProto, onnx.OptionalProto))


@cache
def cases() -> dict[str, list[Case]]:
    """Cases of one node whose inputs are all tensors, by operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        tests = collect_testcases(None)
    found: dict[str, list[Case]] = {}
    for test in tests:
        graph = None if test.model is None else test.model.graph
        if graph is None or len(graph.node) != 1 or graph.initializer or test.model.functions:
            continue
        node = graph.node[0]
        if node.op_type in OWNERS_OF_GRAPHS:
            continue
        versions = {item.domain: item.version for item in test.model.opset_import}
        schema = defs.get_schema(node.op_type, versions[node.domain], node.domain)
        spec = OpSpec(
            node.op_type,
            _attributes(node),
            len(node.output),
            SourceOp(node.domain or "ai.onnx", node.op_type, schema.since_version),
        )
        for given, wanted in test.data_sets:
            if not all(_is_tensor(value) for value in given):
                continue
            feeds = {
                item.name: _array(value) for item, value in zip(graph.input, given, strict=False)
            }
            results = {item.name: value for item, value in zip(graph.output, wanted, strict=False)}
            case = Case(
                test.name,
                spec,
                tuple(feeds.get(name) for name in node.input),
                tuple(results.get(name) for name in node.output),
            )
            found.setdefault(node.op_type, []).append(case)
    return found


def info_of(array: np.ndarray | None) -> TensorInfo | None:
    return None if array is None else TensorInfo(dtype_of_numpy(array.dtype), array.shape)


def known_values(case: Case) -> list[np.ndarray | None]:
    values: list[np.ndarray | None] = [None] * len(case.inputs)
    for index in value_dependent_inputs(case.spec, len(case.inputs)):
        values[index] = case.inputs[index]
    return values


def check(case: Case, outputs: Sequence[Any], static: bool) -> None:
    """Nothing said is wrong; if `static`, everything is said."""
    assert len(outputs) == case.spec.n_outputs
    for info, value in zip(outputs, case.outputs, strict=True):
        if value is None or not _is_tensor(value):
            continue
        want = info_of(_array(value))
        assert want is not None
        assert want.shape is not None
        if info is None:
            assert not static, case.name
            continue
        assert info.dtype == want.dtype, case.name
        if info.shape is None:
            assert not static, case.name
            continue
        assert len(info.shape) == len(want.shape), (case.name, info.shape, want.shape)
        pairs = list(zip(info.shape, want.shape, strict=True))
        assert all(got in (UNKNOWN, dim) for got, dim in pairs), (case.name, info.shape, want.shape)
        assert not static or UNKNOWN not in info.shape, (case.name, info.shape, want.shape)


@pytest.mark.parametrize("op", sorted(cases()))
def test_everything_known(op: str) -> None:
    for case in cases()[op]:
        outputs = infer(case.spec, [info_of(x) for x in case.inputs], known_values(case))
        static = not is_data_dependent(case.spec) and op not in OUTPUT_SIZES_ONLY
        check(case, outputs, static)


@pytest.mark.parametrize("op", sorted(cases()))
def test_values_not_known(op: str) -> None:
    for case in cases()[op]:
        check(case, infer(case.spec, [info_of(x) for x in case.inputs]), static=False)


@pytest.mark.parametrize("op", sorted(cases()))
def test_dimensions_not_known(op: str) -> None:
    """Hiding dimensions, ranks, values and parts of values may lose facts, but never gives a wrong one."""
    choose = random.Random(op)
    for case in cases()[op]:
        for _ in range(6):
            inputs: list[TensorInfo | None] = []
            for array in case.inputs:
                info = info_of(array)
                if info is not None and info.shape is not None:
                    dims = tuple(UNKNOWN if choose.random() < 0.4 else dim for dim in info.shape)
                    info = TensorInfo(info.dtype, None if choose.random() < 0.15 else dims)
                inputs.append(info)
            values = [_hide(value, choose) for value in known_values(case)]
            check(case, infer(case.spec, inputs, values), static=False)


def _hide(value: np.ndarray | None, choose: random.Random) -> np.ndarray | None:
    if value is None or choose.random() < 0.3:
        return None
    if value.dtype.kind not in "iu" or choose.random() < 0.4:
        return value
    mask = [choose.random() < 0.4 for _ in range(value.size)]
    return np.ma.MaskedArray(value, np.array(mask, bool).reshape(value.shape))


@pytest.mark.parametrize("op", sorted(cases()))
def test_no_less_than_onnx(op: str) -> None:
    """What onnx's own inference knows of a node, we know, and nothing else."""
    for case in cases()[op]:
        inputs, values = [info_of(x) for x in case.inputs], known_values(case)
        try:
            theirs = infer_by_onnx(case.spec, inputs, values)
        except ShapeError:
            continue  # fails on cases that its own reference runs
        for mine, other in zip(infer(case.spec, inputs, values), theirs, strict=False):
            if isinstance(other, TensorInfo):
                assert isinstance(mine, TensorInfo)
                assert mine.shape is not None or other.shape is None, case.name
                assert all(
                    x >= 0 or y < 0
                    for x, y in zip(mine.shape or (), other.shape or (), strict=True)
                )
