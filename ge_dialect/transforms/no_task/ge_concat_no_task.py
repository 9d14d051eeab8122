"""Pass `ge-concat-no-task`: concats whose inputs are written where the result lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.formats.cube import CUBE_TABLES
from ge_dialect.transforms.no_task.dim_checks import concat_dim_checks, no_format_checks
from ge_dialect.transforms.no_task.joining import Joining, skipped_by_level

CONCAT = Joining(
    "ge-concat-no-task",
    frozenset({"ConcatD", "ConcatV2D"}),
    "concat_reusable",
    no_format_checks,
    concat_dim_checks,
)


@dataclass(frozen=True)
class GeConcatNoTask(ModulePass):
    """Mark each ConcatD and ConcatV2D that needs no task: laying its inputs end to end in memory is the concat.

    Runs behind control-flow lowering and before layout conflicts, order and memory; expects graphs in topological
    order. Every candidate gets one remark, `missed` with the reason key of the first check that failed
    (spec/no_task.md section 12). Guarantees afterwards: a node that passed all checks is marked, and nothing but
    these attributes changes (mode `aggressive` may also put in a copy):

    * on the node: `ge.no_task`, `ge.no_padding_continuous_input`, `ge.output_reuse_input`,
      `ge.reuse_input_on_dim_index = 0`;
    * on the output of each direct producer: `concat_reusable = false` in `ge.res_attrs`, which keeps other concats off.

    Checks, in order: the graph (single-operator mode, memory in pieces); the node's shapes and its graph's; for each
    input in turn that it is no scalar, a multiple of 32 bytes, not the same output as another, made by somebody who
    can be told where to write, not locked, no graph output, not laid out by its producer, in the same kind of memory;
    that the joined axis is the outermost storage axis with more than one element and whole blocks; that no reader is
    marked; that no fusion owns the node. Negative axes, storage formats and locks are as in the reference.

    Options:
    * `level`: optimisation level; the pass belongs to O3 and does nothing below.
    * `cube`: table of block sizes, `platform` (C0 by element type) or `none` (16 everywhere).
    * `mode`: `faithful` as above. `aggressive`: what only caution forbids is left to the planner. Runs may share
      tensors where they nest, as those of a DenseNet do; model inputs lie in the run (and are no memory of the caller
      then); one input that has its place already is copied (`Identity`). Each such mark is put to the test by the
      stages behind this pass, on a copy of the model: the plan must hold and need no more memory than without the
      marks; else it is taken back, with a reason of its own (docs/no_task.md). Models
      of unknown shape are treated as in `faithful`.
    * `alignment`: bytes that joined tensors must be a multiple of in mode `aggressive`: what the device's kernels can
      write next to. The emulated device writes single bytes.

    Before and after:

        %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<4x64xf16>
        %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c", ge.no_task, ge.no_padding_continuous_input,
            ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<4x64xf16>
    """

    name = "ge-concat-no-task"

    level: Literal["O0", "O1", "O2", "O3"] = "O3"
    cube: Literal["platform", "none"] = "platform"
    mode: Literal["faithful", "aggressive"] = "faithful"
    alignment: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not skipped_by_level(op, self.name, self.level, "O3"):
            table = CUBE_TABLES[self.cube]
            if self.mode == "aggressive":
                CONCAT.run_aggressive(op, table, self.alignment)
            else:
                CONCAT.run(op, table)
