"""The no-task passes and the format maps against the facts of no_task.json (any file of that schema)."""

from __future__ import annotations

import pytest
from no_task_checks import (
    PASSES,
    Case,
    check_dim_alignment,
    check_format_map,
    check_pass,
    check_real_dim,
    check_tensor_align,
)


@pytest.mark.cases(kinds=tuple(PASSES))
def test_pass(case: Case) -> None:
    check_pass(case)


@pytest.mark.cases(kinds=("real_dim",))
def test_real_dim(case: Case) -> None:
    check_real_dim(case)


@pytest.mark.cases(kinds=("dim_alignment",))
def test_dim_alignment(case: Case) -> None:
    check_dim_alignment(case)


@pytest.mark.cases(kinds=("tensor_align",))
def test_tensor_align(case: Case) -> None:
    check_tensor_align(case)


@pytest.mark.cases(kinds=("format_map",))
def test_format_map(case: Case) -> None:
    check_format_map(case)
