"""Why a pass decided as it did about one node: the whole chain of its checks, with the values that they saw.

A pass that decides by a list of named conditions makes a `Step` for each and gives the steps of a candidate to
`explain`. Whoever wants to see the chain of some node binds an `Explanation` with `explaining`; without one `explain`
costs one look-up and works nothing out. As with remarks, nothing of it is kept in the IR.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.analysis.remarks import RemarkValue
from ge_dialect.dialects.ge.access import ge_type, graph_of, node_name
from ge_dialect.dialects.location import location_text

NO_VALUES: Mapping[str, RemarkValue] = {}


@dataclass(frozen=True, slots=True)
class Step:
    """One condition that was looked at.

    `check` is its name in the spec, `holds` whether the node passes it, `text` one line about what was found (for a
    step that fails: what is wrong), `values` the numbers behind it, `input` the data input that it is about.
    """

    check: str
    holds: bool
    text: str
    values: Mapping[str, RemarkValue] = field(default_factory=lambda: NO_VALUES)
    input: int | None = None

    def render(self) -> str:
        """`ok      scalar_input: input 0: origin rank 4`."""
        mark = "ok    " if self.holds else "FAILED"
        about = "" if self.input is None else f"input {self.input}: "
        return f"{mark}  {self.check}: {about}{self.text}"


def first_failure(steps: Iterable[Step]) -> Step | None:
    """The first condition that does not hold; later steps are not worked out."""
    return next((step for step in steps if not step.holds), None)


@dataclass(frozen=True, slots=True)
class Chain:
    """All steps of one pass about one node, in the order of the checks."""

    pass_name: str
    node: str
    type: str
    location: str | None
    steps: tuple[Step, ...]

    @property
    def failure(self) -> Step | None:
        """The condition that decided against the node, None when it passed."""
        return first_failure(self.steps)

    def render(self, file: str = "<unknown>") -> str:
        """A line in the form of a diagnostic, and one line a step."""
        failure = self.failure
        verdict = "passed" if failure is None else f"missed: {failure.check}"
        head = f'{self.location or file}: explain: [{self.pass_name}] "{self.node}" ({self.type}) {verdict}'
        return "\n".join([head, *(f"  {step.render()}" for step in self.steps)])


@dataclass
class Explanation:
    """Collects the chains of the nodes called `node` (a name, or `graph/name`)."""

    node: str
    chains: list[Chain] = field(default_factory=list[Chain])

    def wants(self, op: Operation) -> bool:
        """Whether `op` is asked for."""
        name = node_name(op)
        if name == self.node:
            return True
        return (
            self.node.endswith(f"/{name}") and self.node == f"{graph_of(op).sym_name.data}/{name}"
        )


_EXPLANATION: ContextVar[Explanation | None] = ContextVar("ge_explanation", default=None)


@contextmanager
def explaining(explanation: Explanation) -> Generator[Explanation]:
    """Bind `explanation` for the body of the `with` statement."""
    token = _EXPLANATION.set(explanation)
    try:
        yield explanation
    finally:
        _EXPLANATION.reset(token)


def explain(op: Operation, pass_name: str, steps: Iterable[Step]) -> None:
    """Record all steps when `op` is asked for; else `steps` is not touched, so give a generator."""
    explanation = _EXPLANATION.get()
    if explanation is None or not explanation.wants(op):
        return
    chain = Chain(pass_name, node_name(op), ge_type(op), location_text(op), tuple(steps))
    explanation.chains.append(chain)
