"""Writing slices of a tensor."""

from __future__ import annotations

import numpy as np
import pytest

from ge_dialect.kernels import KernelInputError, OpSpec, bind, evaluate

SPEC = OpSpec("ScatterUpdate", {}, 1)
VAR = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_one_slice() -> None:
    (found,) = evaluate(SPEC, [VAR, np.array(2), np.array([7, 8, 9], np.float32)])
    wanted = VAR.copy()
    wanted[2] = [7, 8, 9]
    assert found.tolist() == wanted.tolist()
    assert VAR[2].tolist() == [6, 7, 8]


def test_slices_in_any_order() -> None:
    updates = np.array([[1, 1, 1], [2, 2, 2]], np.float32)
    (found,) = evaluate(SPEC, [VAR, np.array([3, 0]), updates])
    assert found.tolist() == [[2, 2, 2], [3, 4, 5], [6, 7, 8], [1, 1, 1]]


def test_in_place_touches_the_slice_alone() -> None:
    memory, index, slice_ = VAR.copy(), np.array(0), np.zeros(3, np.float32)
    run = bind(SPEC, [memory, index, slice_], [memory])
    for number in range(4):
        index[...] = number
        slice_[...] = number
        run()
    assert memory.tolist() == [[k] * 3 for k in range(4)]


def test_elsewhere_all_is_copied() -> None:
    out = np.zeros_like(VAR)
    bind(SPEC, [VAR, np.array(1), np.zeros(3, np.float32)], [out])()
    assert out.tolist() == [[0, 1, 2], [0, 0, 0], [6, 7, 8], [9, 10, 11]]


@pytest.mark.parametrize("index", [np.array(4), np.array(-1), np.array([0, 9])])
def test_a_slice_that_is_not_there(index: np.ndarray) -> None:
    updates = np.zeros((*index.shape, 3), np.float32)
    with pytest.raises(KernelInputError, match="slice"):
        evaluate(SPEC, [VAR, index, updates])


def test_updates_of_another_shape() -> None:
    with pytest.raises(KernelInputError, match=r"updates \[2\] for \[3\]"):
        evaluate(SPEC, [VAR, np.array(0), np.zeros(2, np.float32)])
