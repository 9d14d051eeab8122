from __future__ import annotations

import pytest
from xdsl.parser import Input, Span
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, ParseError, VerifyException

from ge_dialect.formats.errors import GeError
from ge_dialect.tools.diagnostics import error_line, placed_in, run_tool


def _spec_error() -> ArgSpecParseError:
    try:
        parse_spec("a{b=")
    except ArgSpecParseError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (GeError("no\n way"), "in: error: no way"),
        (GeError("no way", "net.onnx"), "net.onnx: error: no way"),
        (ParseError(Span(2, 3, Input("a\nb", "f.mlir")), "bad"), "f.mlir:2:1: error: bad"),
        (VerifyException("bad"), "in: error: bad"),
        (
            FileNotFoundError(2, "No such file or directory", "x"),
            "x: error: No such file or directory",
        ),
        (OSError(28, "No space left on device"), "in: error: No space left on device"),
    ],
)
def test_error_line(error: BaseException, line: str) -> None:
    assert error_line(error, "in") == line


def test_pipeline_errors_point_into_the_pipeline() -> None:
    assert error_line(_spec_error(), "in").startswith("pass-pipeline:1:5: error: ")


def test_run_tool(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise GeError("no way")

    assert run_tool(lambda: None, "in") == 0
    assert run_tool(fail, "in") == 1
    assert capsys.readouterr().err == "in: error: no way\n"


def test_defects_pass_through() -> None:
    def fail() -> None:
        raise RuntimeError("defect")

    with pytest.raises(RuntimeError, match="defect"):
        run_tool(fail, "in")


def test_placed_in() -> None:
    with pytest.raises(GeError) as caught, placed_in("in.mlir"):
        raise GeError("no way")
    assert caught.value.location == "in.mlir"
    with pytest.raises(GeError) as caught, placed_in("in.mlir"):
        raise GeError("no way", "elsewhere")
    assert caught.value.location == "elsewhere"
    with pytest.raises(GeError) as caught, placed_in("in.mlir"):
        raise VerifyException("bad")
    assert str(caught.value) == "in.mlir: bad"
