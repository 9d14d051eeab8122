"""Streams, each a queue of tasks, and the order in which the streams of one device take turns."""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from dataclasses import dataclass, field
from enum import Enum, auto

from ge_dialect.runtime.instruction import Instruction


class State(Enum):
    """Where a stream is in the step."""

    IDLE = auto()
    RUNNING = auto()
    BLOCKED = auto()
    DRAINED = auto()


@dataclass(slots=True, eq=False)
class Stream:
    """One queue. `counter` is the position of the head, `time` the end of its last task in simulated microseconds.

    `granted` is the time at which the flag that the head waits for was recorded for this stream.
    """

    id: int
    queue: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[int, int] = field(default_factory=dict[int, int])
    counter: int = 0
    time: float = 0.0
    granted: float | None = None
    state: State = State.IDLE

    def add(self, instruction: Instruction) -> None:
        """Append a task; a label marks its position."""
        if instruction.label is not None:
            self.labels[instruction.label] = len(self.queue)
        self.queue.append(instruction)

    def reset(self) -> None:
        """Back to the state before a step."""
        self.counter, self.time, self.granted, self.state = 0, 0.0, None, State.IDLE

    def start(self, time: float) -> None:
        """Begin with the first task at `time`."""
        self.counter = 0
        self.time = max(self.time, time)
        self.granted = None
        self.state = State.RUNNING if self.queue else State.DRAINED


class Turns:
    """Which of the runnable streams is next: round robin by ascending id, or drawn at random (choice E1)."""

    def __init__(self, rng: random.Random | None) -> None:
        self._rng = rng
        self._ready: list[int] = []
        self._last = -1

    def add(self, stream: int) -> None:
        """The stream can run a task."""
        insort(self._ready, stream)

    def next(self) -> int | None:
        """The stream whose turn it is, None when no stream can run."""
        ready = self._ready
        if not ready:
            return None
        if self._rng is not None:
            return ready[self._rng.randrange(len(ready))]
        index = bisect_right(ready, self._last)
        self._last = ready[index if index < len(ready) else 0]
        return self._last

    def remove(self, stream: int) -> None:
        """The stream is blocked or has drained."""
        index = bisect_right(self._ready, stream) - 1
        assert self._ready[index] == stream
        del self._ready[index]
