"""Interned attributes."""

from __future__ import annotations

from xdsl.dialects.builtin import BytesAttr, DenseArrayBase, IntegerAttr, StringAttr
from xdsl.dialects.builtin import i64 as i64_type

from ge_dialect.dialects.attrs import i64, i64_array, integers, segments, string, text_of


def test_equal_values_are_one_object() -> None:
    assert i64(7) is i64(7)
    assert i64(7) == IntegerAttr(7, i64_type)
    assert i64_array([1, 2]) is i64_array((1, 2))
    assert i64_array([1, 2]) == DenseArrayBase.from_list(i64_type, [1, 2])
    assert segments(1, 0) is segments(1, 0)
    assert string("a") is string("a")


def test_values_come_back() -> None:
    assert integers(i64_array([3, -1])) == (3, -1)
    assert integers(segments(2, 0)) == (2, 0)


def test_text_of_both_kinds_of_strings() -> None:
    assert text_of(StringAttr("é")) == "é"
    assert text_of(BytesAttr("é".encode())) == "é"
    assert text_of(None) is None
    assert text_of(i64(1)) is None
