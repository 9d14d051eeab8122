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
        text = " ".join(self.message.split())
        return f"{self.location or file}: error: {text}"
