"""Element counts and what is small (spec/host_execution.md sections 3 and 5)."""

from __future__ import annotations

import pytest

from ge_dialect.transforms.host.sizes import element_count, input_small, output_small


@pytest.mark.parametrize(
    ("dims", "count"),
    [
        ((), 0),
        ((1,), 1),
        ((2, 3), 6),
        ((2, 0, -1), 0),
        ((2, -1, 0), -1),
        ((-1,), -1),
        (None, -1),
        ((1 << 62, 1), 1 << 62),
        ((1 << 62, 2), -1),
        ((1 << 62, 2, 0), -1),
    ],
)
def test_element_count(dims: tuple[int, ...] | None, count: int) -> None:
    assert element_count(dims) == count


def test_inputs_must_be_known() -> None:
    assert input_small(())
    assert input_small((8,))
    assert not input_small((9,))
    assert not input_small((-1,))
    assert not input_small(None)
    assert input_small((9,), limit=9)


@pytest.mark.parametrize(
    ("dims", "upper", "small"),
    [
        ((8,), (), True),
        ((9,), (), False),
        ((-1,), (), True),
        ((-1,), (1000,), True),  # a vector of unknown length: whatever its range says
        ((-1, 2), (), False),
        ((-1, 2), (4, 2), True),
        ((-1, 2), (5, 2), False),
        ((-1, 2), (-1, 2), False),
        (None, (), False),
        (None, (2, 4), True),
        ((-1, -1), (1 << 62, 1 << 62), False),  # a slip of GE's code says True
    ],
)
def test_outputs(dims: tuple[int, ...] | None, upper: tuple[int, ...], small: bool) -> None:
    assert output_small(dims, upper) is small
