"""Inputs that onnx's own classes would take wrongly, on run-time values."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from ge_dialect.formats.errors import GeError
from ge_dialect.program import compile

SPLIT = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[N, 3] x, int64[K] lengths) => (float[P, Q] y) {
  zero = Constant<value = int64 {0}>()
  parts = SplitToSequence<axis = 0>(x, lengths)
  y = SequenceAt(parts, zero)
}
"""

BOXES = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1, N, 4] boxes, float[1, C, N] scores, int64 most, float overlap, float least) => (int64[P, 3] y) {
  y = NonMaxSuppression(boxes, scores, most, overlap, least)
}
"""


def test_lengths_that_divide_the_axis() -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    program = compile(onnx.parser.parse_model(SPLIT))
    y = program.run({"x": x, "lengths": np.array([1, 0, 3])}).outputs["y"]
    np.testing.assert_array_equal(y, x[:1])
    for lengths in ([1, 1], [-1, 5], [5], []):
        with pytest.raises(GeError, match="are no division of the 4 elements of axis 0"):
            program.run({"x": x, "lengths": np.array(lengths, np.int64)})


@pytest.mark.parametrize(
    ("most", "least", "count"), [(3, 0.5, 2), (1, 0.5, 1), (3, 99, 0), (-1, 0.5, 0)]
)
def test_limits_of_boxes_are_scalars(most: int, least: float, count: int) -> None:
    boxes = np.array([[[0, 0, 1, 1], [5, 5, 6, 6], [0, 0, 1, 1]]], np.float32)
    program = compile(onnx.parser.parse_model(BOXES))
    feeds = {
        "boxes": boxes,
        "scores": np.array([[[1, 2, 3]]], np.float32),
        "most": np.array(most),
        "overlap": np.array(0.5, np.float32),
        "least": np.array(least, np.float32),
    }
    found = program.run(feeds).outputs["y"]
    np.testing.assert_array_equal(found, [[0, 0, 2], [0, 0, 1]][:count] or np.zeros((0, 3)))


@pytest.mark.parametrize(
    ("operands", "wanted"),
    [
        ("boxes, scores", []),
        ("boxes, scores, most", [[0, 0, 2], [0, 0, 1]]),
        ('boxes, scores, most, "", least', [[0, 0, 2]]),
        ('boxes, scores, "", overlap', []),
    ],
)
def test_boxes_without_all_limits(operands: str, wanted: list[list[int]]) -> None:
    """Without a number of boxes there are none, without an overlap none may overlap, without a score all count."""
    text = BOXES.replace("boxes, scores, most, overlap, least)\n", f"{operands})\n")
    program = compile(onnx.parser.parse_model(text))
    feeds = {
        "boxes": np.array([[[0, 0, 1, 1], [5, 5, 6, 6], [0, 0, 1, 1]]], np.float32),
        "scores": np.array([[[1, 2, 3]]], np.float32),
        "most": np.array(3),
        "overlap": np.array(0.5, np.float32),
        "least": np.array(2.5, np.float32),
    }
    found = program.run(feeds).outputs["y"]
    np.testing.assert_array_equal(found, wanted or np.zeros((0, 3)))
