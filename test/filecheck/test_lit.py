"""Runs the lit tests below this folder under pytest, one test a `.mlir` file, and checks that each can fail."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = [str(path.relative_to(HERE)) for path in sorted(HERE.rglob("*.mlir"))]
LIT = [sys.executable, "-c", "from lit.main import main; main()", "-v", "--workers=1"]
DIRECTIVE = re.compile(
    r"^\s*//\s*([A-Z][A-Z0-9_-]*?)(?:-(?:NEXT|SAME|DAG|NOT|LABEL|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?:"
)
LIT_KEYWORDS = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE"}
SUBSTITUTIONS = {
    "GE_ROUNDTRIP": "| filecheck %s",
    "GE_GENERIC": "| filecheck %s --check-prefix=CHECK-GENERIC",
}


def unchecked_prefixes(text: str, name: str = "") -> set[str]:
    """Prefixes of FileCheck comments in `text`, the file `name`, that no RUN line looks at; `RUN` without RUN lines."""
    commands = " ".join(re.findall(r"RUN:(.*)", text)).replace(f"%S/{name} ", "%s ")
    for name, command in SUBSTITUTIONS.items():
        commands = commands.replace(name, command)
    looked_at = {"RUN"} if commands else set[str]()
    for command in commands.split("filecheck %s")[1:]:
        prefix = re.match(r"[^|]*?--check-prefix[= ]([\w-]+)", command)
        looked_at.add("CHECK" if prefix is None else prefix[1])
    directives = {match[1] for line in text.splitlines() if (match := DIRECTIVE.match(line))}
    return ((directives - LIT_KEYWORDS) | {"RUN"}) - looked_at


@pytest.mark.parametrize("file", FILES)
def test_lit(file: str) -> None:
    done = subprocess.run([*LIT, str(HERE / file)], capture_output=True, text=True, check=False)
    if "Unsupported: 1" in re.sub(r" +", " ", done.stdout):
        pytest.skip("needs mlir-opt (Debian: mlir-22-tools), which is not on the PATH")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", FILES)
def test_every_check_is_looked_at(file: str) -> None:
    path = HERE / file
    assert not unchecked_prefixes(path.read_text(), path.name)


@pytest.mark.parametrize(
    ("text", "unchecked"),
    [
        ("// RUN: ge-opt %s | filecheck %s\n// CHECK: a", set[str]()),
        ("// RUN: ge-opt %s\n// CHECK: a", {"CHECK"}),
        ("// RUN: ge-opt %s | filecheck %s --check-prefix=A\n// A-NEXT: a\n// B: b", {"B"}),
        ("// CHECK: a", {"CHECK", "RUN"}),
        ("// RUN: GE_GENERIC\n// CHECK-GENERIC: a", set[str]()),
    ],
)
def test_unchecked_prefixes(text: str, unchecked: set[str]) -> None:
    assert unchecked_prefixes(text) == unchecked
