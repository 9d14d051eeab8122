"""Errors of stream assignment, with the codes by which GE's users know them (spec/streams.md section 13)."""

from __future__ import annotations

from typing import Literal

from ge_dialect.formats.errors import GeError

Status = Literal["FAILED", "PARAM_INVALID", "INTERNAL_ERROR"]


class StreamError(GeError):
    """Streams cannot be assigned. `code` is GE's error code, None for conditions that have none; `status` what GE's
    allocator returns."""

    def __init__(
        self,
        message: str,
        location: str | None = None,
        *,
        code: str | None = None,
        status: Status = "FAILED",
    ) -> None:
        super().__init__(message, location)
        self.code = code
        self.status: Status = status


def bad_option(option: str, value: str, reason: str) -> StreamError:
    """The error about the value of an option (E10001)."""
    return StreamError(
        f"option {option} cannot be '{value}': {reason}", code="E10001", status="PARAM_INVALID"
    )
