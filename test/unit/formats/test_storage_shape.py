"""Storage shapes: the numbers of spec/formats.md sections 1, 3 and 7."""

from __future__ import annotations

import pytest

from ge_dialect.formats.cube import (
    CUBE_TABLES,
    NO_PLATFORM,
    PLATFORM,
    Cube,
    CubeTable,
    cube_table,
)
from ge_dialect.formats.dtypes import dtype_by_name
from ge_dialect.formats.errors import GeError
from ge_dialect.formats.storage_shape import FormatError, ceil_div, enlarge_factor, storage_shape

F16 = dtype_by_name("FLOAT16")
I8 = dtype_by_name("INT8")


@pytest.mark.parametrize(
    ("shape", "origin", "storage", "expected"),
    [
        ([1, 32, 16, 16], "NCHW", "NC1HWC0", (1, 2, 16, 16, 16)),
        ([1, 31, 16, 16], "NCHW", "NC1HWC0", (1, 2, 16, 16, 16)),
        ([1, 256, 256, 2], "NHWC", "NC1HWC0", (1, 1, 256, 256, 16)),
        ([1, 3, 4, 5], "NCHW", "NC1HWC0_C04", (1, 1, 4, 5, 4)),
        ([1, 2, 4, 5], "NCHW", "HWCN", (4, 5, 2, 1)),
        ([1, 2, 4, 5], "NCHW", "CHWN", (2, 4, 5, 1)),
        ([1, 2, 3, 4, 5], "NDHWC", "NCDHW", (1, 5, 2, 3, 4)),
        ([1, 2, 3, 16], "HWCN", "FRACTAL_Z", (2, 1, 16, 16)),
        ([2, 2, 32, 16], "HWCN", "FRACTAL_Z", (8, 1, 16, 16)),
        ([40, 33], "NCHW", "FRACTAL_Z", (3, 3, 16, 16)),
        ([40, 33], "ND", "FRACTAL_Z", (3, 3, 16, 16)),
        ([1, 16, 2, 4, 4], "NCDHW", "NDC1HWC0", (1, 2, 1, 4, 4, 16)),
        ([1, 16, 4, 4], "NCHW", "NDC1HWC0", (1, 1, 1, 4, 4, 16)),
        ([2, 3, 4, 17, 18], "DHWCN", "FRACTAL_Z_3D", (48, 2, 16, 16)),
        ([2, 3, 4, 17, 18], "DHWNC", "FRACTAL_Z_3D_TRANSPOSE", (48, 2, 16, 16)),
        ([20, 3, 5, 5], "NCHW", "FRACTAL_Z_C04", (7, 2, 16, 16)),
        ([20, 40, 3, 3], "NCHW", "FRACTAL_Z_WINO", (3, 2, 2, 9, 8, 16)),
        ([1, 1, 30, 80], "HWCN", "FRACTAL_ZN_LSTM", (1 + 2, 8, 16, 16)),
        ([33, 2, 3, 4], "NCHW", "C1HWC0", (3, 3, 4, 16)),
        ([33, 20, 3, 4], "NCHW", "C1HWNCoC0", (2, 3, 4, 3, 16, 16)),
        ([32, 64], "ND", "FRACTAL_NZ", (4, 2, 16, 16)),
        ([7, 32, 64], "ND", "FRACTAL_NZ", (7, 4, 2, 16, 16)),
        ([33], "ND", "FRACTAL_NZ", (1, 3, 16, 16)),
        ([32, 64], "ND", "FRACTAL_NZ_C0_8", (8, 2, 16, 8)),
        ([3, 20, 70, 2], "NHWC", "NYUV_A", (3, 32, 128, 2)),
        # Unchanged: scalars, ND to a public format, a rank that is too low, an origin that in-place does not read.
        ([], "NCHW", "NC1HWC0", ()),
        ([8, 9], "ND", "NCHW", (8, 9)),
        ([8, 9, 10], "NCHW", "NC1HWC0", (8, 9, 10)),
        ([1, 2, 3, 4], "NDHWC", "NDC1HWC0", (1, 2, 3, 4)),
        ([1, 2, 3, 4], "CHWN", "NC1HWC0", (1, 2, 3, 4)),
        # ND of another rank than four has no letters: every axis counts as 1.
        ([8, 1000], "ND", "NC1HWC0", (1, 1, 1, 1, 16)),
        ([1, 32, 5, 6], "ND", "NC1HWC0", (1, 2, 5, 6, 16)),
        ([1, 2, 5, 6, 16], "NC1HWC0", "NCHW", (1, 32, 5, 6)),
        ([2, 5, 6, 7, 16, 16], "C1HWNCoC0", "NCHW", (7, 32, 5, 6)),
        # Unknown dimensions stay unknown in what they go into.
        ([-1, 32, 16, 16], "NCHW", "NC1HWC0", (-1, 2, 16, 16, 16)),
        ([1, -1, 16, 16], "NCHW", "NC1HWC0", (1, -1, 16, 16, 16)),
        ([2, -1, 3, 16], "HWCN", "FRACTAL_Z", (-1, 1, 16, 16)),
        ([-2], "NCHW", "NC1HWC0", (-2,)),
        ([0, 32, 16, 16], "NCHW", "NC1HWC0", (0, 2, 16, 16, 16)),
    ],
)
def test_in_place(shape: list[int], origin: str, storage: str, expected: tuple[int, ...]) -> None:
    assert storage_shape(shape, origin, storage, F16) == expected


