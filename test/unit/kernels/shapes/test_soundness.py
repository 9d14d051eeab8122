"""What is said about partly known shapes is true of every concrete one: against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx.reference.ops.op_slice import Slice_10

from ge_dialect.dialects.ge.source import SourceOp
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.kernels.shapes import UNKNOWN, ShapeError, TensorInfo, infer
from ge_dialect.kernels.shapes.creation import range_count
from ge_dialect.kernels.shapes.extents import slice_count
from ge_dialect.kernels.spec import OpSpec

FLOAT = dtype_by_name("FLOAT")
INT64 = dtype_by_name("INT64")

dims = st.lists(st.integers(0, 5), max_size=4)


def tensor(shape: Any) -> TensorInfo:
    return TensorInfo(FLOAT, None if shape is None else tuple(shape))


def ints(length: int) -> TensorInfo:
    return TensorInfo(INT64, (length,))


@st.composite
def hidden(draw: st.DrawFn, shape: tuple[int, ...] | list[int]) -> tuple[int, ...] | None:
    """`shape` with some dimensions, or all of it, not known."""
    if draw(st.integers(0, 9)) == 0:
        return None
    return tuple(UNKNOWN if draw(st.booleans()) else dim for dim in shape)


def masked(draw: st.DrawFn, values: list[int]) -> np.ndarray | None:
    """`values` with some elements, or all, not known."""
    if draw(st.integers(0, 5)) == 0:
        return None
    mask = np.array([draw(st.integers(0, 3)) == 0 for _ in values], bool)
    return np.ma.MaskedArray(np.array(values, np.int64), mask)


def says(info: Any, shape: tuple[int, ...]) -> bool:
    """Whether what is said is true of `shape`."""
    return info.shape is None or (
        len(info.shape) == len(shape)
        and all(a in (UNKNOWN, b) for a, b in zip(info.shape, shape, strict=True))
    )


@given(st.data())
def test_broadcast(data: st.DataObject) -> None:
    full = data.draw(dims)
    shapes = []
    for _ in range(2):
        start = data.draw(st.integers(0, len(full)))
        shapes.append([1 if data.draw(st.booleans()) else dim for dim in full[start:]])
    result = np.broadcast_shapes(*shapes)
    known = [tensor(shape) for shape in shapes]
    assert infer(OpSpec("Add", {}, 1), known) == [tensor(result)]
    partly = [tensor(data.draw(hidden(shape))) for shape in shapes]
    assert says(infer(OpSpec("Add", {}, 1), partly)[0], result)


@given(dims, dims)
def test_broadcast_refuses_what_numpy_refuses(a: list[int], b: list[int]) -> None:
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ShapeError, match="does not broadcast"):
            infer(OpSpec("Add", {}, 1), [tensor(a), tensor(b)])
    else:
        assert infer(OpSpec("Add", {}, 1), [tensor(a), tensor(b)]) == [tensor(shape)]


@st.composite
def factored(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two shapes with the same number of elements."""
    source = draw(st.lists(st.integers(1, 6), max_size=4))
    rest = int(np.prod(source, dtype=int))
    target: list[int] = []
    for _ in range(draw(st.integers(0, 3))):
        factor = draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))
        target.append(factor)
        rest //= factor
    return source, [*target, rest]


@given(factored(), st.data())
def test_reshape(shapes: tuple[list[int], list[int]], data: st.DataObject) -> None:
    source, target = shapes
    spelled = list(target)
    for place, dim in enumerate(target):
        if place < len(source) and source[place] == dim and data.draw(st.booleans()):
            spelled[place] = 0
    if data.draw(st.booleans()):
        spelled[data.draw(st.integers(0, len(spelled) - 1))] = -1
    spec, shape = OpSpec("Reshape", {}, 1), ints(len(spelled))
    value = np.array(spelled, np.int64)
    assert infer(spec, [tensor(source), shape], [None, value]) == [tensor(target)]
    partly = tensor(data.draw(hidden(source)))
    assert says(infer(spec, [partly, shape], [None, masked(data.draw, spelled)])[0], tuple(target))
    assert says(
        infer(spec, [tensor(source), shape], [None, masked(data.draw, spelled)])[0], tuple(target)
    )


def test_reshape_copies_unknown_dimensions_out_of_the_count() -> None:
    spec, value = OpSpec("Reshape", {}, 1), np.array([0, -1, 4])
    assert infer(spec, [tensor((UNKNOWN, 6, 2)), ints(3)], [None, value]) == [
        tensor((UNKNOWN, 3, 4))
    ]


def test_reshape_by_zero_with_allowzero() -> None:
    spec = OpSpec("Reshape", {"allowzero": 1}, 1)
    assert infer(spec, [tensor((0, 3)), ints(2)], [None, np.array([3, 0])]) == [tensor((3, 0))]
    for target in ([0, 6], [0, -1]):
        with pytest.raises(ShapeError, match="the numbers of elements differ"):
            infer(spec, [tensor((2, 3)), ints(2)], [None, np.array(target)])


