"""Output files that exist only when they are whole."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ge_dialect.formats.errors import GeError


def check_targets(
    read: Mapping[str, str | None], written: Mapping[str, str | None], tool: str
) -> None:
    """Raise GeError when a file of `written` is one of `read` or is written twice.

    Keys are what the user calls the files; None and `-` are no files, and devices may be named more than once.
    """
    seen: dict[Path, str] = {}
    for group, is_written in ((read, False), (written, True)):
        for told, path in group.items():
            if not path or path == "-":
                continue
            place = _resolved(path)
            if place.exists() and not place.is_file():
                continue
            if is_written and place in seen:
                raise GeError(f"{seen[place]} and {told} are the same file", tool)
            seen.setdefault(place, told)


def _resolved(path: str) -> Path:
    """The file behind all links. Raises GeError for links in a circle and for what no path can be."""
    try:
        return Path(path).resolve()
    except (RuntimeError, ValueError) as error:
        raise GeError(f"no path of a file: {error}", path) from error


@contextmanager
def whole_file(path: str, mode: str = "w") -> Generator[IO[Any]]:
    """Write to a temporary file beside `path` and rename it on success; on an exception `path` stays as it was.

    A link keeps pointing where it did: the file behind it is replaced. Raises OSError naming `path` when its folder
    does not exist or cannot be written.
    """
    target = _resolved(path)
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