@pytest.mark.parametrize(
    ("shape", "origin", "storage", "expected"),
    [
        ([17, 2, 3, 4], "CHWN", "NC1HWC0", (4, 2, 2, 3, 16)),
        ([2, 17, 3, 4], "NDHWC", "NDC1HWC0", (2, 17, 1, 3, 4, 16)),
        ([1, 2, 3, 4], "NCHW", "NDHWC", (1, 2, 3, 4)),
        ([1, 16, 4, 5, 3], "ND", "NDC1HWC0", (1, 3, 1, 4, 5, 16)),
        ([2, 3, 4, 17, 18], "DHWCN", "FRACTAL_Z", (24, 2, 16, 16)),
        ([33], "ND", "FRACTAL_NZ", (1, 3, 16, 16)),
    ],
)
def test_pair_differs_at_the_edges(
    shape: list[int], origin: str, storage: str, expected: tuple[int, ...]
) -> None:
    assert storage_shape(shape, origin, storage, F16, pair=True) == expected


@pytest.mark.parametrize(
    ("shape", "groups", "expected"),
    [
        # 3 groups of 5 x 11: blocks of 16 x 16 groups would be needed, there are 3.
        ([33, 5, 2, 2], 3, (4, 3, 16, 16)),
        # 4 groups of 8 x 8: two share a block.
        ([32, 8, 1, 1], 4, (2, 1, 16, 16)),
        ([2, 8, 1, 1], 4, (1, 1, 16, 16)),
        ([32, -1, 1, 1], 4, (-1, -1, 16, 16)),
        ([32, 0, 1, 1], 4, (0, 0, 16, 16)),
    ],
)
def test_groups(shape: list[int], groups: int, expected: tuple[int, ...]) -> None:
    assert storage_shape(shape, "NCHW", "FRACTAL_Z", F16, groups=groups) == expected
    assert storage_shape(shape, "NCHW", f"FRACTAL_Z:{groups}", F16) == expected


def test_c0_by_element_type_and_table() -> None:
    shape = [1, 48, 4, 4]
    assert storage_shape(shape, "NCHW", "NC1HWC0", I8) == (1, 2, 4, 4, 32)
    assert storage_shape(shape, "NCHW", "NC1HWC0", I8, table=NO_PLATFORM) == (1, 3, 4, 4, 16)
    assert storage_shape(shape, "NCHW", "NC1HWC0", I8, c0=8) == (1, 6, 4, 4, 8)
    assert storage_shape(shape, "NCHW", "NC1HWC0_C04", I8, c0=8) == (1, 12, 4, 4, 4)


def test_cube_tables() -> None:
    assert PLATFORM.of(dtype_by_name("INT4")) == Cube(16, 64, 16)
    assert PLATFORM.of(dtype_by_name("FLOAT")) == (16, 16, 16)
    assert NO_PLATFORM.of(dtype_by_name("INT4")) == (16, 16, 16)
    assert CUBE_TABLES["platform"] is PLATFORM
    assert CubeTable(Cube(8, 8, 8)).c0("FRACTAL_NZ_C0_32", F16, 4) == 32


def test_a_platform_description() -> None:
    section = {
        "Default": "16, 16, 16",
        "DT_INT8": "16,32,16",
        "UINT8": "16,32,16",
        "DT_INT4": "16,64",
        "DT_INT2": "16,x,16",
    }
    table = cube_table(section)
    assert table.of(I8) == table.of(dtype_by_name("UINT8")) == Cube(16, 32, 16)
    assert table.of(dtype_by_name("INT4")) == table.of(dtype_by_name("INT2")) == Cube(16, 16, 16)
    assert cube_table({"Default": "8,4,2"}).of(F16) == Cube(8, 4, 2)
    assert cube_table({}).of(F16) == Cube(16, 16, 16)
    with pytest.raises(GeError, match="Default is '16,16', expected three numbers"):
        cube_table({"Default": "16,16"})


def test_ceil_div() -> None:
    assert [ceil_div(a, b) for a, b in ((0, 4), (5, 4), (-1, 4), (5, 0))] == [0, 2, -1, 0]


def test_enlarge_factor() -> None:
    assert enlarge_factor(8, 8, 16, 4) == 2
    assert enlarge_factor(8, 4, 16, 100) == 4
    assert enlarge_factor(0, 8, 16, 4) == 0


@pytest.mark.parametrize(
    ("origin", "storage", "dtype", "message"),
    [
        ("NCHW", "NC1", "FLOAT16", "'NC1' is no format"),
        ("RESERVED", "NCHW", "FLOAT16", "'RESERVED' is no format"),
        ("NCHW", "NC1HWC0", "UNDEFINED", "UNDEFINED have no storage"),
        ("NCHW", "FRACTAL_ZZ", "FLOAT16", "no storage shape is known for format FRACTAL_ZZ"),
    ],
)
def test_errors(origin: str, storage: str, dtype: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        storage_shape([1, 2, 3, 4], origin, storage, dtype_by_name(dtype))
