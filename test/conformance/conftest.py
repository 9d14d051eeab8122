"""Facts of the reference as data: `pytest test/conformance [--cases DIR]`.

DIR holds JSON files `{..., "cases": [...]}` (default: the project's own copy). A test that takes `case` and carries
`@pytest.mark.cases(kinds=(...))` or `@pytest.mark.cases(levels=(...))` runs once for each case of these kinds, in
whatever file of DIR it stands.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest


@cache
def all_cases(folder: Path) -> tuple[tuple[str, dict[str, Any]], ...]:
    """File name and case, of all files of the folder in order of their names."""
    found = [
        (path.name, case)
        for path in sorted(folder.glob("*.json"))
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]
    ]
    if not found:
        raise pytest.UsageError(f"--cases: no cases in {folder}")
    return tuple(found)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("cases")
    if marker is None:
        return
    kinds, levels = marker.kwargs.get("kinds", ()), marker.kwargs.get("levels", ())
    chosen = [
        case
        for _, case in all_cases(Path(metafunc.config.getoption("--cases")))
        # Cases of streams.json are told apart by `level`; their `kind` means something else.
        if (case["level"] in levels if "level" in case else case.get("kind") in kinds)
    ]
    metafunc.parametrize("case", chosen, ids=[case["id"] for case in chosen])
