"""docs/dependencies.md lists every requirement of pyproject.toml with its bound."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "dependencies.md").read_text()


def test_every_requirement_is_listed_with_its_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for each in project["project"]["optional-dependencies"].values():
        wanted += each
    others = [each for each in wanted if not each.startswith("ge-dialect")]
    assert len(others) > 10
    for requirement in others:
        found = re.fullmatch(r"([\w-]+)(.*)", requirement)
        assert found
        name, bound = found.groups()
        lines = [line for line in PAGE.splitlines() if re.search(rf"\b{name}\b", line)]
        assert any(f"`{bound}`" in line for line in lines), requirement
