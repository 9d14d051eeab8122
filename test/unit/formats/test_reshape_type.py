"""Reshape types and their masks (spec/formats.md section 5)."""

from __future__ import annotations

import pytest

from ge_dialect.formats.reshape_type import (
    ReshapeTypeError,
    expand_dims,
    is_valid,
    reshape_type_mask,
)

FULL4 = 4 << 56


@pytest.mark.parametrize(
    ("origin", "storage", "rank", "reshape_type", "mask"),
    [
        ("NCHW", "NC1HWC0", 2, "CH", FULL4 | 0b1001),
        ("NCHW", "NC1HWC0", 2, "HW", FULL4 | 0b0011),
        ("NCHW", "NC1HWC0", 2, "", FULL4 | 0b1001),
        ("NCHW", "NC1HWC0", 2, "HC", FULL4 | 0b1001),
        ("NCHW", "NC1HWC0", 1, "CHW", FULL4 | 0b1101),
        ("HWCN", "FRACTAL_Z", 2, "HN", FULL4 | 0b0110),
        ("NDHWC", "NDC1HWC0", 2, "", 5 << 56 | 0b00111),
        ("NCHW", "NC1HWC0", 0, "", FULL4 | 0b1111),
        ("NCHW", "NC1HWC0", 4, "CH", 0),
        ("NCHW", "NC1HWC0", 2, "FORBIDDEN", 0),
        ("NCHW", "ND", 2, "CH", 0),
        ("NCHW", "FRACTAL_NZ", 2, "CH", 0),
        ("ND", "FRACTAL_Z", 2, "CH", 0),
        ("NC1HWC0", "NCHW", 2, "CH", 0),
    ],
)
def test_mask(origin: str, storage: str, rank: int, reshape_type: str, mask: int) -> None:
    assert reshape_type_mask(origin, storage, rank, reshape_type) == mask


def test_rank_above_the_letters() -> None:
    with pytest.raises(ReshapeTypeError, match="CH has 2 letters, the shape has rank 3"):
        reshape_type_mask("NCHW", "NC1HWC0", 3, "CH")


def test_is_valid() -> None:
    assert is_valid("CW", "NCHW", 2)
    assert not is_valid("WC", "NCHW", 2)
    assert not is_valid("CD", "NCHW", 2)
    assert not is_valid("CC", "NCHW", 2)
    assert is_valid("", "NCHW", 0)
    assert not is_valid("", "NCHW", 1)


def test_expand() -> None:
    assert expand_dims("NCHW", [7, 8], FULL4 | 0b1001) == (1, 7, 8, 1)
    assert expand_dims("NCHW", [7, 8], 0) == (7, 8)
    with pytest.raises(ReshapeTypeError, match="keeps 2 letters, the shape has rank 3"):
        expand_dims("NCHW", [7, 8, 9], FULL4 | 0b1001)
