"""Gears: one static program for each shape, the inputs choose."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from ge_dialect.formats.errors import GeError
from ge_dialect.gears import GearedExecutable, parse_gears, sizes_among
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
    "text",
    ["", "batch", "batch=", "batch=a", "batch=1,1", "=1", "a=1;", "a=1,b", "a=1,a=2", "a=\u00b2"],
)
def test_text_that_is_no_gears(text: str) -> None:
    with pytest.raises(GeError, match="gears are different"):
        parse_gears(text)


def test_gears_of_different_dimensions() -> None:
    with pytest.raises(GeError, match="do not all set the same dimensions"):
        parse_gears("batch=1,seq=2;batch=2")


@pytest.mark.parametrize("value", ["9223372036854775808", "1" * 30])
def test_a_dimension_that_is_too_large(value: str) -> None:
    with pytest.raises(GeError, match=f"cannot be {value}"):
        parse_gears(f"batch={value}")


def test_sizes_of_a_gear() -> None:
    gears = parse_gears("batch=1,seq=8;batch=1,seq=16;batch=2,seq=16")
    assert sizes_among(gears, {"seq": 16}) == {"seq": 16}  # two gears: the batch is still open
    assert sizes_among(gears, {"seq": 16, "batch": 1, "other": 3}) == {"seq": 16, "batch": 1}
    assert sizes_among(gears, {"batch": 2}) == {"batch": 2, "seq": 16}  # one gear says the rest
    assert sizes_among(gears[:2], {"batch": 1, "seq": 8}) == {"seq": 8}  # equal in all: not open
    assert sizes_among(gears[:1], {"batch": 1}) == {}
    for wanted in ({"batch": 7}, {"batch": 2, "seq": 8}):
        with pytest.raises(GeError, match=r"no gear has batch=.*; there are batch=1,seq=8, "):
            sizes_among(gears, wanted)


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
