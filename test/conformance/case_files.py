"""The files of the folder of cases, and which of their cases tests take."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SEEN: pytest.StashKey[dict[Path, set[str]]] = pytest.StashKey()
"""The collected files, with the kinds and levels that their tests take."""


@cache
def all_cases(folder: Path) -> tuple[tuple[str, dict[str, Any]], ...]:
    """File name and case, of all files of the folder in order of their names. Raises UsageError for what is no file of
    cases."""
    found = [(path.name, case) for path in sorted(folder.glob("*.json")) for case in _cases(path)]
    if not found:
        raise pytest.UsageError(f"--cases: no cases in {folder}")
    return tuple(found)


def _cases(path: Path) -> list[dict[str, Any]]:
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    except ValueError as error:
        raise pytest.UsageError(f"--cases: {path}: no JSON: {error}") from None
    except (KeyError, TypeError):
        raise pytest.UsageError(f'--cases: {path}: has no list "cases"') from None
    for index, case in enumerate(cases):
        if "id" not in case:
            raise pytest.UsageError(f'--cases: {path}: case {index} has no "id"')
    return cases


def kind_of(case: dict[str, Any]) -> Any:
    """What a case is chosen by. Cases of streams.json are told apart by `level`; their `kind` means something else."""
    return case["level"] if "level" in case else case.get("kind")
