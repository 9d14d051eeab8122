"""Names: unique node names, symbols of graphs, names of SSA values."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_$.\-]+")


def value_name(name: str) -> str | None:
    """The nearest name that an SSA value may have; None when nothing remains."""
    name = _NOT_IN_NAME.sub("_", name).lstrip("_-.")
    if not name or name.isdecimal():
        return None
    return f"_{name}" if name[0].isdigit() else name


def symbol_name(name: str, default: str) -> str:
    """The nearest name that a graph's symbol may have unquoted."""
    return _NOT_IN_NAME.sub("_", name).replace("-", "_").strip("_.") or default


class Names:
    """Hands out names that do not occur twice: `name`, `name_1`, `name_2`, ...

    Names in `reserved` are never handed out for something that has no name of its own.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._used: set[str] = set()
        self._reserved = set(reserved)
        self._next: dict[str, int] = {}

    def given(self, name: str) -> str:
        """The name itself when it is still free, else with the first free number."""
        if name not in self._used:
            self._used.add(name)
            return name
        return self._numbered(name, 1)

    def made(self, kind: str) -> str:
        """A name for what has none: `kind_0`, `kind_1`, ..."""
        return self._numbered(kind, 0)

    def _numbered(self, name: str, start: int) -> str:
        number = self._next.get(name, start)
        while (made := f"{name}_{number}") in self._used or made in self._reserved:
            number += 1
        self._next[name] = number + 1
        self._used.add(made)
        return made
