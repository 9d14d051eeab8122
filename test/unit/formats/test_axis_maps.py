"""Axis maps and aligned shapes: the tables of spec/formats.md sections 4.1 and 4.2."""

from __future__ import annotations

import pytest

from ge_dialect.formats.axis_maps import aligned_shape, transfer_dims
from ge_dialect.formats.cube import Cube

CUBE = Cube(2, 3, 5)
"""M, K and N that tell which one was taken."""

M, K, N = CUBE

PAIRS = [
    ("ND", "FRACTAL_NZ", 2, [M, K], [[1], [0]], [[1], [0], [-1], [-1]]),
    ("ND", "FRACTAL_NZ_C0_4", 3, [1, M, K], [[0], [2], [1]], [[0], [2], [1], [-1], [-1]]),
    ("NCHW", "FRACTAL_NZ", 4, [1, 1, M, K], [[0], [1], [3], [2]], [[0], [1], [3], [2], [-1], [-1]]),
    ("NCHW", "NC1HWC0", 4, [1, K, 1, 1], [[0], [1, 4], [2], [3]], [[0], [1], [2], [3], [1]]),
    ("NHWC", "NC1HWC0", 4, [1, 1, 1, K], [[0], [2], [3], [1, 4]], [[0], [3], [1], [2], [3]]),
    ("HWCN", "NC1HWC0", 4, [1, 1, K, 1], [[2], [3], [1, 4], [0]], [[3], [2], [0], [1], [2]]),
    ("CHWN", "NC1HWC0", 4, [K, 1, 1, 1], [[1, 4], [2], [3], [0]], [[3], [0], [1], [2], [0]]),
    ("NCHW", "FRACTAL_Z", 4, [N, K, 1, 1], [[1, 2], [0, 3], [0], [0]], [[1, 2, 3], [0], [0], [1]]),
    ("NHWC", "FRACTAL_Z", 4, [N, 1, 1, K], [[1, 2], [0], [0], [0, 3]], [[3, 1, 2], [0], [0], [3]]),
    ("HWCN", "FRACTAL_Z", 4, [1, 1, K, N], [[0], [0], [0, 3], [1, 2]], [[2, 0, 1], [3], [3], [2]]),
    ("CHWN", "FRACTAL_Z", 4, [K, 1, 1, N], [[0, 3], [0], [0], [1, 2]], [[0, 1, 2], [3], [3], [0]]),
    ("NCHW", "NHWC", 4, [1] * 4, [[0], [3], [1], [2]], [[0], [2], [3], [1]]),
    ("NCHW", "HWCN", 4, [1] * 4, [[3], [2], [0], [1]], [[2], [3], [1], [0]]),
    ("NHWC", "HWCN", 4, [1] * 4, [[3], [0], [1], [2]], [[1], [2], [3], [0]]),
    ("NDHWC", "NDC1HWC0", 5, [1, 1, 1, 1, K], [[0], [1], [3], [4], [2, 5]], [[0], [1], [4], [2], [3], [4]]),
    ("NCDHW", "NDC1HWC0", 5, [1, K, 1, 1, 1], [[0], [2, 5], [1], [3], [4]], [[0], [2], [1], [3], [4], [1]]),
    ("DHWCN", "NDC1HWC0", 5, [1, 1, 1, K, 1], [[1], [3], [4], [2, 5], [0]], [[4], [0], [3], [1], [2], [3]]),
    ("DHWNC", "NDC1HWC0", 5, [1, 1, 1, 1, K], [[1], [3], [4], [0], [2, 5]], [[3], [0], [4], [1], [2], [4]]),
    ("NDHWC", "NCDHW", 5, [1] * 5, [[0], [2], [3], [4], [1]], [[0], [4], [1], [2], [3]]),
    ("NCHW", "NDC1HWC0", 4, [1, K, 1, 1], [[0], [2, 5], [3], [4]], [[0], [-1], [1], [2], [3], [1]]),
    ("NDHWC", "NC1HWC0", 5, [1, 1, 1, 1, K], [[0], [-1], [2], [3], [1, 4]], [[0], [4], [2], [3], [4]]),
    ("NCHW", "NCHW", 3, [1] * 3, [[0], [1], [2]], [[0], [1], [2]]),
    ("FRACTAL_Z", "FRACTAL_Z", 2, [1] * 2, [[0], [1]], [[0], [1]]),
]  # fmt: skip


