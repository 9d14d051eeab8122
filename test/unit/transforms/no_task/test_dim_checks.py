"""What the dimension checks let pass is a concat (pack) without moving a byte, in every format."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, TensorType, f16

from ge_dialect.analysis.explain import first_failure
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge import GraphOp
from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.nodes import ConcatOp, OpOp, PackOp
from ge_dialect.formats.cube import PLATFORM
from ge_dialect.formats.format_table import LETTERS
from ge_dialect.formats.transform import transform
from ge_dialect.transforms.no_task.candidate import Candidate, Readers
from ge_dialect.transforms.no_task.dim_checks import concat_dim_checks, pack_dim_checks

_PAIRS = [
    ("ND", "ND", 3),
    ("ND", "FRACTAL_NZ", 3),
    *((origin, target, 4) for origin in ("NCHW", "NHWC", "HWCN", "CHWN")
      for target in ("NCHW", "NHWC", "HWCN", "NC1HWC0", "FRACTAL_Z", "FRACTAL_NZ")),
    *((origin, "NDC1HWC0", 5) for origin in ("NDHWC", "NCDHW", "DHWCN", "DHWNC")),
]  # fmt: skip
_SIZES = [1, 1, 1, 2, 3, 16, 20, 32]


def _storage(array: np.ndarray, origin: str, storage: str) -> np.ndarray:
    return transform(array, origin, storage)


def _candidate(
    arrays: Sequence[np.ndarray], origin: str, storage: str, dim: int, pack: bool
) -> Candidate:
    graph = GraphOp("main")
    values = []
    for array in arrays:
        stored = _storage(array, origin, storage)
        desc = DescAttr(storage, origin_format=origin, origin_shape=array.shape)
        kind = TensorType(f16, stored.shape, desc)
        op = OpOp.make((), [kind], {"type": string("Make")})
        graph.block.add_op(op)
        values.append(op.results[0])
    node = PackOp if pack else ConcatOp
    op = node.make(values, [values[0].type], {"axis" if pack else "concat_dim": i64(dim)})
    graph.block.add_op(op)
    module = ModuleOp([graph])
    return Candidate(op, graph, ModelGraphs.of(module), Readers(graph), PLATFORM)


@st.composite
def joins(draw: st.DrawFn) -> tuple[list[np.ndarray], str, str, int]:
    """Tensors that differ along one axis only, formats, and that axis."""
    origin, storage, rank = draw(st.sampled_from(_PAIRS))
    shape = [draw(st.sampled_from(_SIZES)) for _ in range(rank)]
    dim = draw(st.integers(0, rank - 1))
    arrays: list[np.ndarray] = []
    for number in range(draw(st.integers(1, 3))):
        own = list(shape)
        own[dim] = draw(st.sampled_from(_SIZES))
        size = int(np.prod(own))
        assume(size <= 20000)
        arrays.append(((np.arange(size) + 7 * number) % 99 + 1).astype(np.float16).reshape(own))
    return arrays, origin, storage, dim


@given(joins())
@settings(max_examples=400, deadline=None)
def test_a_concat_that_passes_moves_nothing(
    case: tuple[list[np.ndarray], str, str, int],
) -> None:
    arrays, origin, storage, dim = case
    if first_failure(concat_dim_checks(_candidate(arrays, origin, storage, dim, False))):
        return
    joined = _storage(np.concatenate(arrays, axis=dim), origin, storage)
    end_to_end = np.concatenate([_storage(array, origin, storage).ravel() for array in arrays])
    assert np.array_equal(joined.ravel(), end_to_end)


@st.composite
def packs(draw: st.DrawFn) -> tuple[list[np.ndarray], int]:
    """Matrices of one shape, and a place for the new axis."""
    shape = [draw(st.sampled_from(_SIZES)) for _ in range(draw(st.integers(1, 3)))]
    size = int(np.prod(shape))
    arrays = [
        ((np.arange(size) + 7 * number) % 99 + 1).astype(np.float16).reshape(shape)
        for number in range(draw(st.integers(1, 3)))
    ]
    return arrays, draw(st.integers(0, len(shape)))


@given(packs())
@settings(max_examples=200, deadline=None)
def test_a_pack_that_passes_moves_nothing(case: tuple[list[np.ndarray], int]) -> None:
    arrays, axis = case
    if first_failure(pack_dim_checks(_candidate(arrays, "ND", "ND", axis, True))):
        return
    stacked = np.stack(arrays, axis=axis).ravel()
    assert np.array_equal(stacked, np.concatenate([array.ravel() for array in arrays]))


@pytest.mark.parametrize("origin", ["NCHW", "HWCN"])
def test_passing_is_no_rarity(origin: str) -> None:
    array = np.ones([16 if letter == "C" else 1 for letter in LETTERS[origin]], np.float16)
    dim = LETTERS[origin].index("C")
    for storage in ("NC1HWC0", "FRACTAL_Z"):
        candidate = _candidate([array, array], origin, storage, dim, False)
        assert first_failure(concat_dim_checks(candidate)) is None
