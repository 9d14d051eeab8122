"""GE's own operators against the ONNX operators they stand for, and against plain numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.kernels import KernelInputError, OpSpec, bind, evaluate

Array = np.ndarray[Any, Any]


def _f32(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _ints(*values: int) -> Array:
    return np.array(values, np.int64)


def _onnx(op: str, version: int, outputs: int = 1, **attrs: Any) -> OpSpec:
    return OpSpec(op, attrs, outputs, SourceOp("ai.onnx", op, version))


def _ge(type_: str, outputs: int = 1, **attrs: Any) -> OpSpec:
    return OpSpec(type_, attrs, outputs)


X = _f32(2, 6, 7, 5)
M = _f32(3, 4, 5, seed=1)
MASK = np.array([[True], [False], [True]])

# name, GE spec, GE inputs, ONNX spec, ONNX inputs
TWINS: list[tuple[str, OpSpec, list[Any], OpSpec, list[Any]]] = [
    ("leaky", _ge("LeakyRelu", negative_slope=0.2), [X], _onnx("LeakyRelu", 16, alpha=0.2), [X]),
    ("elu", _ge("Elu", alpha=0.7), [X], _onnx("Elu", 6, alpha=0.7), [X]),
    ("prelu", _ge("PRelu"), [X, _f32(6, 1, 1)], _onnx("PRelu", 16), [X, _f32(6, 1, 1)]),
    ("round", _ge("Round"), [X * 4], _onnx("Round", 11), [X * 4]),
    ("maximum", _ge("Maximum"), [M, -M], _onnx("Max", 13), [M, -M]),
    ("minimum", _ge("Minimum"), [M, -M], _onnx("Min", 13), [M, -M]),
    ("less equal", _ge("LessEqual"), [M, M * 2], _onnx("LessOrEqual", 16), [M, M * 2]),
    ("not", _ge("LogicalNot"), [MASK], _onnx("Not", 1), [MASK]),
    ("xor", _ge("LogicalXor"), [MASK, ~MASK.T], _onnx("Xor", 7), [MASK, ~MASK.T]),
    (
        "select",
        _ge("SelectV2"),
        [MASK, _f32(3, 4), _f32(4, seed=2)],
        _onnx("Where", 16),
        [MASK, _f32(3, 4), _f32(4, seed=2)],
    ),
    (
        "batch matmul",
        _ge("BatchMatMulV2", adj_x1=False, adj_x2=False),
        [M, _f32(5, 2)],
        _onnx("MatMul", 13),
        [M, _f32(5, 2)],
    ),
    (
        "batch matmul, both turned",
        _ge("BatchMatMulV2", adj_x1=True, adj_x2=True),
        [M.swapaxes(1, 2).copy(), _f32(3, 2, 5)],
        _onnx("MatMul", 13),
        [M, _f32(3, 2, 5).swapaxes(1, 2)],
    ),
    (
        "conv2d",
        _ge(
            "Conv2D",
            strides=[1, 1, 2, 1],
            pads=[1, 0, 2, 1],
            dilations=[1, 1, 1, 2],
            groups=2,
            data_format="NCHW",
        ),
        [X, _f32(4, 3, 3, 2), _f32(4)],
        _onnx("Conv", 11, strides=[2, 1], pads=[1, 2, 0, 1], dilations=[1, 2], group=2),
        [X, _f32(4, 3, 3, 2), _f32(4)],
    ),
    ("softmax", _ge("SoftmaxV2", axes=[1]), [X], _onnx("Softmax", 13, axis=1), [X]),
    ("log softmax", _ge("LogSoftmaxV2", axes=[-1]), [X], _onnx("LogSoftmax", 13), [X]),
    ("concat", _ge("ConcatD", concat_dim=-1, N=2), [X, X], _onnx("Concat", 13, axis=3), [X, X]),
    (
        "concat, axis last",
        _ge("ConcatV2", N=2),
        [X, X, np.array(1, np.int32)],
        _onnx("Concat", 13, axis=1),
        [X, X],
    ),
    (
        "concat, axis first",
        _ge("Concat", N=2),
        [np.array(1, np.int32), X, X],
        _onnx("Concat", 13, axis=1),
        [X, X],
    ),
    ("split", _ge("SplitD", 3, split_dim=1, num_split=3), [X], _onnx("Split", 13, 3, axis=1), [X]),
    (
        "split by sizes",
        _ge("SplitVD", 2, size_splits=[2, 5], split_dim=2, num_split=2),
        [X],
        _onnx("Split", 13, 2, axis=2),
        [X, _ints(2, 5)],
    ),
    (
        "split by run-time sizes",
        _ge("SplitV", 2, split_dim=2, num_split=2),
        [X, _ints(2, 5)],
        _onnx("Split", 13, 2, axis=2),
        [X, _ints(2, 5)],
    ),
    (
        "gather",
        _ge("GatherV2"),
        [X, _ints(-1, 0, 3), np.array(1, np.int64)],
        _onnx("Gather", 13, axis=1),
        [X, _ints(-1, 0, 3)],
    ),
    (
        "transpose",
        _ge("TransposeD", perm=[0, 2, 3, 1]),
        [X],
        _onnx("Transpose", 13, perm=[0, 2, 3, 1]),
        [X],
    ),
    ("reshape", _ge("Reshape"), [X, _ints(0, -1)], _onnx("Reshape", 14), [X, _ints(0, -1)]),
    ("expand", _ge("Expand"), [M, _ints(2, 1, 4, 1)], _onnx("Expand", 13), [M, _ints(2, 1, 4, 1)]),
    ("tile", _ge("Tile"), [M, _ints(1, 2, 3)], _onnx("Tile", 13), [M, _ints(1, 2, 3)]),
    (
        "squeeze",
        _ge("Squeeze", axis=[1]),
        [X[:, :1]],
        _onnx("Squeeze", 13),
        [X[:, :1], _ints(1)],
    ),
    ("squeeze all", _ge("Squeeze", axis=[]), [X[:1, :1]], _onnx("Squeeze", 13), [X[:1, :1]]),
    ("unsqueeze", _ge("Unsqueeze", axes=[0, -1]), [M], _onnx("Unsqueeze", 13), [M, _ints(0, -1)]),
    ("unsqueeze 3", _ge("UnsqueezeV3"), [M, _ints(2)], _onnx("Unsqueeze", 13), [M, _ints(2)]),
    ("cast", _ge("Cast", dst_type=3), [X * 9], _onnx("Cast", 13, to=6), [X * 9]),
    ("cast to half", _ge("Cast", dst_type=1), [X], _onnx("Cast", 13, to=10), [X]),
    ("shape", _ge("Shape", dtype=9, start=1), [X], _onnx("Shape", 15, start=1), [X]),
    ("size", _ge("Size", dtype=9), [X], _onnx("Size", 13), [X]),
    (
        "range",
        _ge("Range"),
        [np.array(v, np.int64) for v in (5, -2, -3)],
        _onnx("Range", 11),
        [np.array(v, np.int64) for v in (5, -2, -3)],
    ),
    (
        "slice",
        _ge("StridedSliceV2"),
        [X, _ints(-1, 1), _ints(-(2**63), 4), _ints(2, 3), _ints(-2, 1)],
        _onnx("Slice", 13),
        [X, _ints(-1, 1), _ints(-(2**63), 4), _ints(2, 3), _ints(-2, 1)],
    ),
    (
        "slice with absent axes",
        _ge("StridedSliceV2"),
        [X, _ints(0, 1), _ints(1, 3), None, None],
        _onnx("Slice", 13),
        [X, _ints(0, 1), _ints(1, 3)],
    ),
    (
        "reduce by attribute",
        _ge("ReduceMeanD", axes=[2, 3], keep_dims=True),
        [X],
        _onnx("ReduceMean", 13, axes=[2, 3]),
        [X],
    ),
    (
        "reduce all",
        _ge("ReduceSumD", axes=[], keep_dims=False),
        [X],
        _onnx("ReduceSum", 13, keepdims=0),
        [X],
    ),
    (
        "reduce by input",
        _ge("ReduceMax", keep_dims=False),
        [X, _ints(-1)],
        _onnx("ReduceMax", 18, keepdims=0),
        [X, _ints(-1)],
    ),
]


@pytest.mark.parametrize(
    ("ge", "ge_inputs", "onnx", "inputs"), [row[1:] for row in TWINS], ids=[row[0] for row in TWINS]
)
def test_twin_computes_what_its_onnx_operator_does(
    ge: OpSpec, ge_inputs: list[Any], onnx: OpSpec, inputs: list[Any]
) -> None:
    got, want = evaluate(ge, ge_inputs), evaluate(onnx, inputs)
    assert len(got) == ge.n_outputs == len(want)
    for mine, other in zip(got, want, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("ge", "inputs"), [row[1:3] for row in TWINS], ids=[row[0] for row in TWINS]
)
def test_bound_twin_writes_into_its_views(ge: OpSpec, inputs: list[Any]) -> None:
    want = evaluate(ge, inputs)
    arena = np.full(sum(item.nbytes + 64 for item in want), 0xA5, np.uint8)
    outputs: list[Array | None] = []
    offset = 0
    for item in want:
        outputs.append(arena[offset : offset + item.nbytes].view(item.dtype).reshape(item.shape))
        offset += item.nbytes + 64
    bind(ge, inputs, outputs)()
    for mine, other in zip(outputs, want, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)
    # Nothing beside the views was written.
    offset = 0
    for item in want:
        gap = arena[offset + item.nbytes : offset + item.nbytes + 64]
        assert np.all(gap == 0xA5)
        offset += item.nbytes + 64


def test_integers_divide_toward_zero() -> None:
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, -2, -2], np.int32)
    (got,) = evaluate(_ge("Div"), [a, b])
    assert got.tolist() == [3, -3, -3, 3]
    assert got.dtype == np.int32


def test_power_keeps_the_type_of_its_base() -> None:
    (got,) = evaluate(_ge("Pow"), [np.array([2, 3], np.int64), np.array([3.0, 0.5], np.float32)])
    assert got.dtype == np.int64
    assert got.tolist() == [8, 1]


def test_pack_and_unpack_are_inverse() -> None:
    parts = [_f32(2, 3, seed=s) for s in range(4)]
    (packed,) = evaluate(_ge("Pack", axis=1, N=4), parts)
    assert packed.shape == (2, 4, 3)
    np.testing.assert_array_equal(packed[:, 2], parts[2])
    back = evaluate(_ge("Unpack", 4, axis=1, num=4), [packed])
    for piece, part in zip(back, parts, strict=True):
        np.testing.assert_array_equal(piece, part)


def test_matmul_v2_takes_flags_and_bias() -> None:
    a, b, bias = _f32(4, 3), _f32(5, 4, seed=1), _f32(5, seed=2)
    spec = _ge("MatMulV2", transpose_x1=True, transpose_x2=True)
    (got,) = evaluate(spec, [a, b, bias])
    np.testing.assert_allclose(got, a.T @ b.T + bias, rtol=1e-6)
    out = np.empty((3, 5), np.float32)
    bind(spec, [a, b, bias], [out])()
    np.testing.assert_allclose(out, got, rtol=1e-6)


def test_softmax_over_two_axes() -> None:
    (got,) = evaluate(_ge("SoftmaxV2", axes=[1, 3]), [X])
    np.testing.assert_allclose(got.sum(axis=(1, 3)), np.ones((2, 7)), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    ("spec", "shapes"),
    [
        (_ge("BatchMatMulV2"), [(8, 300), (300, 4)]),
        (_ge("SoftmaxV2", axes=[-1]), [(4, 500)]),
        (_ge("ReduceSumD", axes=[1], keep_dims=False), [(4, 500)]),
        (_ge("Sigmoid"), [(40,)]),
        (_ge("Conv2D", strides=[1, 1, 1, 1], pads=[1, 1, 1, 1]), [(1, 16, 6, 6), (4, 16, 3, 3)]),
    ],
    ids=lambda item: item.type if isinstance(item, OpSpec) else "",
)
def test_narrow_floats_are_rounded_once(
    dtype: Any, spec: OpSpec, shapes: list[tuple[int, ...]]
) -> None:
    narrow = [_f32(*shape, seed=i).astype(dtype) for i, shape in enumerate(shapes)]
    (want,) = evaluate(spec, [item.astype(np.float32) for item in narrow])
    (got,) = evaluate(spec, narrow)
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(got, want.astype(dtype))
    out = np.empty(got.shape, dtype)
    bind(spec, narrow, [out])()
    np.testing.assert_array_equal(out, got)


def test_inputs_of_two_types_are_refused() -> None:
    with pytest.raises(KernelInputError, match="different element types"):
        evaluate(_ge("Add"), [np.ones(2, np.float32), np.ones(2, np.int32)])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(KernelInputError, match="do not fit"):
        evaluate(_ge("Add"), [np.ones(2, np.float32), np.ones(3, np.float32)])
    with pytest.raises(KernelInputError, match="cannot multiply"):
        evaluate(_ge("MatMul"), [np.ones((2, 3), np.float32), np.ones((2, 3), np.float32)])
    with pytest.raises(KernelInputError, match="cannot join"):
        evaluate(_ge("ConcatD", concat_dim=0), [np.ones((2, 3)), np.ones((2, 4))])
    with pytest.raises(KernelInputError, match="out of bounds"):
        evaluate(_ge("GatherV2"), [np.ones(3), _ints(3), np.array(0)])
