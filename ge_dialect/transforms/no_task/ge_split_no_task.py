"""Pass `ge-split-no-task`: splits whose outputs are parts of their input's memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.explain import Step
from ge_dialect.analysis.marks import (
    NO_PADDING_OUTPUT,
    NO_TASK,
    OUTPUT_REUSES_INPUT,
    REUSE_DIM,
    flag,
    set_flag,
    set_number,
)
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.dialects.ge.access import ge_type, nodes
from ge_dialect.dialects.ge.nodes import SplitOp
from ge_dialect.formats.cube import CUBE_TABLES
from ge_dialect.transforms.no_task.aggressive import Family, Marking
from ge_dialect.transforms.no_task.candidate import Candidate, Readers
from ge_dialect.transforms.no_task.joining import correct_all, judge, skipped_by_level
from ge_dialect.transforms.no_task.shape_checks import graph_checks
from ge_dialect.transforms.no_task.split_checks import c_to_n_checks, n_axis_checks

WAIVED_SPLIT = frozenset(
    {
        "split_input_no_task",
        "split_input_transdata_reshape_of_data",
        "split_consumer_no_task",
        "split_consumer_not_aicore",
    }
)
"""Checks without which a plan may still hold."""

_CANDIDATES = frozenset(SplitOp.GE_TYPES or ()) - {"PhonySplit"}


@dataclass(frozen=True)
class GeSplitNoTask(ModulePass):
    """Mark each SplitD and SplitVD that needs no task: its outputs are parts of its input, where that lies.

    Runs behind `ge-concat-no-task` and `ge-pack-no-task`, before layout conflicts, order and memory; expects engines,
    as every reader must run on the AI Core (a node's own `imply_type` counts first). On each graph, the root
    first, two rules one after the other:

    * `n-axis`: the split axis is the outermost storage axis;
    * `c-to-n`: the split axis is 1 behind an axis of length 1, and stays outermost in the storage format; splits that
      make no task already are skipped.

    Both refuse inputs that are constants, made by a node without task or with atomic outputs, or a graph input behind a
    TransData or Reshape; readers that are graph outputs, collectives, splits, without task, on another engine, or that
    lay out their inputs. Each rule gives one remark a candidate, with the reason key of the first check that failed.
    Guarantees afterwards: a marked split has `ge.no_task`, `ge.no_padding_continuous_output`, `ge.output_reuse_input`
    and `ge.reuse_input_on_dim_index = 0`, and nothing else changes.

    Options:
    * `level`: optimisation level; the pass works from O2 on.
    * `fusion_virtual_op`: the engine's switch; false turns the pass off.
    * `rules`: `both`, or one of the two.
    * `mode`: `aggressive` waives what only caution forbids (an input or a reader without task, a reader on another
      engine, an input that is a graph input behind a TransData or Reshape) and puts every mark to the test as
      `ge-concat-no-task` does; of the two rules the one counts whose axis it is.

    Before and after:

        %s, %t = ge.split (%x) split_dim 0 num_split 2 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>
        %s, %t = ge.split (%x) split_dim 0 num_split 2 {ge.name = "s", ge.no_task, ge.no_padding_continuous_output,
            ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<2x64xf16>, tensor<2x64xf16>
    """

    name = "ge-split-no-task"

    level: Literal["O0", "O1", "O2", "O3"] = "O3"
    fusion_virtual_op: bool = True
    rules: Literal["both", "n-axis", "c-to-n"] = "both"
    mode: Literal["faithful", "aggressive"] = "faithful"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if skipped_by_level(op, self.name, self.level, "O2") or not self.fusion_virtual_op:
            return
        if self.mode == "aggressive" and self._aggressive(op):
            return
        self.run(op)

    def run(self, module: ModuleOp, skip: frozenset[str] = frozenset()) -> None:
        """The faithful rules on every graph. `skip` names checks that are taken as passed: for tests that ask what a
        check is good for."""
        for candidates, whole in _candidates(module):
            self._run_on_graph(candidates, whole, skip)

    def _aggressive(self, module: ModuleOp) -> bool:
        """Whether a plan can decide; then all is done."""
        marking = Marking(
            module,
            Family(
                self.name,
                _rule_of_axis,
                lambda candidate: mark_split(candidate.op),
                lambda candidate: None,
                WAIVED_SPLIT,
            ),
        )
        if not marking.possible:
            return False
        for candidates, whole in _candidates(module):
            for candidate in candidates:
                marking.judge(candidate, whole)
        marking.prove()
        return True

    def _run_on_graph(
        self, candidates: list[Candidate], whole: tuple[Step, ...], skip: frozenset[str]
    ) -> None:
        if self.rules != "c-to-n":
            for candidate in candidates:
                self._judge(candidate, whole, "n-axis", n_axis_checks, skip)
        if self.rules != "n-axis":
            for candidate in candidates:
                if not flag(candidate.op, NO_TASK):
                    self._judge(candidate, whole, "c-to-n", c_to_n_checks, skip)

    def _judge(
        self,
        candidate: Candidate,
        whole: tuple[Step, ...],
        rule: str,
        checks: Callable[[Candidate], Iterator[Step]],
        skip: frozenset[str],
    ) -> None:
        judge(
            candidate.op,
            self.name,
            whole,
            lambda: checks(candidate),
            lambda: mark_split(candidate.op),
            skip=skip,
            rule=rule,
        )


def _candidates(module: ModuleOp) -> Iterator[tuple[list[Candidate], tuple[Step, ...]]]:
    """The splits of each graph, the root first, with the checks of that graph."""
    model = ModelGraphs.of(module)
    for graph in model.graphs:
        correct_all(graph)
        found = [op for op in nodes(graph) if ge_type(op) in _CANDIDATES]
        if found:
            readers, table = Readers(graph), CUBE_TABLES["platform"]
            candidates = [Candidate(op, graph, model, readers, table) for op in found]
            yield candidates, tuple(graph_checks(graph, model))


def _rule_of_axis(candidate: Candidate) -> Iterator[Step]:
    """The checks of the N-axis rule, of C-to-N where the axis is another."""
    steps = list(n_axis_checks(candidate))
    outermost = all(step.holds for step in steps if step.check == "split_dim_not_zero")
    yield from steps if outermost else c_to_n_checks(candidate)


def mark_split(op: Operation) -> None:
    """The outputs are parts of the input's memory, and no task makes them (section 10.4)."""
    for spelling in (NO_TASK, NO_PADDING_OUTPUT, OUTPUT_REUSES_INPUT):
        set_flag(op, spelling)
    set_number(op, REUSE_DIM, 0)
