"""Operations and bytes of kernels, against what they are by definition."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ge_dialect.kernels import work_table
from ge_dialect.kernels.spec import OpSpec
from ge_dialect.kernels.work import Work, counter_of


def f32(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize(
    ("kind", "attrs", "ins", "outs", "work"),
    [
        ("Add", {}, [f32(8), f32(8)], [f32(8)], Work(8, 96)),
        ("Exp", {}, [f32(8)], [f32(8)], Work(64, 64)),
        ("BatchMatMulV2", {}, [f32(2, 3, 5), f32(2, 5, 7)], [f32(2, 3, 7)],
         Work(2 * 2 * 3 * 7 * 5, 4 * (30 + 70 + 42), True)),
        ("BatchMatMulV2", {"adj_x1": True}, [f32(5, 3), f32(5, 7)], [f32(3, 7)],
         Work(2 * 3 * 7 * 5, 4 * (15 + 35 + 21), True)),
        ("Conv2D", {"groups": 2}, [f32(1, 4, 8, 8), f32(6, 2, 3, 3)], [f32(1, 6, 6, 6)],
         Work(2 * 6 * 36 * 18, 4 * (256 + 108 + 216), True)),
        ("MaxPool", {"kernel_shape": [2, 3]}, [f32(1, 1, 4, 6)], [f32(1, 1, 2, 2)], Work(24, 112)),
        ("ReduceSumD", {"axes": [0]}, [f32(10, 2)], [f32(2)], Work(20, 88)),
        ("TransposeD", {}, [f32(4, 2)], [f32(2, 4)], Work(0, 64)),
        # Of a large table only the rows are read that are asked for.
        ("GatherV2", {}, [f32(1000, 2), np.zeros(3, np.int64), np.zeros((), np.int64)], [f32(3, 2)],
         Work(0, 24 + 8 + 2 * 24)),
        ("Shape", {}, [f32(1000)], [np.zeros(1, np.int64)], Work(0, 8)),
        ("Reshape", {}, [f32(1000), np.zeros(2, np.int64)], [f32(10, 100)], Work(0, 0)),
        ("LSTM", {}, [f32(5, 2, 3), f32(1, 16, 3), f32(1, 16, 4)], [f32(5, 1, 2, 4)],
         Work(2 * 5 * 2 * (48 + 64), 4 * (30 + 48 + 64 + 40), True)),
        ("NobodyKnows", {}, [None, f32(2)], [f32(3)], Work(3, 20)),
        ("Add", {}, [], [], Work(0, 0)),
    ],
)  # fmt: skip
def test_counts(
    kind: str, attrs: dict[str, Any], ins: list[Any], outs: list[Any], work: Work
) -> None:
    assert counter_of(OpSpec(kind, attrs, len(outs)))(ins, outs) == work


def test_no_type_is_in_two_tables() -> None:
    tables = [
        set(table)
        for name, table in vars(work_table).items()
        if re.fullmatch("[A-Z_]+", name) and not isinstance(table, int)
    ]
    assert len(tables) == 11
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names))


def test_the_page_says_where_the_table_is() -> None:
    page = Path(__file__).parents[3] / "docs" / "device_profiles.md"
    assert "ge_dialect/kernels/work_table.py" in page.read_text()
