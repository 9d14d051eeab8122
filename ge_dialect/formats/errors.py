"""The root of this project's typed errors."""

from __future__ import annotations


class GeError(Exception):
    """An error that a user caused or can mend; the tools print it as one line and exit with 1.

    `location` is text in MLIR's form without the trailing colon, such as `net.mlir:4:3`, `net.onnx` or
    `net.onnx: node "conv1"`; None when the place is not known.
    """

    def __init__(self, message: str, location: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.location = location

    def __str__(self) -> str:
        return self.message if self.location is None else f"{self.location}: {self.message}"

    def render(self, file: str = "<unknown>") -> str:
        """One line in the form `place: error: message`; `file` stands in when no place is known."""
        return f"{one_line(self.location or file)}: error: {one_line(self.message)}"


LONGEST = 1000
"""Characters of a place or a message that are printed: names in a model may be of any length."""


def one_line(text: str) -> str:
    """`text` on one line: white space is a single space, what a terminal would obey is escaped, the middle of a text
    of more than `LONGEST` characters is left out."""
    text = " ".join(text.split())
    if not text.isprintable():
        text = "".join(x if x.isprintable() else ascii(x)[1:-1] for x in text)
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return text
