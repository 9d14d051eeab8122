"""The Python of README's tour runs; its commands are tested with those of all pages (test_console.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[3] / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (source,) = (text for language, text in BLOCKS if language == "mlir")
    Path("net.mlir").write_text(source)
    (code,) = (text for language, text in BLOCKS if language == "python")
    names: dict[str, object] = {}
    exec(code, names)
    assert names["outputs"]
