"""The generated pages of docs/ say what the code says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_pages_are_fresh(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(repository / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout}{done.stderr}"
