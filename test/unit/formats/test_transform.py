"""Data between formats: round trips, single elements, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_dialect.formats.cube import PLATFORM
from ge_dialect.formats.dtypes import dtype_of_numpy
from ge_dialect.formats.format_table import LETTERS, NZ_FAMILY
from ge_dialect.formats.storage_shape import FormatError, storage_shape
from ge_dialect.formats.transform import Layout, from_storage, to_storage, transform

_FOUR = ["NCHW", "NHWC", "HWCN", "CHWN"]
_FIVE = ["NDHWC", "NCDHW", "DHWCN", "DHWNC"]
_FOUR_TARGETS = [
    *_FOUR,
    "NC1HWC0",
    "NDC1HWC0",
    "FRACTAL_Z",
    "FRACTAL_Z:2",
    "FRACTAL_Z:3",
    *NZ_FAMILY,
]
_FIVE_TARGETS = [
    *_FIVE, "NDC1HWC0", "FRACTAL_Z", "FRACTAL_Z_3D", "FRACTAL_Z_3D:2", "FRACTAL_Z_3D_TRANSPOSE",
]  # fmt: skip
_DTYPES = [np.float16, np.int8, np.float32, np.int64]


@st.composite
def tensors(draw: st.DrawFn) -> tuple[np.ndarray, str, str]:
    """A tensor of numbers that are not 0, its format and another one."""
    origin = draw(st.sampled_from([*_FOUR, *_FIVE, "ND"]))
    if origin == "ND":
        target, rank = draw(st.sampled_from(NZ_FAMILY)), draw(st.integers(1, 4))
    elif origin in _FOUR:
        target, rank = draw(st.sampled_from(_FOUR_TARGETS)), 4
    else:
        target, rank = draw(st.sampled_from(_FIVE_TARGETS)), 5
    shape = [draw(st.integers(0, 5)) for _ in range(rank)]
    for place, letter in enumerate(LETTERS.get(origin, ("N",) * rank)):
        if letter in "NC":
            shape[place] = draw(st.integers(0, 35))
    dtype = draw(st.sampled_from(_DTYPES))
    size = int(np.prod(shape))
    return (np.arange(size) % 100 + 1).astype(dtype).reshape(shape), origin, target


@given(tensors())
@settings(max_examples=300, deadline=None)
def test_round_trip(case: tuple[np.ndarray, str, str]) -> None:
    array, origin, target = case
    groups = int(target.partition(":")[2] or 0)
    if groups and array.shape[LETTERS[origin].index("N")] % groups:
        return
    stored = transform(array, origin, target)
    dtype = dtype_of_numpy(array.dtype)
    if origin != "CHWN":  # whose storage shape only the other entry point knows
        assert stored.shape == storage_shape(array.shape, origin, target, dtype)
    assert stored.dtype == array.dtype
    # Nothing is lost, nothing is doubled, all else is zero.
    assert sorted(stored[stored != 0].tolist()) == sorted(array.ravel().tolist())
    back = transform(stored, target, origin, origin_shape=array.shape, origin_format=origin)
    assert np.array_equal(back, array)


Element = Callable[[dict[str, int]], tuple[int, ...]]
_WIDE, _HIGH = 3, 2

_ELEMENTS: list[tuple[str, str, Element]] = [
    ("NHWC", "NC1HWC0", lambda i: (i["N"], i["C"] // 16, i["H"], i["W"], i["C"] % 16)),
    ("NDHWC", "NDC1HWC0", lambda i: (i["N"], i["D"], i["C"] // 16, i["H"], i["W"], i["C"] % 16)),
    (
        "HWCN",
        "FRACTAL_Z",
        lambda i: (
            (i["C"] // 16 * _HIGH + i["H"]) * _WIDE + i["W"],
            i["N"] // 16,
            i["N"] % 16,
            i["C"] % 16,
        ),
    ),
    (
        "DHWCN",
        "FRACTAL_Z_3D",
        lambda i: (
            ((i["D"] * 2 + i["C"] // 16) * _HIGH + i["H"]) * _WIDE + i["W"],
            i["N"] // 16,
            i["N"] % 16,
            i["C"] % 16,
        ),
    ),
    (
        "DHWNC",
        "FRACTAL_Z_3D_TRANSPOSE",
        lambda i: (
            ((i["D"] * 2 + i["N"] // 16) * _HIGH + i["H"]) * _WIDE + i["W"],
            i["C"] // 16,
            i["N"] % 16,
            i["C"] % 16,
        ),
    ),
    ("NCHW", "FRACTAL_NZ", lambda i: (i["N"], i["C"], 0, 0, i["H"], i["W"])),
]


@pytest.mark.parametrize(("origin", "target", "place"), _ELEMENTS)
def test_elements(origin: str, target: str, place: Element) -> None:
    sizes = {"N": 18, "C": 17, "D": 2, "H": _HIGH, "W": _WIDE}
    letters = LETTERS[origin]
    shape = tuple(sizes[letter] for letter in letters)
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    stored = transform(array, origin, target)
    for index in product(*(range(size) for size in shape)):
        assert stored[place(dict(zip(letters, index, strict=True)))] == array[index]


def test_matrices() -> None:
    array = np.arange(20 * 40, dtype=np.int8).reshape(20, 40)
    nz = transform(array, "ND", "FRACTAL_NZ")
    assert nz.shape == (2, 2, 16, 32)
    z = transform(array, "ND", "FRACTAL_Z")
    assert z.shape == (1, 3, 16, 32)
    for row, column in product(range(20), range(40)):
        assert nz[column // 32, row // 16, row % 16, column % 32] == array[row, column]
        assert z[row // 32, column // 16, column % 16, row % 32] == array[row, column]


def test_groups_lie_on_the_diagonal() -> None:
    # 4 groups of 8 output and 8 input channels: two groups share a block of 16 x 16.
    array = np.arange(1, 32 * 8 + 1, dtype=np.float32).reshape(32, 8, 1, 1)
    stored = transform(array, "NCHW", "FRACTAL_Z:4")
    assert stored.shape == (2, 1, 16, 16)
    for n, c in product(range(32), range(8)):
        group = n // 8
        block, place = divmod(group, 2)
        assert stored[block, 0, place * 8 + n % 8, place * 8 + c] == array[n, c, 0, 0]
    assert np.count_nonzero(stored) == array.size


def test_recurrent_weights() -> None:
    # 3 inputs and 20 hidden units: rows and each of the 4 gates are padded to 16 on their own.
    array = np.arange(1, 23 * 80 + 1, dtype=np.float32).reshape(1, 1, 23, 80)
    stored = transform(array, "HWCN", "FRACTAL_ZN_LSTM")
    assert stored.shape == (3, 8, 16, 16)
    for row, column in product(range(23), range(80)):
        at = row if row < 3 else 16 + row - 3
        to = column // 20 * 32 + column % 20
        assert stored[at // 16, to // 16, to % 16, at % 16] == array[0, 0, row, column]
    back = transform(
        stored, "FRACTAL_ZN_LSTM", "HWCN", origin_shape=array.shape, origin_format="HWCN"
    )
    assert np.array_equal(back, array)


def test_four_channels() -> None:
    array = np.arange(1, 20 * 3 * 25 + 1, dtype=np.float32).reshape(20, 3, 5, 5)
    stored = transform(array, "NCHW", "FRACTAL_Z_C04")
    assert stored.shape == (7, 2, 16, 16)
    for n, c, h, w in product(range(20), range(3), range(5), range(5)):
        row = (h * 5 + w) * 4 + c
        assert stored[row // 16, n // 16, n % 16, row % 16] == array[n, c, h, w]
    back = transform(stored, "FRACTAL_Z_C04", "NCHW", origin_shape=array.shape)
    assert np.array_equal(back, array)


def test_between_storage_formats() -> None:
    array = np.arange(1, 2 * 20 * 3 * 4 + 1, dtype=np.float16).reshape(2, 20, 3, 4)
    stored = transform(array, "NCHW", "NC1HWC0")
    moved = transform(
        stored, "NC1HWC0", "FRACTAL_Z", origin_format="NCHW", origin_shape=array.shape
    )
    assert np.array_equal(moved, transform(array, "NCHW", "FRACTAL_Z"))


def test_low_rank_is_expanded() -> None:
    array = np.arange(20, dtype=np.float16)
    stored = transform(array, "NCHW", "NC1HWC0")  # one axis is C
    assert stored.shape == (1, 2, 1, 1, 16)
    assert np.array_equal(transform(stored, "NC1HWC0", "NCHW", origin_shape=[20]), array)
    layout = Layout("NC1HWC0", "NCHW", (20, 3), mask=0b0011)  # H and W
    assert to_storage(np.zeros((20, 3)), layout).shape == (1, 1, 20, 3, 16)


def test_block_sizes_show_in_the_storage() -> None:
    layout = Layout.of("NC1HWC0", "NCHW", (1, 32, 2, 2), dtype_of_numpy(np.dtype(np.int8)))
    assert layout.c0 == 32
    assert layout.seen_in((1, 2, 2, 2, 16)).c0 == 16
    assert Layout("FRACTAL_NZ", "ND", (4, 4)).seen_in((1, 1, 8, 4)).m0 == 8
    assert Layout("NHWC", "NCHW", (1, 2, 3, 4)).seen_in((1, 3, 4, 2)).c0 == 16
    carried = Layout.of(
        "NC1HWC0", "NCHW", (1, 32, 2, 2), dtype_of_numpy(np.dtype(np.int8)), c0=8, table=PLATFORM
    )
    assert carried.c0 == 8


@pytest.mark.parametrize(
    ("shape", "source", "target", "message"),
    [
        ([1, 2, 3, 4], "NCHW", "C1HWC0", "data layout of format C1HWC0 is not known"),
        ([1, 2, 3, 4], "NCHW", "FRACTAL_Z_WINO", "data layout of format FRACTAL_Z_WINO"),
        ([1, 2, 3, 4], "NCHW", "NC1", "'NC1' is no format"),
        ([1, 2, 3, 4, 5], "NDHWC", "NC1HWC0", "NC1HWC0 has no axis D, which has length 2"),
        ([1, 2, 3, 4, 5], "NCHW", "NC1HWC0", "cannot be stored as NC1HWC0"),
        ([8, 8, 3, 3], "NCHW", "FRACTAL_Z_C04", "at most 4 channels, not 8"),
        ([9, 8, 3, 3], "NCHW", "FRACTAL_Z:2", "9 output channels are no multiple of 2 groups"),
        ([1, 1, 3, 8], "NC1HWC0", "FRACTAL_Z", "origin format is not known"),
        ([1, 2, 3, 4, 16], "NC1HWC0", "NCHW", "origin shape is not known"),
    ],
)
def test_errors(shape: list[int], source: str, target: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        transform(np.zeros(shape, np.float32), source, target)


def test_storage_of_a_wrong_shape() -> None:
    layout = Layout("NC1HWC0", "NCHW", (1, 32, 2, 2))
    with pytest.raises(FormatError, match=r"shape \[1, 1, 2, 2, 16\], expected \[1, 2, 2, 2, 16\]"):
        from_storage(np.zeros((1, 1, 2, 2, 16)), layout)
    with pytest.raises(FormatError, match=r"expected \[1, 2, 16, 16\]"):
        from_storage(np.zeros((1, 1, 16, 16)), Layout("FRACTAL_NZ", "ND", (20, 16)))