@pytest.mark.parametrize(("origin", "storage", "rank", "aligned", "s2d", "d2s"), PAIRS)
def test_full(
    origin: str, storage: str, rank: int, aligned: list[int], s2d: list[int], d2s: list[int]
) -> None:
    shape = [1] * rank
    maps = transfer_dims(origin, storage, shape)
    assert maps is not None
    assert aligned_shape(origin, storage, shape, CUBE) == tuple(aligned)
    assert ([list(x) for x in maps[0]], [list(x) for x in maps[1]]) == (s2d, d2s)


@pytest.mark.parametrize(
    ("origin", "storage", "mask", "aligned", "s2d", "d2s"),
    [
        ("NCHW", "NC1HWC0", 9, [K, 1], [[1, 4], [2]], [[-1], [0], [1], [-1], [0]]),
        ("NCHW", "NC1HWC0", 3, [1, 1], [[2], [3]], [[-1], [-1], [0], [1], [-1]]),
        ("NDHWC", "NDC1HWC0", 7, [1, K], [[4], [2, 5]], [[-1], [-1], [1], [-1], [0], [1]]),
        ("HWCN", "FRACTAL_Z", 6, [1, N], [[0], [1, 2]], [[-1, 0, -1], [1], [1], [-1]]),
        ("HWCN", "FRACTAL_Z", 6 | 4 << 56, [1, N], [[0], [1, 2]], [[-1, 0, -1], [1], [1], [-1]]),
    ],
)
def test_partial(
    origin: str, storage: str, mask: int, aligned: list[int], s2d: list[int], d2s: list[int]
) -> None:
    maps = transfer_dims(origin, storage, [1, 16], mask)
    assert maps is not None
    assert aligned_shape(origin, storage, [1, 16], CUBE, mask) == tuple(aligned)
    assert ([list(x) for x in maps[0]], [list(x) for x in maps[1]]) == (s2d, d2s)


@pytest.mark.parametrize(
    ("origin", "storage", "shape", "mask", "has_aligned"),
    [
        ("ND", "NC1HWC0", [1, 2, 3, 4], 0, False),
        ("ND", "FRACTAL_Z", [1, 2, 3, 4], 0, False),
        ("ND", "NCHW", [1, 2, 3, 4], 0, False),
        ("ND", "FRACTAL_NZ", [7], 0, False),
        ("NCHW", "NC1HWC0", [32], 0, False),
        ("NCHW", "NC1HWC0", [1, 16], 15, False),
        ("NCHW", "NC1HWC0", [1, 2, 3, 4, 5], 0, False),
        ("NC1HWC0", "NCHW", [1, 2, 3, 4, 16], 0, False),
        # The units are known, the maps are not.
        ("NCHW", "ND", [1, 2, 3, 4], 0, True),
        ("NCHW", "FRACTAL_Z_3D", [1, 2, 3, 4], 0, True),
        ("NCHW", "NC1HWC0_C04", [1, 2, 3, 4], 0, True),
        ("NCHW", "C1HWNCoC0", [1, 2, 3, 4], 0, True),
    ],
)
def test_unsupported(
    origin: str, storage: str, shape: list[int], mask: int, has_aligned: bool
) -> None:
    aligned = aligned_shape(origin, storage, shape, CUBE, mask)
    assert aligned == ((1,) * len(shape) if has_aligned else None)
    assert transfer_dims(origin, storage, shape, mask) is None
