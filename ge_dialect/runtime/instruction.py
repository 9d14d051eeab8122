"""Tasks in the form in which the emulator runs them: decoded once, when the program is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

from ge_dialect.dialects.ge_task import TaskKind
from ge_dialect.runtime.compute import Thunk
from ge_dialect.runtime.memory import Extent

if TYPE_CHECKING:
    from ge_dialect.runtime.collectives import Collective

Flag: TypeAlias = tuple[str, int]
"""What streams wait for: ("event", 3), ("notify", 0), ("word", 7)."""


class Action(Enum):
    """What a task does to the device."""

    COMPUTE = auto()
    NOTHING = auto()
    RECORD = auto()
    WAIT = auto()
    RESET = auto()
    ACTIVATE = auto()
    SWITCH = auto()
    GOTO = auto()
    END = auto()
    EXIT = auto()
    COLLECTIVE = auto()


@dataclass(slots=True, eq=False)
class Instruction:
    """One task.

    `run` computes (COMPUTE); `flag` is recorded, waited for or reset; `target` is the stream that ACTIVATE and SWITCH
    start or the label that GOTO jumps to, unless `choose` picks it from memory: None is no stream.
    `reads` and `writes` are the bytes that it touches, `duration` simulated microseconds.
    """

    index: int
    name: str
    type: str
    kind: TaskKind
    action: Action
    stream: int
    duration: float = 0.0
    run: Thunk | None = None
    flag: Flag | None = None
    target: int | None = None
    choose: Callable[[], int | None] | None = None
    label: int | None = None
    collective: Collective | None = None
    opaque: bool = False
    reads: tuple[Extent, ...] = ()
    writes: tuple[Extent, ...] = ()

    def __str__(self) -> str:
        named = f' "{self.name}"' if self.name else ""
        kind = f"{self.kind.op} {self.type}" if self.type else self.kind.op
        return f"task {self.index}{named} ({kind})"

    def awaited(self) -> str:
        """What it waits for, in words."""
        if self.flag is not None:
            return f"{self.flag[0]} {self.flag[1]}"
        if self.collective is not None:
            return f"the other ranks of group '{self.collective.group}'"
        return "nothing"
