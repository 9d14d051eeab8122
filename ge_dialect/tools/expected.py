"""`expected-error` comments, as mlir-opt's `--verify-diagnostics` reads them.

`// expected-error @+1 {{text}}` says that an error whose message contains `text` must be reported on the next line;
`@-N`, `@above`, `@below` and no `@` (this line) are the other places, `@unknown` an error without a line. A comment is
used up by one diagnostic. `expected-remark` works in the same way, but a remark that nothing expects is no failure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COMMENT = re.compile(
    r"expected-(?P<kind>error|remark)\s*(?:@(?P<place>[+-]\d+|above|below|unknown)\s*)?\{\{(?P<text>.*?)\}\}"
)
_DIAGNOSTIC = re.compile(
    r"(?P<file>.*?)(?::(?P<line>\d+):\d+)?(?:: node \".*\")?: (?P<kind>error|remark): (?P<text>.*)"
)
_NEAR = {None: 0, "above": -1, "below": 1}


@dataclass(frozen=True, slots=True)
class Expectation:
    """One comment: the diagnostic's kind, its line in the file (None: no line) and a part of its message."""

    kind: str
    line: int | None
    text: str


def read_expectations(source: str, line_offset: int = 0) -> list[Expectation]:
    """The comments of `source`, which begins after `line_offset` lines of its file."""
    found: list[Expectation] = []
    for number, line in enumerate(source.split("\n"), start=1 + line_offset):
        for comment in _COMMENT.finditer(line):
            place = comment["place"]
            where = None if place == "unknown" else number + _distance(place)
            found.append(Expectation(comment["kind"], where, comment["text"]))
    return found


def complaints(
    file: str, expectations: Sequence[Expectation], diagnostics: Sequence[str]
) -> list[str]:
    """What does not fit: errors that nothing expects and comments that nothing fulfils, a line each.

    `diagnostics` are lines in the form of `error_line` and `Remark.render`.
    """
    open_expectations = list(expectations)
    lines: list[str] = []
    for diagnostic in diagnostics:
        fitting = next((each for each in open_expectations if _fits(each, diagnostic)), None)
        if fitting is not None:
            open_expectations.remove(fitting)
        elif ": error: " in diagnostic:
            lines.append(diagnostic.replace(": error: ", ": error: unexpected error: ", 1))
    for each in open_expectations:
        place = file if each.line is None else f"{file}:{each.line}:1"
        lines.append(f'{place}: error: expected {each.kind} "{each.text}" was not produced')
    return lines


def _distance(place: str | None) -> int:
    return _NEAR[place] if place in _NEAR else int(place or 0)


def _fits(expectation: Expectation, diagnostic: str) -> bool:
    if (parts := _DIAGNOSTIC.fullmatch(diagnostic)) is None:
        return False
    line = None if parts["line"] is None else int(parts["line"])
    return (
        parts["kind"] == expectation.kind
        and line == expectation.line
        and expectation.text in parts["text"]
    )
