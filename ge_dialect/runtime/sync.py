"""Flags that order streams: events, notifies, memory words; and who waits for them.

A wait that is satisfied resets its flag. When a flag is recorded while streams wait, the waiting stream with the
lowest id has it at once and the others go on waiting (choice E10).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from ge_dialect.runtime.instruction import Flag


class Flags:
    """The flags of one device. Times are simulated microseconds, of the record that set the flag."""

    def __init__(self) -> None:
        self._recorded: dict[Flag, float] = {}
        self._waiting: dict[Flag, list[int]] = {}

    def begin(self, external: Iterable[int]) -> None:
        """Nothing is recorded but the `external` notifies, nobody waits (choices E12, E13)."""
        self._recorded = {("notify", number): 0.0 for number in external}
        self._waiting = {}

    def record(self, flag: Flag, time: float) -> tuple[bool, int | None]:
        """Set the flag: whether it was set already, and the stream whose wait is satisfied by it."""
        waiting = self._waiting.get(flag)
        if waiting:
            stream = waiting.pop(0)
            return False, stream
        if flag in self._recorded:
            return True, None
        self._recorded[flag] = time
        return False, None

    def take(self, flag: Flag) -> float | None:
        """The time at which the flag was recorded, which resets it; None when it is not recorded."""
        return self._recorded.pop(flag, None)

    def wait(self, flag: Flag, stream: int) -> None:
        """The stream waits for the flag."""
        insort(self._waiting.setdefault(flag, []), stream)

    def left(self) -> list[Flag]:
        """What is still recorded, in order."""
        return sorted(self._recorded)
