"""Decisions that tasks take from memory: which stream a switch starts, which label a jump by table goes to."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ge_dialect.kernels import Array
from ge_dialect.runtime.errors import LoadError, TaskError

Choice: TypeAlias = Callable[[], int | None]

COMPARE: tuple[Callable[[Any, Any], Any], ...] = (
    operator.eq, operator.ne, operator.gt, operator.ge, operator.lt, operator.le,
)  # fmt: skip
"""What the numbers of `stream_switch`'s condition do."""

SWITCH_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
"""What the numbers of `data_type` mean."""


def single(view: Array | None, size: int, what: str) -> Array:
    """The elements of an operand, of which there must be `size` (LoadError)."""
    if view is None or view.size != size:
        found = "nothing" if view is None else f"{view.size} elements"
        raise LoadError(f"{what} takes {size} elements, its operand holds {found}")
    return view.reshape(-1)


def stream_switch(
    left: Array, right: Array, condition: int, wanted: np.dtype, stream: int
) -> Choice:
    """Compares two numbers as `wanted`; `stream` when the condition holds, else None."""
    compare = COMPARE[condition]

    def choose() -> int | None:
        holds = compare(left[0].astype(wanted), right[0].astype(wanted))
        return stream if holds else None

    return choose


def stream_switch_n(
    row: Array, targets: np.ndarray, streams: Sequence[int], ignore: bool, task: str
) -> Choice:
    """The stream of the first row of `targets` that equals `row`; without one, None or TaskError (choice E4)."""

    def choose() -> int | None:
        equal = np.flatnonzero((targets == row.astype(targets.dtype)).all(axis=1))
        if equal.size:
            return streams[int(equal[0])]
        if ignore:
            return None
        raise TaskError(f"{task}: no row equals {row.tolist()}")

    return choose


def label_switch(index: Array, labels: Sequence[int], clamp: bool, task: str) -> Choice:
    """The label at the index in memory; outside the list the last one or TaskError (choice E5)."""

    def choose() -> int | None:
        found = int(index[0])
        if 0 <= found < len(labels):
            return labels[found]
        if clamp:
            return labels[-1]
        raise TaskError(f"{task}: index {found} is out of range, there are {len(labels)} labels")

    return choose
