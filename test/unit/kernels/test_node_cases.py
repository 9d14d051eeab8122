"""onnx's own single-operator cases against `evaluate` and `bind`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper, numpy_helper

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.kernels import OpSpec, UnsupportedOpError, bind, evaluate

SUBGRAPH_OPS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


@dataclass(frozen=True)
class NodeCase:
    """One operator with inputs (None: absent) and the outputs that it must give (None: not wanted)."""

    name: str
    spec: OpSpec
    data: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]
    rtol: float
    atol: float


def attribute_values(node: onnx.NodeProto) -> dict[str, Any]:
    """Attributes as python values."""
    values: dict[str, Any] = {}
    for item in node.attribute:
        value = helper.get_attribute_value(item)
        values[item.name] = numpy_helper.to_array(value) if item.type == item.TENSOR else value
    return values


def spec_of(node: onnx.NodeProto, opsets: dict[str, int]) -> OpSpec:
    """The operator of an ONNX node, taken over as it is."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    schema = defs.get_schema(node.op_type, opsets[domain], domain)
    source = SourceOp(domain or "ai.onnx", node.op_type, schema.since_version)
    return OpSpec(node.op_type, attribute_values(node), len(node.output), source)


def opsets_of(model: onnx.ModelProto) -> dict[str, int]:
    """Opset version a domain."""
    return {
        "" if item.domain == "ai.onnx" else item.domain: item.version for item in model.opset_import
    }


