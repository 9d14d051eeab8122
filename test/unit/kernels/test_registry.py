"""Finding kernels, and what `bind` promises."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.formats.errors import GeError
from ge_dialect.kernels import (
    KernelInputError,
    KernelShapeError,
    OpSpec,
    UnsupportedOpError,
    bind,
    evaluate,
)

Array = np.ndarray[Any, Any]


def _onnx(op: str, version: int, outputs: int = 1, domain: str = "ai.onnx", **attrs: Any) -> OpSpec:
    return OpSpec(op, attrs, outputs, SourceOp(domain, op, version))


def _f32(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_import_needs_no_onnx() -> None:
    code = "import sys, ge_dialect.kernels.registry as r; r._ge_table(); r._onnx_table(); sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (OpSpec("NoSuchType", {}, 1), "NoSuchType"),
        (_onnx("FusedConv", 1, domain="com.microsoft"), r"FusedConv \(version 1\).*com\.microsoft"),
        (_onnx("NoSuchOp", 13), "NoSuchOp.*ai.onnx"),
        (_onnx("Loop", 16), "subgraphs"),
        (_onnx("Multinomial", 7), "Multinomial"),
    ],
)
def test_unknown_operators_are_named(spec: OpSpec, words: str) -> None:
    with pytest.raises(UnsupportedOpError, match=words) as caught:
        evaluate(spec, [np.ones(1, np.float32)])
    assert isinstance(caught.value, GeError)


def test_missing_input_is_named() -> None:
    with pytest.raises(KernelInputError, match="Add: input 1 is missing"):
        evaluate(OpSpec("Add", {}, 1), [np.ones(1, np.float32), None])
    with pytest.raises(KernelInputError, match="Add: input 0 is a list"):
        evaluate(OpSpec("Add", {}, 1), [[], np.ones(1, np.float32)])


def test_errors_of_the_reference_are_ours() -> None:
    with pytest.raises(KernelInputError, match="Einsum"):
        evaluate(_onnx("Einsum", 12, equation="ij,jk->ik"), [_f32(2, 3), _f32(2, 3)])


@pytest.mark.parametrize(
    ("spec", "inputs"),
    [
        (OpSpec("Add", {}, 1), [_f32(2, 3), _f32(3)]),
        (OpSpec("Relu", {}, 1), [_f32(2, 3)]),
        (OpSpec("Erf", {}, 1), [_f32(2, 3)]),
        (OpSpec("BatchMatMulV2", {}, 1), [_f32(2, 5), _f32(5, 3)]),
        (OpSpec("Conv2D", {}, 1), [_f32(1, 2, 4, 4), _f32(3, 2, 3, 3)]),
        (_onnx("MaxPool", 12, kernel_shape=[2, 2]), [_f32(1, 2, 4, 4)]),
        (_onnx("AveragePool", 11, kernel_shape=[2, 2]), [_f32(1, 2, 4, 4)]),
        (OpSpec("ReduceSumD", {"axes": [0]}, 1), [_f32(2, 3)]),
        (OpSpec("ConcatD", {"concat_dim": 0}, 1), [_f32(2, 3), _f32(2, 3)]),
        (OpSpec("SplitD", {"split_dim": 0, "num_split": 2}, 2), [_f32(2, 3)]),
        (OpSpec("Reshape", {}, 1), [_f32(2, 3), np.array([3, 2])]),
        (OpSpec("StridedSliceV2", {}, 1), [_f32(4, 3), np.array([0]), np.array([2])]),
        (OpSpec("GatherV2", {}, 1), [_f32(4, 3), np.array([0]), np.array(0)]),
        (OpSpec("Cast", {"dst_type": 9}, 1), [_f32(2, 3)]),
        (OpSpec("SoftmaxV2", {"axes": [-1]}, 1), [_f32(2, 3)]),
        (_onnx("Einsum", 12, equation="ij->ji"), [_f32(2, 3)]),
        (_onnx("Resize", 13), [_f32(1, 1, 2, 2), None, np.array([1, 1, 2, 2], np.float32)]),
    ],
    ids=lambda item: item.type if isinstance(item, OpSpec) else "",
)
def test_memory_of_another_shape_or_type_is_refused(spec: OpSpec, inputs: list[Any]) -> None:
    good = evaluate(spec, inputs)
    longer = [np.empty((*item.shape, 2), item.dtype) for item in good]
    with pytest.raises(KernelShapeError, match=f"{spec.type}: output 0 is .* but its memory is"):
        bind(spec, inputs, longer)()
    other = np.int16 if good[0].dtype != np.int16 else np.int32
    with pytest.raises(KernelShapeError, match=f"{spec.type}: output 0 is .* but its memory is"):
        bind(spec, inputs, [np.empty(item.shape, other) for item in good])()


_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Neg Sigmoid Sign Sin Sinh Sqrt Tan Tanh "
    "Relu Softplus Softsign Reciprocal Round Identity Elu LeakyRelu Gelu Square Rsqrt Swish"
).split()


@pytest.mark.parametrize("type_", _UNARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_elementwise_results_may_overwrite_their_input(type_: str, dtype: Any) -> None:
    spec = OpSpec(type_, {"negative_slope": 1.5, "alpha": 0.3}, 1)
    x = np.abs(_f32(3, 17)).astype(dtype)
    (want,) = evaluate(spec, [x])
    place = x.copy()
    with np.errstate(all="ignore"):
        bind(spec, [place], [place])()
    np.testing.assert_allclose(place, want, rtol=2e-6 if dtype != np.float16 else 1e-3)


@pytest.mark.parametrize(
    "spec",
    [
        *(_onnx(op, v) for op, v in (("HardSwish", 14), ("Mish", 18), ("Selu", 6), ("Celu", 12))),
        *(_onnx(op, v) for op, v in (("ThresholdedRelu", 10), ("HardSigmoid", 6), ("Gelu", 20))),
        _onnx("Shrink", 9, bias=0.5, lambd=0.3),
        _onnx("Clip", 6, min=-0.5, max=0.5),
        _onnx("LeakyRelu", 16, alpha=-0.5),
        _onnx("Softmax", 13),
        _onnx("LogSoftmax", 13, axis=0),
    ],
    ids=lambda spec: spec.type,
)
def test_onnx_results_may_overwrite_their_input(spec: OpSpec) -> None:
    x = _f32(3, 17)
    (want,) = evaluate(spec, [x])
    place = x.copy()
    bind(spec, [place], [place])()
    np.testing.assert_allclose(place, want, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    "type_", ["Add", "Sub", "Mul", "Div", "Pow", "Maximum", "PRelu", "SelectV2"]
)
@pytest.mark.parametrize("which", [0, 1])
def test_binary_results_may_overwrite_either_input(type_: str, which: int) -> None:
    a, b = np.abs(_f32(4, 5)), np.abs(_f32(4, 5, seed=1))
    inputs: list[Array] = [a, b]
    if type_ == "SelectV2":
        inputs.insert(0, a > b)
        which += 1
    (want,) = evaluate(OpSpec(type_, {}, 1), inputs)
    places = [item.copy() for item in inputs]
    bind(OpSpec(type_, {}, 1), places, [places[which]])()
    np.testing.assert_allclose(places[which], want, rtol=1e-6)


def test_sum_of_three_may_overwrite_its_last_input() -> None:
    items = [_f32(4, seed=s) for s in range(3)]
    bind(_onnx("Sum", 13), items, [items[2]])()
    np.testing.assert_allclose(items[2], sum(_f32(4, seed=s) for s in range(3)), rtol=1e-6)


def test_bound_kernels_see_new_values() -> None:
    """Values of shapes, axes and starts are read in the call, also those that are filled in after binding."""
    x, starts, ends = _f32(6, 2), np.zeros(1, np.int64), np.zeros(1, np.int64)
    out = np.empty((2, 2), np.float32)
    run = bind(OpSpec("StridedSliceV2", {}, 1), [x, starts, ends], [out])
    for first in (0, 3, 1):
        starts[0], ends[0] = first, first + 2
        run()
        np.testing.assert_array_equal(out, x[first : first + 2])
    ends[0] = 6
    with pytest.raises(KernelShapeError):
        run()
    x[...] = 1
    ends[0] = 3
    run()
    np.testing.assert_array_equal(out, np.ones((2, 2)))


def test_weights_may_change_between_calls() -> None:
    x, w = _f32(1, 6, 5, 5), _f32(2, 6, 3, 3)
    spec = OpSpec("Conv2D", {"pads": [1, 1, 1, 1]}, 1)
    out = np.empty((1, 2, 5, 5), np.float32)
    run = bind(spec, [x, w], [out])
    run()
    w *= -2
    x += 1
    run()
    np.testing.assert_allclose(out, evaluate(spec, [x, w])[0], rtol=1e-5, atol=1e-5)


def test_unwanted_outputs_are_dropped() -> None:
    x = _f32(1, 1, 4, 4)
    spec = _onnx("MaxPool", 12, 2, kernel_shape=[2, 2])
    values = np.empty((1, 1, 3, 3), np.float32)
    bind(spec, [x], [values, None])()
    np.testing.assert_array_equal(values, evaluate(spec, [x])[0])


def test_results_are_arrays_even_without_dimensions() -> None:
    one = np.array(2.0, np.float32)
    for spec, inputs in (
        (OpSpec("Add", {}, 1), [one, one]),
        (OpSpec("Sqrt", {}, 1), [one]),
        (OpSpec("Relu", {}, 1), [one]),
        (OpSpec("Relu", {}, 1), [one.astype(np.float16)]),
        (OpSpec("Mod", {}, 1), [one, one]),
        (_onnx("Hardmax", 13), [one.reshape(1)]),
        (_onnx("Selu", 6), [one]),
        (_onnx("Clip", 13), [one, one, one]),
        (_onnx("Shrink", 9), [one]),
        (_onnx("Sum", 13), [one, one, one]),
        (_onnx("LayerNormalization", 17), [one.reshape(1), one.reshape(1)]),
        (OpSpec("ReduceSumD", {"axes": [], "keep_dims": False}, 1), [_f32(3)]),
        (OpSpec("Equal", {}, 1), [one, one]),
        (OpSpec("GatherV2", {}, 1), [_f32(3), np.array(1), np.array(0)]),
        (OpSpec("Shape", {"dtype": 9}, 1), [one]),
    ):
        (got,) = evaluate(spec, inputs)
        assert isinstance(got, np.ndarray)
        out = np.zeros(got.shape, got.dtype)
        bind(spec, inputs, [out])()
        np.testing.assert_allclose(out, got)


def test_strings_are_objects() -> None:
    (text,) = evaluate(_onnx("Cast", 19, to=8), [np.array([1, 2], np.int64)])
    assert text.dtype == object
    assert text.tolist() == ["1", "2"]
    (both,) = evaluate(_onnx("StringConcat", 20), [text, np.array(["a", "b"], object)])
    assert both.dtype == object
    assert both.tolist() == ["1a", "2b"]


def test_sequences_pass_through() -> None:
    items = [_f32(2), _f32(3)]
    (made,) = evaluate(_onnx("SequenceConstruct", 11), items)
    assert [item.shape for item in made] == [(2,), (3,)]
    (second,) = evaluate(_onnx("SequenceAt", 11), [made, np.array(1)])
    np.testing.assert_array_equal(second, items[1])
