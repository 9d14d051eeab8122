"""Element types: packed sizes, and numbers that the reference's enumerations give."""

from __future__ import annotations

import pytest

from ge_dialect.dialects.ge.element_types import dtype_of, ir_element_type
from ge_dialect.formats.cube import PLATFORM
from ge_dialect.formats.dtypes import DTYPES, dtype_by_cpp, dtype_by_name, dtype_by_proto


@pytest.mark.parametrize(
    ("name", "elements", "size"),
    [("INT4", 3, 2), ("INT2", 5, 2), ("UINT2", 4, 1), ("UINT1", 9, 2), ("UINT1", 256, 32), ("BOOL", 3, 3)],
)  # fmt: skip
def test_packed_bytes(name: str, elements: int, size: int) -> None:
    assert dtype_by_name(name).bytes_of(elements) == size


def test_enumerations() -> None:
    rows = ("INT4", "UINT1", "INT2", "UINT2")
    assert [dtype_by_proto(number).name for number in (28, 29, 30, 31)] == list(rows)
    assert [dtype_by_cpp(number).name for number in (29, 30, 31, 32)] == list(rows)
    for numbers in ([x.proto for x in DTYPES], [x.cpp for x in DTYPES], [x.onnx for x in DTYPES]):
        given = [number for number in numbers if number is not None]
        assert len(given) == len(set(given))


@pytest.mark.parametrize("row", DTYPES, ids=lambda row: row.name)
def test_every_type_is_one_of_the_ir(row: object) -> None:
    assert dtype_of(ir_element_type(row)) is row  # pyright: ignore[reportArgumentType]


def test_every_block_size_is_of_a_type() -> None:
    for name in PLATFORM.overrides:
        assert dtype_by_name(name).bits <= 8
