"""What a check found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import node_name
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError


class VerifyError(GeError):
    """A module breaks a rule of the dialect, or of an operator in it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule, at one operation."""

    op: Operation
    message: str

    def text(self) -> str:
        """The message, with the node's name in front unless the location is the name already."""
        name = node_name(self.op)
        place = location_text(self.op)
        if not name or (place is not None and 'node "' in place):
            return self.message
        return f'"{name}": {self.message}'

    def error(self) -> VerifyError:
        """The finding as an error with the operation's location."""
        return VerifyError(self.text(), location_text(self.op))


Findings: TypeAlias = Iterator[Finding]
