"""No case of the folder is passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import SEEN, all_cases, kind_of


def test_every_case_has_a_test(request: pytest.FixtureRequest) -> None:
    """Each case is of a kind that some test takes; asked only when all files of this folder were collected."""
    seen = request.config.stash[SEEN]
    if not seen.keys() >= set(Path(__file__).parent.glob("test_*.py")):
        pytest.skip("only some of the tests were collected")
    known = set[str]().union(*seen.values())
    cases = all_cases(Path(request.config.getoption("--cases")))
    unknown = [
        f"{file}: {case['id']}: kind {kind_of(case)!r}"
        for file, case in cases
        if kind_of(case) not in known
    ]
    assert not unknown, "no test takes " + "; ".join(unknown)
