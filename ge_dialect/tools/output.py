"""Output files that exist only when they are whole."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole_file(path: str, mode: str = "w") -> Generator[IO[Any]]:
    """Write to a temporary file beside `path` and rename it on success; on an exception `path` stays as it was.

    A link keeps pointing where it did: the file behind it is replaced. Raises OSError naming `path` when its folder
    does not exist or cannot be written.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():  # /dev/null, a pipe: nothing to rename
        with open(path, mode) as stream:
            yield stream
        return
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    try:
        with os.fdopen(handle, mode) as stream:
            yield stream
        os.chmod(temporary, _mode_of(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


@contextmanager
def text_output(path: str | None) -> Generator[IO[str]]:
    """The stream for `-o path`: standard output for None and `-`, otherwise a `whole_file`."""
    if path is None or path == "-":
        yield sys.stdout
        return
    with whole_file(path) as stream:
        yield stream


def _mode_of(target: Path) -> int:
    """Permissions of the file to be replaced, or those that `open` would give a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
