"""Reads of bytes that nothing has written, found while the program runs (choice E16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ge_dialect.runtime.errors import TaskError
from ge_dialect.runtime.instruction import Instruction
from ge_dialect.runtime.memory import Bytes, Extent


def trapped(
    instructions: Sequence[Instruction], arenas: Mapping[str, int], known: Sequence[Extent]
) -> None:
    """Wrap every task that computes: it raises TaskError when it reads bytes that neither a task nor `known` wrote.

    Workspaces count as written by their task. What one step wrote counts as written in the next.
    """
    written = {space: np.zeros(size, np.uint8) for space, size in arenas.items()}
    for extent in known:
        written[extent.space][extent.start : extent.stop] = 1
    for instruction in instructions:
        if instruction.run is not None:
            instruction.run = _checked(instruction, instruction.run, written)


def _checked(
    instruction: Instruction, run: Callable[[], object], written: Mapping[str, Bytes]
) -> Callable[[], object]:
    def checked() -> None:
        for extent in instruction.reads:
            span = written[extent.space][extent.start : extent.stop]
            if not span.all():
                first = extent.start + int(np.argmin(span))
                raise TaskError(
                    f"{instruction}: reads {extent}, of which byte {first} was never written"
                )
        run()
        for extent in instruction.writes:
            written[extent.space][extent.start : extent.stop] = 1

    return checked
