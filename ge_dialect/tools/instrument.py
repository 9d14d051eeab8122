"""What ge-opt does between passes: verify, print, time."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.printing import GeMLIRTarget
from ge_dialect.transforms.verify.ge_verify import verify_module

VERIFY = "(verify)"
Semantics: TypeAlias = Literal["error", "remark", "off"]


@dataclass
class PassInstrument:
    """The callback of a pass pipeline: called before the first pass, between passes and after the last.

    `verify`: before the first pass and behind the last, with `verify_each` behind each, which takes longer than the
    passes do. A pass may rely on what the one before it guarantees, so a fault in between can show as another one.
    `semantics` says what a node whose types do not fit its operator is: an error, a remark, or not looked at.
    `print_after` holds the names of the passes after which the IR goes to standard error; None means every pass.
    `timings` gets `(what, seconds)` in the order of execution.
    """

    ctx: Context
    target: GeMLIRTarget
    verify: bool = True
    verify_each: bool = False
    semantics: Semantics = "error"
    print_after: frozenset[str] | None = frozenset()
    timings: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    _start: float = 0.0
    _since: list[str] = field(default_factory=list[str])

    def __call__(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        if previous is not None:
            self.timings.append((previous.name, perf_counter() - self._start))
            if self.print_after is None or previous.name in self.print_after:
                print(f"// -----// IR after {previous.name} //----- //", file=sys.stderr)
                self.target.emit(self.ctx, module, sys.stderr)
        if previous is not None:
            self._since.append(previous.name)
        if self.verify and (self.verify_each or previous is None or following is None):
            self._start = perf_counter()
            verify_located(module, self.semantics, self._suspects())
            self._since.clear()
            self.timings.append((VERIFY, perf_counter() - self._start))
        self._start = perf_counter()

    def _suspects(self) -> str | None:
        """Who can have broken what is found now: the passes since the last verification."""
        if len(self._since) < 2:
            return f"pass {self._since[0]}" if self._since else None
        return f"{len(self._since)} passes; --verify-each says which"

    @contextmanager
    def timed(self, what: str) -> Generator[None]:
        """Records the time of the body under `what`."""
        start = perf_counter()
        yield
        self.timings.append((what, perf_counter() - start))

    def report(self) -> str:
        """The times so far as a table, a line a step in order of execution, verification summed up last."""
        passes = [(name, seconds) for name, seconds in self.timings if name != VERIFY]
        passes.append((VERIFY, sum(seconds for name, seconds in self.timings if name == VERIFY)))
        total = sum(seconds for _, seconds in passes)
        lines = [f"{'seconds':>10}  {'share':>6}  step"]
        for name, seconds in passes:
            share = seconds / total if total else 0.0
            lines.append(f"{seconds:10.4f}  {share:6.1%}  {name}")
        lines.append(f"{total:10.4f}  {1:6.1%}  total")
        return "\n".join(lines)


def verify_located(
    module: ModuleOp, semantics: Semantics = "error", after: str | None = None
) -> None:
    """Verify every operation of `module`, then the rules across operations (`ge-verify`).

    Raises GeError with the place of the operation that failed and, if given, after what it did.
    """
    try:
        _verify_operations(module)
        if semantics == "off":
            verify_module(module, "structure")
        else:
            verify_module(module, "semantics", semantics)
    except GeError as error:
        if after is not None:
            error.message += f" (after {after})"
        raise


def _verify_operations(module: ModuleOp) -> None:
    try:
        module.verify()
    except VerifyException as error:
        failed = _first_failing(module)
        place = None if failed is None else location_text(failed)
        raise GeError(str(error), place) from error


def _first_failing(module: ModuleOp) -> Operation | None:
    """The operation whose own verification fails; xDSL's exception does not say which one it was."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException:
            return op
    return None
