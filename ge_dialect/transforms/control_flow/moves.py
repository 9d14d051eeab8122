"""The order of copies that happen at once: the values that a loop carries into its next turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

V = TypeVar("V")


def in_parallel(
    sources: Sequence[int | None],
    values: Sequence[V],
    move: Callable[[int, V], None],
    save: Callable[[V], V],
) -> None:
    """Call `move(k, value)` for every k such that nobody reads place k after it was moved to.

    `sources[k]`: the place whose bytes `values[k]` is, None when it is none of the places. A value that is in its place
    already is not moved. Where values go round in a ring, one of them is put aside by `save`. Linear.
    """
    values = list(values)
    waiting = {k for k, source in enumerate(sources) if source != k}
    readers = [0] * len(values)
    reads: list[int | None] = [None] * len(values)
    for k in waiting:
        if (source := sources[k]) is not None:
            readers[source] += 1
            reads[k] = source
    # A place that keeps its value and is read by others needs no move itself, so nothing waits for its readers.
    ready = [k for k in range(len(values)) if k in waiting and not readers[k]]
    rest = [k for k in range(len(values)) if k in waiting]
    at = 0
    while waiting:
        while ready:
            k = ready.pop()
            waiting.discard(k)
            move(k, values[k])
            if (source := reads[k]) is not None:
                readers[source] -= 1
                if not readers[source] and source in waiting:
                    ready.append(source)
        while at < len(rest) and rest[at] not in waiting:
            at += 1
        if at < len(rest):
            # Only rings are left, each place read exactly once: put aside the value that this one gets.
            k = rest[at]
            values[k] = save(values[k])
            source, reads[k] = reads[k], None
            assert source is not None
            readers[source] -= 1
            if not readers[source]:
                ready.append(source)
