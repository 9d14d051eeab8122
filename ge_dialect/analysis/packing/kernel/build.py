"""Compiles the kernel with the C compiler of the machine, if there is one. Needs nothing but the standard library.

The wheel runs `build` (hatch_build.py); after a change of the sources in a checkout, `python -m
ge_dialect.analysis.packing.kernel.build` does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCES = ("problem.h", "search_state.h", "search.c", "first_fit.c", "antichain.c")
FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off")
"""No contraction of floating point: the search orders by floating-point keys, in Python as in C."""


def library_path() -> Path:
    """Where the compiled kernel lies."""
    return FOLDER / ("packing.dll" if sys.platform == "win32" else "packing.so")


@cache
def source_digest() -> str:
    """Identifies the sources; a library made from others is not used."""
    digest = hashlib.sha256()
    for name in SOURCES:
        digest.update((FOLDER / name).read_bytes())
    return digest.hexdigest()[:16]


def build(target: Path | None = None) -> Path | None:
    """Compile to `target` (default: where it is looked for); None when that is not possible here."""
    path = target or library_path()
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        return None
    sources = [str(FOLDER / name) for name in SOURCES if name.endswith(".c")]
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    command = [
        *compiler.split(),
        *FLAGS,
        f'-DSOURCE_DIGEST="{source_digest()}"',
        "-o",
        str(fresh),
        *sources,
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        fresh.replace(path)
    except (OSError, subprocess.SubprocessError):
        fresh.unlink(missing_ok=True)
        return None
    return path


if __name__ == "__main__":
    sys.exit(0 if build() is not None else "no C compiler could build the kernel")
