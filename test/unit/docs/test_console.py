"""What README and docs/ show of the command line: commands run, with the output that is shown.

A `console` block is run command by command, with the tour's graph as `net.mlir`; a line `...` in it stands for any
lines. An indented line that begins with the name of a tool has to end with exit code 0, on files of the names that pages
use.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from ge_dialect.tools import ge_opt, ge_plan, ge_run, ge_translate

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TOUR = re.search(r"```mlir\n(.*?)```", PAGES[0].read_text(), re.DOTALL)
WALL_TIME = re.compile(r"emulator us +\d+")
TOOLS: dict[str, Callable[[list[str]], int]] = {
    "ge-opt": ge_opt.main,
    "ge-run": ge_run.main,
    "ge-translate": ge_translate.main,
    "ge-plan": ge_plan.main,
}
MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[BATCH, SEQ] x) => (float[OUT, SEQ] y) {
  a = Relu (x)
  b = Neg (x)
  y = Concat <axis = 0> (a, b)
}"""


def consoles() -> list[tuple[str, str, str]]:
    """Page, command and output of every command in a console block."""
    return [
        (page.name, command, output)
        for page in PAGES
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def commands() -> list[tuple[str, str]]:
    """Page and command of every indented line that runs a tool."""
    return [
        (page.name, command)
        for page in PAGES
        for command in re.findall(
            r"^    (ge-(?:opt|run|translate|plan) .*)$", page.read_text(), re.MULTILINE
        )
    ]


def shown(text: str) -> str:
    """A pattern of the output that a page shows."""
    pattern = re.escape(WALL_TIME.sub("", text))
    return re.sub(r"^\\\.\\\.\\\.\\\n", r"(?:.*\\n)*?", pattern, flags=re.MULTILINE)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that pages name in the working directory, the tools on the PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert TOUR
    Path("net.mlir").write_text(TOUR[1])
    Path("test").symlink_to(ROOT / "test")  # commands that name files of the project


def write_files(command: str) -> None:
    """Files of the names that commands of pages use; sizes are open that the command or its inputs fix."""
    batch = "batch" if "batch" in command or "--inputs" in command else "2"
    seq = "seq" if "seq" in command or "--inputs" in command else "64"
    sizes = {"BATCH": batch, "SEQ": seq, "OUT": "4" if batch == "2" else "joined"}
    model = onnx.parser.parse_model(re.sub("[A-Z]{3,}", lambda it: sizes.get(it[0], it[0]), MODEL))
    model.graph.node[2].name = "concat_17"
    onnx.save(model, "model.onnx")
    np.savez("in.npz", x=np.ones((2, 64), np.float32))
    to_file = "--weights=model.weights"
    assert ge_translate.main(["model.onnx", "-o", "model.mlir", to_file]) == 0
    assert ge_opt.main(["net.mlir", "-p", "ge-pipeline", to_file, "-o", "tasks.mlir"]) == 0
    Path("buffers.csv").write_text("id,lower,upper,size\na,0,2,64\nb,1,3,64\n")


def test_there_are_consoles_and_commands() -> None:
    assert {page for page, _, _ in consoles()} >= {"README.md", "tools.md"}
    assert len(commands()) > 20


@pytest.mark.parametrize(("page", "command", "output"), consoles())
def test_console(page: str, command: str, output: str) -> None:
    done = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    got = WALL_TIME.sub("", done.stdout)
    assert re.fullmatch(shown(output), got), f"{page} shows\n{output}\nand it is\n{got}"


@pytest.mark.parametrize(("page", "command"), commands())
def test_command(page: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    write_files(command)
    tool, *words = shlex.split(command, comments=True)
    code = TOOLS[tool](words)
    assert code == 0, f"{page}: {command}\n{capsys.readouterr().err}"