def value_of(value: Any) -> Any:
    """A test's value in our form."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, onnx.SequenceProto):
        return numpy_helper.to_list(value)
    if isinstance(value, onnx.OptionalProto):
        return numpy_helper.to_optional(value)
    if isinstance(value, list):
        return [value_of(item) for item in value]
    return value if value is None or isinstance(value, dict) else np.asarray(value)


def _single(model: onnx.ModelProto) -> bool:
    nodes = model.graph.node
    return (
        len(nodes) == 1
        and nodes[0].op_type not in SUBGRAPH_OPS
        and not model.functions
        and not model.graph.initializer
    )


def _case(test: Any) -> NodeCase:
    graph = test.model.graph
    node = graph.node[0]
    data: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
    for given, wanted in test.data_sets:
        feeds = {
            item.name: value_of(value) for item, value in zip(graph.input, given, strict=False)
        }
        expected = {
            item.name: value_of(value) for item, value in zip(graph.output, wanted, strict=False)
        }
        data.append(
            (
                tuple(feeds.get(name) for name in node.input),
                tuple(expected.get(name) for name in node.output),
            )
        )
    return NodeCase(
        test.name, spec_of(node, opsets_of(test.model)), tuple(data), test.rtol, test.atol
    )


@cache
def _tests() -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return tuple(collect_testcases(None))


def node_cases() -> Iterator[NodeCase]:
    """All cases with exactly one node and no subgraph."""
    for test in _tests():
        if test.model is not None and _single(test.model):
            yield _case(test)


def _wide(array: np.ndarray) -> np.ndarray:
    """Small float types as float32, which every comparison can take."""
    if array.dtype.kind in "fc" and array.dtype.itemsize >= 2:
        return array
    return array.astype(np.float32) if array.dtype.kind in "Vf" else array


def difference(got: Any, want: Any, rtol: float, atol: float) -> str | None:
    """What is wrong with a result, or None."""
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return f"not a sequence of {len(want)}"
        found = [difference(g, w, rtol, atol) for g, w in zip(got, want, strict=True)]
        return next((item for item in found if item is not None), None)
    if want is None or isinstance(want, dict):
        return None if got == want else f"{got} is not {want}"
    if not isinstance(got, np.ndarray):
        return f"{type(got)} is no array"
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if want.dtype.kind in "OUS":
        return None if got.dtype == object and got.tolist() == want.tolist() else "other strings"
    if got.dtype != want.dtype:
        return f"{got.dtype}, not {want.dtype}"
    wide, target = _wide(got), _wide(want)
    if wide.dtype.kind in "iub":
        return None if np.array_equal(wide, target) else "other integers"
    if np.allclose(wide, target, rtol=rtol, atol=atol, equal_nan=True):
        return None
    with np.errstate(all="ignore"):
        return f"max error {np.nanmax(np.abs(wide - target))}"


_CHUNKS = 24

# Cases that cannot or must not pass, each for a reason outside of the kernels.
_LEFT_OUT = {
    # Results are random numbers; only their type and shape are laid down.
    "test_bernoulli": "random",
    "test_bernoulli_double": "random",
    "test_bernoulli_seed": "random",
    # These take a fractional output size (0.6 * 4 = 2.4) for the specification's length_resized (2); onnxruntime and
    # the text of the specification take the whole number.
    "test_resize_downsample_scales_linear_align_corners": "contradicts the specification",
    "test_resize_downsample_scales_cubic_align_corners": "contradicts the specification",
}


@cache
def _cases() -> tuple[NodeCase, ...]:
    return tuple(case for case in node_cases() if case.name not in _LEFT_OUT)


def _evaluate_faults(case: NodeCase) -> list[str]:
    faults: list[str] = []
    for inputs, wanted in case.data:
        results = evaluate(case.spec, inputs)
        for index, want in enumerate(wanted):
            if want is None:
                continue
            fault = difference(results[index], want, case.rtol, case.atol)
            if fault is not None:
                faults.append(f"{case.name}: output {index}: {fault}")
    return faults


def _bind_faults(case: NodeCase) -> list[str]:
    """Bound kernels must write what `evaluate` gives into the views, whatever was there before."""
    faults: list[str] = []
    for inputs, _ in case.data:
        if not all(item is None or isinstance(item, np.ndarray) for item in inputs):
            continue
        results = evaluate(case.spec, inputs)
        if not all(item is None or isinstance(item, np.ndarray) for item in results):
            continue
        outputs = [
            None if item is None else np.full(item.shape, 1).astype(item.dtype) for item in results
        ]
        thunk = bind(case.spec, inputs, outputs)
        with np.errstate(all="ignore"):
            thunk()
            thunk()  # a second run must not see traces of the first
        for index, (got, want) in enumerate(zip(outputs, results, strict=True)):
            if want is not None:
                fault = difference(got, want, max(case.rtol, 1e-5), max(case.atol, 1e-6))
                if fault is not None:
                    faults.append(f"{case.name}: bound output {index}: {fault}")
    return faults


def _is_available(case: NodeCase) -> bool:
    """ImageDecoder needs Pillow, which is no dependency of ours (and decodes JPEG in more than one way)."""
    if case.spec.type != "ImageDecoder":
        return True
    if find_spec("PIL") is not None:
        return True
    with pytest.raises(UnsupportedOpError, match="Pillow"):
        evaluate(case.spec, case.data[0][0])
    return False


@pytest.mark.parametrize("chunk", range(_CHUNKS))
def test_evaluate_gives_the_expected_outputs(chunk: int) -> None:
    cases = [case for case in _cases()[chunk::_CHUNKS] if _is_available(case)]
    assert len(cases) > 40
    assert [fault for case in cases for fault in _evaluate_faults(case)] == []


@pytest.mark.parametrize("chunk", range(_CHUNKS))
def test_bind_writes_what_evaluate_gives(chunk: int) -> None:
    random = ("Bernoulli", "Dropout", "RandomNormalLike", "RandomUniformLike")
    cases = [case for case in _cases()[chunk::_CHUNKS] if case.spec.type not in random]
    cases = [case for case in cases if case.spec.type != "ImageDecoder"]
    assert [fault for case in cases for fault in _bind_faults(case)] == []


def test_left_out_cases_exist() -> None:
    names = {case.name for case in node_cases()}
    assert set(_LEFT_OUT) <= names
