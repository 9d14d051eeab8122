"""The README's tour: every command gives the output that is shown, and the Python runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[3] / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    (command, output)
    for language, text in BLOCKS
    if language == "console"
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
]
WALL_TIME = re.compile(r"emulator us +\d+")


@pytest.fixture(autouse=True)
def tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tour's file in the working directory and its tools on the PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (source,) = (text for language, text in BLOCKS if language == "mlir")
    Path("net.mlir").write_text(source)


def test_the_tour_has_commands() -> None:
    assert len(COMMANDS) >= 4


@pytest.mark.parametrize(("command", "output"), COMMANDS)
def test_command(command: str, output: str) -> None:
    done = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert WALL_TIME.sub("", done.stdout) == WALL_TIME.sub("", output)


def test_python() -> None:
    (code,) = (text for language, text in BLOCKS if language == "python")
    names: dict[str, object] = {}
    exec(code, names)
    assert names["outputs"]
