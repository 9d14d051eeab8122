"""The examples of docs/python.md run and give what is shown."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python.md"


def test_python_page() -> None:
    text = re.sub(
        "^```.*$", "", PAGE.read_text(), flags=re.MULTILINE
    )  # a blank line ends an output
    example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(example.examples) > 30
    complaints: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=complaints.append)
    assert result.failed == 0, "".join(complaints)
