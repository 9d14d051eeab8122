"""Rules of sizes, axis maps and dimensions that no test of the reference asserts, worked out by hand."""

from __future__ import annotations

import pytest
from no_task_checks import (
    check_dim_alignment,
    check_format_map,
    check_real_dim,
    check_tensor_align,
)

Axes = list[list[int]]


# fmt: off
@pytest.mark.parametrize(
    ("origin", "storage", "shape", "mask", "expected"),
    [
        ("FRACTAL_Z", "FRACTAL_Z:3", [5, 6], 0, ([1, 1], [[0], [1]], [[0], [1]])),
        ("ND", "FRACTAL_NZ_C0_32", [2, 3, 4], 0, ([1, 16, 16], [[0], [2], [1]], [[0], [2], [1], [-1], [-1]])),
        ("NHWC", "FRACTAL_NZ", [1, 2, 3, 4], 0, ([1, 1, 16, 16], [[0], [1], [3], [2]], [[0], [1], [3], [2], [-1], [-1]])),
        ("NCHW", "FRACTAL_Z", [32, 16], 12, ([16, 16], [[1, 2], [0, 3]], [[1, -1, -1], [0], [0], [1]])),
        ("NCHW", "NC1HWC0", [1, 32, 2, 2], 0, ([1, 16, 1, 1], [[0], [1, 4], [2], [3]], [[0], [1], [2], [3], [1]])),
        ("NCHW", "FRACTAL_NZ", [4], 0, None),
        ("NC1HWC0", "NCHW", [1, 1, 1, 1, 16], 0, None),
        ("NCHW", "NC1HWC0", [], 15 | 4 << 56, None),
        ("NCHW", "NC1HWC0", [1, 1, 1, 1, 1], 0, None),
        ("ND", "NCHW", [1, 1, 1, 1], 0, None),
        ("NCHW", "ND", [1, 1, 1, 1], 0, None),
    ],
)
def test_maps(
    origin: str, storage: str, shape: list[int], mask: int, expected: tuple[list[int], Axes, Axes] | None
) -> None:
    expect: dict[str, object] = {"supported": expected is not None}
    if expected is not None:
        expect |= dict(zip(("aligned", "s2d", "d2s"), expected, strict=True))
    # int8: without a platform every type has blocks of 16.
    given = {"origin_format": origin, "format": storage, "origin_shape": shape, "dtype": "int8", "reshape_type_mask": mask}
    check_format_map({"input": given, "expect": expect})


@pytest.mark.parametrize(
    ("aligned", "src", "storage", "s2d", "d2s", "dim", "ok"),
    [
        ([16, 1], [16, 4], [4, 16], [[0, 1], [0]], [[0, 1], [0]], 1, True),  # one block in front
        ([16, 1], [17, 4], [8, 16], [[0, 1], [0]], [[0, 1], [0]], 1, False),  # two blocks in front
        ([16, 1], [1, 4], [4, 1], [[1, 0], [0]], [[0, 1], [0]], 1, False),  # inner parts in front
        ([1, 1], [9, 4], [4, 1], [[1, 0], [0]], [[0, 1], [0]], 1, True),  # of one element each
        ([1, 1], [2, 4], [8], [[0], [0]], [[0, 1]], 1, False),  # an uncut axis of two in front
        ([1, 1], [2, 4], [8], [[0], [0]], [[0, 1]], 0, True),  # nothing in front
        ([1, 1], [1, 1], [4], [[0], [0]], [[1, 1]], 0, False),  # not among the merged axes
        ([1], [1], [4], [[0]], [[-1, 0]], 0, False),  # an inserted axis in front
        ([1], [1], [2, 1], [[1]], [[-1], [0]], 0, False),  # a storage axis in front
        ([1], [1], [1], [[-1]], [[0]], 0, False),  # no storage axis
        ([1], [1], [1], [[1]], [[0], [0]], 0, False),  # beyond the storage
        ([1], [1], [1], [[0]], [[0]], 1, False),  # no such origin axis
        ([1], [1], [1], [[0]], [[0]], -1, False),
        ([1], [1], [4], [[0]], [[5, 0]], 0, False),  # a map to an axis that is not there
    ],
)
def test_real_dim(
    aligned: list[int], src: list[int], storage: list[int], s2d: Axes, d2s: Axes, dim: int, ok: bool
) -> None:
    given = {"aligned": aligned, "src": src, "storage": storage, "s2d": s2d, "d2s": d2s, "dim": dim}
    check_real_dim({"input": given, "expect": {"ok": ok}})
# fmt: on


@pytest.mark.parametrize(
    ("aligned", "origin", "dim", "ok"),
    [
        ([16], [32], 0, True),
        ([16], [0], 0, True),
        ([16], [33], 0, False),
        ([-1], [32], 0, False),
        ([1], [1, 1], 1, False),
        ([1, 1], [1], 1, False),
        ([1], [1], -1, False),
    ],
)
def test_dim_alignment(aligned: list[int], origin: list[int], dim: int, ok: bool) -> None:
    check_dim_alignment(
        {"input": {"aligned": aligned, "origin": origin, "dim": dim}, "expect": {"ok": ok}}
    )


@pytest.mark.parametrize(
    ("anchors", "shape", "dtype", "ok"),
    [
        (1, [], "undefined", True),
        (2, [], "float16", False),
        (2, [16], "float16", True),
        (2, [0, 16], "float16", False),
        (2, [-1, 16], "float16", False),
        (2, [-1, -16], "float16", False),
        (2, [64], "int4", True),
        (2, [128], "int2", True),
        (2, [128], "uint2", True),
        (2, [256], "uint1", True),
        (2, [249], "uint1", True),
        (2, [248], "uint1", False),
        (3, [3], "int64", False),
        (2, [32], "bool", True),
        (2, [16], "bfloat16", True),
    ],
)
def test_tensor_align(anchors: int, shape: list[int], dtype: str, ok: bool) -> None:
    given = {"input_anchor_count": anchors, "shape": shape, "dtype": dtype}
    check_tensor_align({"input": given, "expect": {"ok": ok}})
