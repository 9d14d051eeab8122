"""What a step accepts as inputs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ge_dialect.runtime import FeedError, TensorSlot
from ge_dialect.runtime.feeds import order_feeds

SLOTS = [
    TensorSlot("x", np.dtype(np.float32), (2, -1)),
    TensorSlot("n", np.dtype(np.int64), ()),
]
X = np.zeros((2, 3), np.float32)
N = np.array(1)


def test_by_name_and_in_order() -> None:
    for feeds in ({"n": N, "x": X}, [X, N], (X, N)):
        ordered = order_feeds(SLOTS, feeds)
        assert [value.shape for value in ordered] == [(2, 3), ()]


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        (
            {"x": X, "m": N},
            "there is no input 'm'; the program takes 'x' float32 [2, ?], 'n' int64 []",
        ),
        ({"x": X}, "input 'n' is missing; the program takes 'x' float32 [2, ?], 'n' int64 []"),
        ([X], "1 inputs are given; the program takes 'x' float32 [2, ?], 'n' int64 []"),
        ([X, N.astype(np.int32)], "input 'n' has the element type int32, it should be int64"),
        ([X[:1], N], "input 'x' has the shape [1, 3], it should be [2, ?]"),
        ([X[0], N], "input 'x' has the shape [3], it should be [2, ?]"),
        ([[X], N], "input 'x' is a list, not an array"),
    ],
)
def test_refusals(feeds: Any, message: str) -> None:
    with pytest.raises(FeedError) as caught:
        order_feeds(SLOTS, feeds)
    assert caught.value.message == message


def test_plain_bytes_stand_for_types_that_numpy_files_lack() -> None:
    values = np.array([1, 2], ml_dtypes.bfloat16)
    slot = TensorSlot("b", values.dtype, (2,))
    (found,) = order_feeds([slot], [values.view("V2")])
    np.testing.assert_array_equal(found, values)


def test_strings() -> None:
    slot = TensorSlot("s", np.dtype(object), (2,))
    (found,) = order_feeds([slot], [np.array(["a", "b"])])
    assert found.dtype == object
    assert str(slot) == "'s' string [2]"
