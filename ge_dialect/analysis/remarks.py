"""Remarks: what a pass did, did not do or found out, candidate by candidate.

A pass calls `emit_remark`; whoever wants to hear binds a collector with `collect_remarks`. Without a collector a
remark costs one look-up and is dropped, so passes may emit them in any tool. The collector is bound to a context
variable, not to the (frozen) pass and not to the module: two threads or two runs never mix.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import Operation

from ge_dialect.dialects.location import location_text

RemarkKind = Literal["passed", "missed", "analysis"]
RemarkValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Remark:
    """One statement of a pass about one operation.

    `kind` is LLVM's word: `passed` (done), `missed` (not done; the message names the first condition that failed, in
    the words of the spec) or `analysis` (a fact). `location` is `file:line:col` or a node name, None when unknown.
    `args` are the values behind the message, for programs.
    """

    pass_name: str
    kind: RemarkKind
    location: str | None
    message: str
    args: Mapping[str, RemarkValue] = field(default_factory=dict[str, RemarkValue])

    def render(self, file: str = "<unknown>") -> str:
        """One line in MLIR's form: `net.mlir:4:3: remark: [ge-x] missed: message`."""
        text = " ".join(self.message.split())
        return f"{self.location or file}: remark: [{self.pass_name}] {self.kind}: {text}"

    def to_json(self) -> str:
        """One line of JSON with the keys pass, kind, location, message, args."""
        return json.dumps(
            {
                "pass": self.pass_name,
                "kind": self.kind,
                "location": self.location,
                "message": self.message,
                "args": dict(self.args),
            }
        )


@dataclass
class RemarkCollector:
    """The remarks of one run, in the order in which they were made."""

    remarks: list[Remark] = field(default_factory=list[Remark])


_COLLECTOR: ContextVar[RemarkCollector | None] = ContextVar("ge_remark_collector", default=None)


@contextmanager
def collect_remarks(collector: RemarkCollector | None = None) -> Generator[RemarkCollector]:
    """Bind `collector` (a new one by default) for the body of the `with` statement."""
    bound = RemarkCollector() if collector is None else collector
    token = _COLLECTOR.set(bound)
    try:
        yield bound
    finally:
        _COLLECTOR.reset(token)


def remarks_wanted() -> bool:
    """Whether anybody listens: ask before working out a message that costs something."""
    return _COLLECTOR.get() is not None


def emit_remark(
    op: Operation, pass_name: str, kind: RemarkKind, message: str, **args: RemarkValue
) -> None:
    """Make a remark about `op`; does nothing when no collector is bound.

    In a pass:
    `emit_remark(op, self.name, "missed", "input 1 is not 32-byte aligned", condition="alignment", input=1)`.
    """
    if (collector := _COLLECTOR.get()) is not None:
        collector.remarks.append(Remark(pass_name, kind, location_text(op), message, args))
