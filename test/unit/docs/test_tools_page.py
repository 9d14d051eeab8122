"""docs/tools.md names every option of ge-run, ge-translate and ge-plan, and those that ge-opt adds to xDSL's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "tools.md").read_text()


def options(module: str) -> set[str]:
    """The long options that the help text of a tool lists."""
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^  (?:-\w(?: [A-Z_]+)?, )?(--[\w-]+)", done.stdout, re.MULTILINE))


@pytest.mark.parametrize("tool", ["ge_run", "ge_translate", "ge_opt", "ge_plan"])
def test_every_option_is_named(tool: str) -> None:
    known = options(f"ge_dialect.tools.{tool}") - {"--help"}
    if tool == "ge_opt":
        known -= options("xdsl.tools.xdsl_opt")
    assert len(known) >= 3
    assert sorted(name for name in known if not re.search(rf"{name}\b", PAGE)) == []
