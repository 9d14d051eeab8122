"""From an exception to the one line that a user sees; every tool catches `USER_ERRORS` and nothing else.

Anything outside `USER_ERRORS` is a defect of this project and keeps its traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError

from ge_dialect.formats.errors import GeError, one_line

USER_ERRORS = (GeError, ParseError, DiagnosticException, ArgSpecParseError, OSError)


def error_line(error: BaseException, file: str) -> str:
    """`place: error: message` on one line; `file` is the place of errors that do not know theirs."""
    match error:
        case GeError():
            return error.render(file)
        case ParseError():
            return f"{error.span.get_location()}: error: {one_line(error.msg)}"
        case ArgSpecParseError():
            return _spec_error_line(str(error))
        case OSError():
            place = file if error.filename is None else os.fsdecode(error.filename) or "''"
            return f"{one_line(place)}: error: {one_line(error.strerror or str(error))}"
        case _:
            return f"{file}: error: {one_line(str(error))}"


def run_tool(body: Callable[[], None], file: str) -> int:
    """Run `body` and return the exit code: 0, or 1 after one line on standard error for a user's error.

    A reader that closes the pipe early (`ge-opt ... | head`) ends the tool quietly with 1. A standard stream that was
    closed from the start (`ge-opt ... >&-`) is an empty one.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))
    try:
        body()
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes standard output once more at exit: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except USER_ERRORS as error:
        print(error_line(error, file), file=sys.stderr)
        return 1
    except MemoryError as error:
        print(
            f"{one_line(file)}: error: not enough memory. {one_line(str(error))}", file=sys.stderr
        )
        return 1
    except RecursionError:
        # Graphs have a bound of their own (ge-verify); this is text: regions in regions, attributes in attributes.
        print(f"{one_line(file)}: error: nested too deeply", file=sys.stderr)
        return 1
    return 0


@contextmanager
def placed_in(file: str) -> Generator[None]:
    """Gives errors of the body that know no place the place `file`; xDSL's become a GeError."""
    try:
        yield
    except GeError as error:
        error.location = error.location or file
        raise
    except DiagnosticException as error:
        raise GeError(str(error), file) from error


def _spec_error_line(text: str) -> str:
    """xDSL's text is a heading, the place, the pipeline, carets and the message, a line each."""
    lines = [line.strip() for line in text.strip().splitlines()]
    if len(lines) <= 2:
        return f"ge-opt: error: {one_line(text)}"
    message = lines[-1]
    if message == "Unknown token":
        message = (
            "unexpected character; a value with others than letters, digits, - and _ "
            'stands in double quotes, as in mode="LoadBalance:4"'
        )
    return f"{lines[1]}: error: {message}"
