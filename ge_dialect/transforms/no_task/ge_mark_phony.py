"""Pass `ge-mark-phony`: PhonyConcat and PhonySplit are nothing but a layout of memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.marks import (
    NO_PADDING_INPUT,
    NO_TASK,
    OUTPUT_REUSES_INPUT,
    REUSE_DIM,
    correct_spellings,
    number,
    set_flag,
    set_number,
)
from ge_dialect.analysis.remarks import emit_remark
from ge_dialect.dialects.ge.access import ge_type, graphs, node_name, nodes
from ge_dialect.transforms.no_task.ge_split_no_task import mark_split


@dataclass(frozen=True)
class GeMarkPhony(ModulePass):
    """Mark every PhonyConcat and PhonySplit as the local engine does when it takes them: without any check.

    Expects any graph; runs before `ge-concat-no-task`, which must see the marks. Guarantees afterwards: both types have
    `ge.no_task`, `ge.output_reuse_input` and `ge.reuse_input_on_dim_index = 0` (an index that is there stays), a
    PhonyConcat `ge.no_padding_continuous_input`, a PhonySplit `ge.no_padding_continuous_output`; nothing else changes.

    Before and after:

        %c = ge.concat "PhonyConcat" (%a, %b) {ge.name = "c"} : tensor<4x64xf16>
        %c = ge.concat "PhonyConcat" (%a, %b) {ge.name = "c", ge.no_task, ge.no_padding_continuous_input,
            ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<4x64xf16>
    """

    name = "ge-mark-phony"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for graph in graphs(op):
            for node in nodes(graph):
                kind = ge_type(node)
                if kind not in ("PhonyConcat", "PhonySplit"):
                    continue
                correct_spellings(node)
                dim = number(node, REUSE_DIM)
                if kind == "PhonySplit":
                    mark_split(node)
                else:
                    for spelling in (NO_TASK, NO_PADDING_INPUT, OUTPUT_REUSES_INPUT):
                        set_flag(node, spelling)
                set_number(node, REUSE_DIM, 0 if dim is None else dim)
                emit_remark(
                    node,
                    self.name,
                    "passed",
                    f'"{node_name(node)}" of type {kind} makes no task',
                    node=node_name(node),
                    type=kind,
                )
