"""Concat and pack without a task: the chain of checks, the marks, and the walk over a model's graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1
from xdsl.ir import Operation

from ge_dialect.analysis.explain import Step, explain, first_failure
from ge_dialect.analysis.marks import (
    NO_PADDING_INPUT,
    NO_TASK,
    OUTPUT_REUSES_INPUT,
    REUSE_DIM,
    correct_spellings,
    set_flag,
    set_number,
)
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.analysis.references import producer
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.attrs import UNIT
from ge_dialect.dialects.ge.access import ge_type, graph_of, node_name, nodes, set_slot_attr
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.formats.cube import CubeTable
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.no_task.aggressive import Family, Marking
from ge_dialect.transforms.no_task.candidate import Candidate, Readers
from ge_dialect.transforms.no_task.dim_checks import DimCheck
from ge_dialect.transforms.no_task.input_checks import ALIGNMENT, input_checks
from ge_dialect.transforms.no_task.output_checks import output_checks
from ge_dialect.transforms.no_task.shape_checks import (
    graph_checks,
    unknown_owner_graph,
    unknown_shape_op,
)

_LOCKED = IntegerAttr(0, i1)

WAIVED = frozenset(
    {
        "producer_output_locked",
        "producer_attr:virtual",
        "consumer_is_virtual",
        "producer_feeds_netoutput",
    }
)
"""Checks without which a plan may still hold: several runs may share tensors where they nest."""

COPIED = frozenset(
    {
        "same_source_anchor",
        "invalid_producer_type",
        "producer_has_subgraph",
        "producer_attr:continuous_or_reference",
        "producer_attr:atomic_output",
        "input_memory_type_mismatch",
    }
)
"""Checks about an input that has its place already; a copy of it has none."""


@dataclass(frozen=True)
class Joining:
    """What makes a concat differ from a pack: its types, the lock on producers, the format and the dimension check."""

    pass_name: str
    types: frozenset[str]
    lock_key: str
    formats: DimCheck
    dims: DimCheck

    def checks(self, candidate: Candidate) -> Iterator[Step]:
        """The whole chain of spec/no_task.md 2.2, in order."""
        yield unknown_shape_op(candidate)
        yield unknown_owner_graph(candidate)
        yield from input_checks(candidate, self.lock_key)
        yield from self.formats(candidate)
        yield from self.dims(candidate)
        yield from output_checks(candidate)

    def mark(self, candidate: Candidate) -> None:
        """Section 8: the node makes no task."""
        op = candidate.op
        for spelling in (NO_TASK, NO_PADDING_INPUT, OUTPUT_REUSES_INPUT):
            set_flag(op, spelling)
        set_number(op, REUSE_DIM, 0)

    def lock(self, candidate: Candidate) -> None:
        """Section 8: its direct producers' outputs are locked."""
        for _, value in candidate.wired():
            if (direct := producer(value)) is not None:
                set_slot_attr(direct.op, "res", direct.index, self.lock_key, _LOCKED)

    def run(self, module: ModuleOp, table: CubeTable, skip: frozenset[str] = frozenset()) -> None:
        """The root graph first, then the flat list of sub-graphs; the direct nodes of each in block order.

        `skip` names checks that are taken as passed: for tests that ask what a check is good for.
        """

        def decide(candidate: Candidate, whole: tuple[Step, ...]) -> None:
            def mark() -> None:
                self.mark(candidate)
                self.lock(candidate)

            judge(
                candidate.op, self.pass_name, whole, lambda: self.checks(candidate), mark, skip=skip
            )

        self._visit(module, table, decide)

    def run_aggressive(self, module: ModuleOp, table: CubeTable, alignment: int) -> None:
        """The same walk, with what only caution forbids left to the planner. Raises GeError for no alignment."""
        if alignment < 1:
            raise GeError(f"alignment is {alignment}, expected at least 1", self.pass_name)
        waived = WAIVED
        if alignment < ALIGNMENT:
            waived |= {"tensor_not_32b_aligned"}
        family = Family(
            self.pass_name, self._aligned(alignment), self._place, self.lock, waived, COPIED
        )
        marking = Marking(module, family)
        if not marking.possible:
            self.run(module, table)
            return
        self._visit(module, table, marking.judge)
        marking.prove()

    def _aligned(self, alignment: int) -> Callable[[Candidate], Iterator[Step]]:
        def checks(candidate: Candidate) -> Iterator[Step]:
            for step in self.checks(candidate):
                bytes_ = step.values.get("bytes")
                if step.check == "tensor_not_32b_aligned" and isinstance(bytes_, int):
                    if not bytes_ or bytes_ % alignment:
                        text = f"{bytes_} bytes, no multiple of {alignment}"
                        step = Step("tensor_not_aligned", False, text, step.values, step.input)
                elif step.check == "invalid_producer_type" and step.values.get("type") == "Data":
                    step = Step("placed_input", True, f"{step.text}, placed", input=step.input)
                yield step

        return checks

    def _place(self, candidate: Candidate) -> None:
        self.mark(candidate)
        candidate.op.attributes["ge.proven_run"] = UNIT

    def _visit(
        self,
        module: ModuleOp,
        table: CubeTable,
        decide: Callable[[Candidate, tuple[Step, ...]], None],
    ) -> None:
        model = ModelGraphs.of(module)
        for graph in model.graphs:
            found = [op for op in nodes(graph) if ge_type(op) in self.types]
            correct_all(graph)
            if not found:
                continue
            whole = tuple(graph_checks(graph, model))
            readers = Readers(graph)
            for op in found:
                decide(Candidate(op, graph, model, readers, table), whole)


def skipped_by_level(module: ModuleOp, pass_name: str, level: str, needed: str) -> bool:
    """Whether the optimisation level is too low for the pass, which a remark then says."""
    if level >= needed:
        return False
    emit_remark(
        module,
        pass_name,
        "missed",
        f"belongs to level {needed}, not to {level}",
        reason="optimization_level",
        level=level,
    )
    return True


def correct_all(graph: GraphOp) -> None:
    """Give all marks in a graph GE's spelling."""
    for op in nodes(graph):
        if "attrs" in op.properties:
            correct_spellings(op)


def judge(
    op: Operation,
    pass_name: str,
    whole: tuple[Step, ...],
    checks: Callable[[], Iterator[Step]],
    mark: Callable[[], None],
    skip: frozenset[str] = frozenset(),
    **labels: str,
) -> bool:
    """Decide about one node, tell it in a remark (and in an explanation, if asked for) and mark it when all holds.

    `whole` are the checks of the graph, `skip` names checks that do not count, `labels` are further arguments of the
    remark.
    """

    def chain() -> Iterator[Step]:
        yield from whole
        yield from checks()

    explain(op, pass_name, chain())
    who = {"node": node_name(op), "graph": graph_of(op).sym_name.data, "type": ge_type(op)}
    failure = first_failure(step for step in chain() if step.check not in skip)
    if failure is None:
        mark()
        emit_remark(
            op,
            pass_name,
            "passed",
            f'"{node_name(op)}" of type {ge_type(op)} makes no task',
            **labels,
            **who,
        )
        return True
    about = "" if failure.input is None else f"input {failure.input}: "
    emit_remark(
        op,
        pass_name,
        "missed",
        f'"{node_name(op)}": {failure.check}: {about}{failure.text}',
        **{
            **failure.values,
            **labels,
            **who,
            "reason": failure.check,
        },
    )
    return False
