"""Marks beyond the reference's: what only caution forbids is done where a plan proves it.

The reference refuses a node as soon as some other stage might not cope. Here the checks that protect nothing but the
planner are waived (`Family.waived`), those about one input that has its place already are met by a copy of that input
alone, and what comes of it is put to the test: all distances that the marks ask for must be possible, nobody may write
in place on memory that several results share, and a trial of the stages behind the pass, on a copy of the model, must
give a plan that the checker accepts and that needs no more memory than without the marks. A mark that does not pass
is taken back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from ge_dialect.analysis.explain import Step, explain
from ge_dialect.analysis.known_shape import is_known
from ge_dialect.analysis.memory.clusters import rules
from ge_dialect.analysis.memory.distances import Distances
from ge_dialect.analysis.memory.model import MemoryGraph, Output, memory_graph
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import UNIT, string, string_attr
from ge_dialect.dialects.engine_table import ENGINES, RTS
from ge_dialect.dialects.ge.access import data_operands, ge_type, graph_of, node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.nodes import OpOp
from ge_dialect.transforms.no_task.candidate import Candidate
from ge_dialect.transforms.no_task.trial import Cost, trial

CONFLICT, IN_PLACE = "plan_conflict", "written_in_place"
UNSAFE, COPIES, GROWS = "plan_not_safe", "copies_would_grow", "peak_would_grow"
"""Reason keys of marks that were taken back."""

Excess: TypeAlias = tuple[int, int]
"""Copies, and bytes, that a plan has too many."""

NOTHING: Excess = (0, 0)

MAX_GROUPS, MAX_MEMBERS = 16, 32
"""How many shared memories, and marks of one, are tried alone when the plan got worse."""

_MARKS = (
    "ge.no_task",
    "ge.no_padding_continuous_input",
    "ge.no_padding_continuous_output",
    "ge.output_reuse_input",
    "ge.reuse_input_on_dim_index",
    "ge.proven_run",
)


@dataclass(frozen=True, slots=True)
class Family:
    """What the passes give: the checks of a candidate in order, how to mark it and, last of all, lock its producers.

    `waived` are checks that count as passed; `copied` those that a copy of the one offending input mends; `labels`
    further arguments of the remarks.
    """

    pass_name: str
    checks: Callable[[Candidate], Iterator[Step]]
    mark: Callable[[Candidate], None]
    lock: Callable[[Candidate], None]
    waived: frozenset[str]
    copied: frozenset[str] = frozenset()
    labels: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class Extra:
    """A node that was marked: how it looked before, what was waived for it, the copies made for it and the chain of
    its checks, none of which fails any more."""

    candidate: Candidate
    before: dict[str, Attribute]
    waived: tuple[str, ...]
    steps: tuple[Step, ...]
    copies: list[Operation] = field(default_factory=list[Operation])


class Marking:
    """One family on one module. `judge` in the order of the nodes, then `prove` once."""

    def __init__(self, module: ModuleOp, family: Family) -> None:
        self._module = module
        self._family = family
        self._extras: dict[Operation, Extra] = {}
        self._base: Cost | None = None
        self.possible = is_known(module)
        """Whether a plan can prove anything: the shapes are known."""
        if self.possible:
            self._base = trial(module)
            self.possible = self._base is not None

    def judge(self, candidate: Candidate, whole: Sequence[Step]) -> None:
        """Mark the node if only waived checks fail, or those that a copy mends. A node that fails gets its remark."""
        family, op = self._family, candidate.op
        steps = [*whole, *family.checks(candidate)]
        failed = [step for step in steps if not step.holds]
        hard = [step for step in failed if step.check not in family.waived]
        slots = {step.input for step in hard}
        mended = hard and len(slots) == 1 and all(step.check in family.copied for step in hard)
        if hard and not (mended and candidate.inputs > 1):
            explain(op, family.pass_name, (_excused(step, family.waived) for step in steps))
            _missed(op, family, hard[0])
            return
        extra = Extra(
            candidate,
            {name: op.attributes[name] for name in _MARKS if name in op.attributes},
            tuple(dict.fromkeys(step.check for step in failed)),
            tuple(_excused(step, family.waived, family.copied) for step in steps),
        )
        if hard:
            (slot,) = slots
            assert slot is not None
            extra.copies.append(_copy(op, slot))
        family.mark(candidate)
        self._extras[op] = extra

    def prove(self) -> None:
        """Take back what does not hold, lock what stays, and say about each marked node what became of it."""
        for graph in dict.fromkeys(extra.candidate.graph for extra in self._extras.values()):
            self._untangle(graph)
            self._refuse_in_place(graph)
        self._weigh()
        for extra in self._extras.values():
            self._family.lock(extra.candidate)
            explain(extra.candidate.op, self._family.pass_name, extra.steps)
            _passed(extra, self._family)

    # --- distances

    def _untangle(self, graph: GraphOp) -> None:
        """Until all distances can be had: give the node that asks too much one copy, and then its task back."""
        while (found := _first_conflict(memory_graph(graph))) is not None:
            op, output, reason = found
            extra = self._extras.get(op) or self._last(graph)
            if extra is None:
                return  # not of our making: ge-insert-identity has its ways
            op = extra.candidate.op
            slots = [i for i, value in enumerate(data_operands(op)) if value is output.value]
            if not extra.copies and len(slots) == 1 and extra.candidate.inputs > 1:
                extra.copies.append(_copy(op, slots[0]))
                continue
            self._withdraw(extra, CONFLICT, f"{output} cannot lie there: {reason}")

    def _last(self, graph: GraphOp) -> Extra | None:
        found = [extra for extra in self._extras.values() if extra.candidate.graph is graph]
        return found[-1] if found else None

    # --- writers in place

    def _refuse_in_place(self, graph: GraphOp) -> None:
        """No node may write on memory that results of several nodes share, nor lie between others' bytes in it."""
        model = memory_graph(graph)
        distances = _distances(model)
        harmed: dict[int, Output] = {}
        for output in model.outputs:
            writes = output.source is not None and not output.node.moves_nothing
            if writes or output.uid in distances.woven:
                harmed.setdefault(distances.find(output.uid)[0], output)
        if not harmed:
            return
        for extra, root in self._roots(model, distances):
            if root in harmed:
                self._withdraw(
                    extra, IN_PLACE, f"{harmed[root]} is written inside the shared memory"
                )

    def _roots(self, model: MemoryGraph, distances: Distances) -> list[tuple[Extra, int]]:
        return [
            (self._extras[node.op], distances.find(node.outputs[0].uid)[0])
            for node in model.nodes
            if node.op in self._extras and node.outputs
        ]

    # --- cost

    def _weigh(self) -> None:
        """Take marks back, one shared memory after the other, until a trial plan holds and needs no more than before;
        of the last one the marks that do no harm stay."""
        while self._extras:
            cost = trial(self._module)
            excess = self._excess(cost)
            if excess == NOTHING:
                return
            reason = UNSAFE if cost is None else COPIES if excess[0] else GROWS
            for extra in self._harmful(excess):
                self._withdraw(extra, reason, self._complaint(cost))

    def _harmful(self, excess: Excess) -> list[Extra]:
        """Marks without which the plan is better: those of the memory that is best given up, as few as will do."""
        groups = sorted(self._groups(), key=len)[:MAX_GROUPS]
        without = [self._without(group) for group in groups]
        best = min(range(len(groups)), key=lambda i: without[i])
        if without[best] >= excess:
            return list(self._extras.values())
        chosen = groups[best]
        if without[best] != NOTHING:
            return chosen
        for extra in chosen[:MAX_MEMBERS]:
            rest = [other for other in chosen if other is not extra]
            if rest and self._without(rest) == NOTHING:
                chosen = rest
        return chosen

    def _excess(self, cost: Cost | None) -> Excess:
        """Copies that nobody asked for and bytes beyond those of the model without these marks."""
        assert self._base is not None
        if cost is None:
            return sys.maxsize, sys.maxsize
        own = sum(len(extra.copies) for extra in self._extras.values())
        return (
            max(0, cost.copies - self._base.copies - own),
            max(0, cost.bytes - self._base.bytes),
        )

    def _complaint(self, cost: Cost | None) -> str:
        assert self._base is not None
        if cost is None:
            return "the trial plan does not hold"
        return f"{cost.bytes} bytes and {cost.copies} copies instead of {self._base.bytes} and {self._base.copies}"

    def _groups(self) -> list[list[Extra]]:
        """The marked nodes by the memory that they share."""
        found: dict[tuple[GraphOp, int], list[Extra]] = {}
        for graph in dict.fromkeys(extra.candidate.graph for extra in self._extras.values()):
            model = memory_graph(graph)
            for extra, root in self._roots(model, _distances(model)):
                found.setdefault((graph, root), []).append(extra)
        return list(found.values())

    def _without(self, group: list[Extra]) -> Excess:
        marks = [(extra, _take_marks(extra)) for extra in group]
        excess = self._excess(trial(self._module, check=False))
        for extra, kept in marks:
            extra.candidate.op.attributes.update(kept)
        return excess

    def _withdraw(self, extra: Extra, reason: str, text: str) -> None:
        op = extra.candidate.op
        _take_marks(extra)
        for copy in extra.copies:
            copy.results[0].replace_all_uses_with(copy.operands[0])
            copy.detach()
            copy.erase()
        del self._extras[op]
        why = Step(reason, False, text)
        explain(op, self._family.pass_name, (*extra.steps, why))
        _missed(op, self._family, why)


