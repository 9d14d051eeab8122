"""The Python examples of docs/ run and give what is shown."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
SESSIONS = [page for page in sorted(DOCS.glob("*.md")) if "```pycon" in page.read_text()]
SCRIPTS = [page for page in sorted(DOCS.glob("*.md")) if "\nprint(" in page.read_text()]


def test_there_are_examples() -> None:
    assert {page.name for page in SESSIONS} >= {"python.md", "streams.md"}
    assert [page.name for page in SCRIPTS] == ["packing.md"]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_session(page: Path) -> None:
    # a blank line ends an output
    text = re.sub("^```.*$", "", page.read_text(), flags=re.MULTILINE)
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(example.examples) > 10
    complaints: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=complaints.append)
    assert result.failed == 0, "".join(complaints)


@pytest.mark.parametrize("page", SCRIPTS, ids=lambda page: page.name)
def test_script(page: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    exec(code, {})
