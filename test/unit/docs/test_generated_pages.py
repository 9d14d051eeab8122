"""The generated pages of docs/ say what the code says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from ge_dialect.passes import PASSES
from ge_dialect.universe import resolve


def test_pages_are_fresh(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(repository / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_says_what_it_needs_gives_and_does_to_the_text(name: str) -> None:
    text = (inspect.getdoc(resolve(PASSES[name])) or "").lower()
    missing = [part for part in ("expects", "guarantees", "before and after") if part not in text]
    assert missing == []