def _excused(step: Step, waived: frozenset[str], copied: frozenset[str] = frozenset()) -> Step:
    """A failed step that does not count: it is waived, or a copy of its input mends it."""
    if step.holds or step.check not in waived | copied:
        return step
    how = "left to the plan" if step.check in waived else "that input is copied"
    return Step(step.check, True, f"{step.text} ({how})", step.values, step.input)


def _take_marks(extra: Extra) -> dict[str, Attribute]:
    """Put the node's marks back to what they were; what they are now."""
    attributes = extra.candidate.op.attributes
    kept = {name: attributes.pop(name) for name in _MARKS if name in attributes}
    attributes.update(extra.before)
    return kept


def _distances(model: MemoryGraph) -> Distances:
    distances = Distances(model)
    for node in model.nodes:
        for first, second, distance, *_ in rules(node):
            distances.tie(first, second, distance)
    return distances


def _first_conflict(model: MemoryGraph) -> tuple[Operation, Output, str] | None:
    """The first node whose wishes contradict earlier ones, the output that cannot lie where it wants, and why."""
    distances = Distances(model)
    for node in model.nodes:
        for first, second, distance, *_ in rules(node):
            reason = distances.tie(first, second, distance)
            if reason is not None:
                return node.op, second, reason
    return None


def _copy(reader: Operation, slot: int) -> Operation:
    """Put an Identity in front of one input."""
    source = data_operands(reader)[slot]
    name = f"identity_{slot}_{node_name(reader)}_NoTask"
    op = OpOp.make(
        [source],
        [source.type],
        {"type": string("Identity")},
        {
            "ge.name": string_attr(name),
            "ge.engine": string(RTS),
            "ge.kernel_lib": string(ENGINES[RTS].kernel_lib),
            "ge.keep": UNIT,
        },
    )
    block = reader.parent
    assert block is not None
    block.insert_op_before(op, reader)
    reader.operands[slot] = op.results[0]
    return op


def _who(op: Operation, family: Family) -> dict[str, str]:
    return {
        **family.labels,
        "node": node_name(op),
        "graph": graph_of(op).sym_name.data,
        "type": ge_type(op),
    }


def _missed(op: Operation, family: Family, step: Step) -> None:
    about = "" if step.input is None else f"input {step.input}: "
    emit_remark(
        op,
        family.pass_name,
        "missed",
        f'"{node_name(op)}": {step.check}: {about}{step.text}',
        **{**step.values, **_who(op, family), "reason": step.check},
    )


def _passed(extra: Extra, family: Family) -> None:
    op = extra.candidate.op
    beyond = f", proven by a plan in spite of {', '.join(extra.waived)}" if extra.waived else ""
    copies = ", with a copy of one input" if extra.copies else ""
    emit_remark(
        op,
        family.pass_name,
        "passed",
        f'"{node_name(op)}" of type {ge_type(op)} makes no task{copies}{beyond}',
        **_who(op, family),
        waived=",".join(extra.waived),
        copies=len(extra.copies),
    )