limits = st.one_of(st.integers(-8, 8), st.sampled_from([-(2**63), 2**63 - 1, 2**31 - 1]))
steps = st.integers(-4, 4).filter(bool)


@given(st.integers(0, 6), limits, limits, steps)
def test_slice_count(size: int, begin: int, end: int, step: int) -> None:
    """Numpy's, except that a begin below the first element going down is clamped to it (ONNX)."""
    if step < 0 and size and begin < -size:
        begin = -size
    assert slice_count(size, begin, end, step) == len(range(size)[begin:end:step])


@given(st.data())
def test_slice(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    count = len(axes)
    begins = [data.draw(st.integers(-shape[axis], 6)) for axis in axes]
    ends, strides = ([data.draw(kind) for _ in axes] for kind in (limits, steps))
    spelled = [axis - len(shape) if data.draw(st.booleans()) else axis for axis in axes]
    lists = [begins, ends, spelled, strides]
    result = Slice_10.eval(np.zeros(shape), *(np.array(x, np.int64) for x in lists)).shape
    spec, infos = OpSpec("StridedSliceV2", {}, 1), [ints(count)] * 4
    values = [None, *(np.array(x, np.int64) for x in lists)]
    assert infer(spec, [tensor(shape), *infos], values) == [tensor(result)]
    partly = tensor(data.draw(hidden(shape)))
    values = [None, *(masked(data.draw, x) for x in lists)]
    assert says(infer(spec, [partly, *infos], values)[0], result)


@given(st.data())
def test_matmul(data: st.DataObject) -> None:
    m, k, n = (data.draw(st.integers(1, 4)) for _ in range(3))
    batch = data.draw(st.lists(st.integers(1, 3), max_size=2))
    a = data.draw(st.sampled_from([[k], [m, k], [*batch, m, k]]))
    b = data.draw(st.sampled_from([[k], [k, n], [*batch, k, n], [1, k, n]]))
    result = np.matmul(np.zeros(a), np.zeros(b)).shape
    flip = [len(shape) > 1 and data.draw(st.booleans()) for shape in (a, b)]
    given_shapes = [
        [*shape[:-2], shape[-1], shape[-2]] if turned else shape
        for shape, turned in zip((a, b), flip, strict=True)
    ]
    spec = OpSpec("BatchMatMulV2", {"adj_x1": flip[0], "adj_x2": flip[1]}, 1)
    assert infer(spec, [tensor(shape) for shape in given_shapes]) == [tensor(result)]
    partly = [tensor(data.draw(hidden(shape))) for shape in given_shapes]
    assert says(infer(spec, partly)[0], result)


@given(st.data())
def test_expand_and_tile(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    times = [data.draw(st.integers(0, 3)) for _ in shape]
    result = np.tile(np.zeros(shape), times).shape
    info, length = tensor(data.draw(hidden(shape))), ints(len(shape))
    known = [None, np.array(times, np.int64)]
    assert infer(OpSpec("Tile", {}, 1), [tensor(shape), length], known) == [tensor(result)]
    assert says(
        infer(OpSpec("Tile", {}, 1), [info, length], [None, masked(data.draw, times)])[0], result
    )
    target = [dim if data.draw(st.booleans()) else 1 for dim in shape]
    result = np.broadcast_shapes(shape, target)
    spec = OpSpec("Expand", {}, 1)
    assert infer(spec, [tensor(shape), length], [None, np.array(target)]) == [tensor(result)]
    assert says(infer(spec, [info, length], [None, masked(data.draw, target)])[0], result)


@given(st.data())
def test_concat(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    parts = []
    for _ in range(data.draw(st.integers(1, 3))):
        part = list(shape)
        part[axis] = data.draw(st.integers(0, 4))
        parts.append(part)
    result = np.concatenate([np.zeros(part) for part in parts], axis).shape
    spec = OpSpec("ConcatD", {"concat_dim": axis, "N": len(parts)}, 1)
    assert infer(spec, [tensor(part) for part in parts]) == [tensor(result)]
    assert says(infer(spec, [tensor(data.draw(hidden(part))) for part in parts])[0], result)


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_range_of_integers(start: int, limit: int, delta: int) -> None:
    numbers = [np.array(x, np.int64) for x in (start, limit, delta)]
    assert range_count(*numbers) == len(range(start, limit, delta))


def test_range_by_zero() -> None:
    scalar = TensorInfo(FLOAT, ())
    values = [np.float32(x) * np.ones((), np.float32) for x in (0, 1, 0)]
    with pytest.raises(ShapeError, match="has no end"):
        infer(OpSpec("Range", {}, 1), [scalar] * 3, [np.asarray(x) for x in values])


def test_an_operator_that_nobody_knows_says_nothing() -> None:
    assert infer(OpSpec("MyOwnOp", {}, 2), [tensor((1,))]) == [None, None]
    source = SourceOp("com.example", "Custom", 1)
    assert infer(OpSpec("Custom", {}, 1, source), [tensor((1,))]) == [None]
