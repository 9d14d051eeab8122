"""Facts of the reference as data: `pytest test/conformance [--cases DIR]`.

DIR holds JSON files `{..., "cases": [...]}` (default: the project's own copy). A test that takes `case` and carries
`@pytest.mark.cases(kinds=(...))` or `@pytest.mark.cases(levels=(...))` runs once for each case of these kinds, in
whatever file of DIR it stands. `test_every_case_has_a_test` fails for cases that no test takes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import SEEN, all_cases, kind_of


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    seen = metafunc.config.stash.setdefault(SEEN, {})
    taken = seen.setdefault(metafunc.definition.path, set())
    marker = metafunc.definition.get_closest_marker("cases")
    if marker is None:
        return
    kinds, levels = marker.kwargs.get("kinds", ()), marker.kwargs.get("levels", ())
    taken |= {*kinds, *levels}
    chosen = [
        case
        for _, case in all_cases(Path(metafunc.config.getoption("--cases")))
        if kind_of(case) in (levels if "level" in case else kinds)
    ]
    metafunc.parametrize("case", chosen, ids=[case["id"] for case in chosen])
