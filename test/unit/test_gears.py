"""Gears: one static program for each shape, the inputs choose."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from ge_dialect.formats.errors import GeError
from ge_dialect.gears import GearedExecutable, parse_gears
from ge_dialect.program import compile
from ge_dialect.runtime import FeedError, load

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
add (float[batch, seq, 4] x) => (float[batch, seq, 4] y) { y = Add(x, x) }
"""


def geared(gears: str, **dims: int) -> GearedExecutable:
    settings = parse_gears(gears)
    model = onnx.parser.parse_model(MODEL)
    return GearedExecutable(
        settings, [load(compile(model, dims={**dims, **gear}).module) for gear in settings]
    )


@pytest.mark.parametrize(
    ("text", "gears"),
    [
        ("batch=1,2,4,8", [{"batch": n} for n in (1, 2, 4, 8)]),
        ("batch=1,seq=8;batch=2,seq=16", [{"batch": 1, "seq": 8}, {"batch": 2, "seq": 16}]),
        ("batch=1,seq=8", [{"batch": 1, "seq": 8}]),
        ("batch=1; batch=2", [{"batch": 1}, {"batch": 2}]),
        ("x:0=3", [{"x:0": 3}]),
    ],
)
def test_text(text: str, gears: list[dict[str, int]]) -> None:
    assert parse_gears(text) == gears


@pytest.mark.parametrize(
    "text", ["", "batch", "batch=", "batch=a", "batch=1,1", "=1", "a=1;", "a=1,b"]
)
def test_text_that_is_no_gears(text: str) -> None:
    with pytest.raises(GeError, match="gears are different"):
        parse_gears(text)


def test_gears_of_different_dimensions() -> None:
    with pytest.raises(GeError, match="do not all set the same dimensions"):
        parse_gears("batch=1,seq=2;batch=2")


def test_the_inputs_choose() -> None:
    program = geared("batch=1,2,4", seq=3)
    assert program.inputs[0].shape == (-1, 3, 4)
    for batch in (4, 1, 2):
        x = np.full((batch, 3, 4), batch, np.float32)
        result = program.run({"x": x})
        np.testing.assert_array_equal(result["y"], 2 * x)
        assert result.report.launches == 1  # a task list: nothing is scheduled by the host
        assert program.choose([x]) == (1, 2, 4).index(batch)


def test_inputs_that_no_gear_takes() -> None:
    program = geared("batch=1,seq=2;batch=2,seq=5")
    with pytest.raises(
        FeedError, match=r"no gear takes the inputs 'x' \[2, 2, 4\]; there are batch=1,seq=2"
    ):
        program.run({"x": np.zeros((2, 2, 4), np.float32)})


def test_gears_that_nothing_tells_apart() -> None:
    model = onnx.parser.parse_model(MODEL)
    programs = [load(compile(model, dims={"batch": 1, "seq": 1}).module) for _ in range(2)]
    with pytest.raises(GeError, match="take equal inputs"):
        GearedExecutable([{"a": 1}, {"a": 2}], programs)
