"""Pass `ge-pack-no-task`: packs whose inputs are written where the result lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.formats.cube import CUBE_TABLES
from ge_dialect.transforms.no_task.dim_checks import pack_dim_checks, pack_format_checks
from ge_dialect.transforms.no_task.joining import Joining, skipped_by_level

PACK = Joining(
    "ge-pack-no-task",
    frozenset({"Pack"}),
    "pack_reusable",
    pack_format_checks,
    pack_dim_checks,
)


@dataclass(frozen=True)
class GePackNoTask(ModulePass):
    """Mark each Pack that needs no task: the sibling of `ge-concat-no-task`, which runs right before it.

    Expects what that pass expects, and guarantees the same marks. It differs in three things. The lock is
    `pack_reusable`, independent of the concat's. Inputs are in a public format or FRACTAL_NZ. A new axis in front
    (`axis = 0`) is always contiguous, one behind everything only for inputs of one element, one in between is judged
    like a concat along it.

    Options: as for `ge-concat-no-task`.

    Before and after:

        %p = ge.pack (%a, %b) axis 0 {ge.name = "p"} : tensor<2x64xf16>
        %p = ge.pack (%a, %b) axis 0 {ge.name = "p", ge.no_task, ge.no_padding_continuous_input,
            ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<2x64xf16>
    """

    name = "ge-pack-no-task"

    level: Literal["O0", "O1", "O2", "O3"] = "O3"
    cube: Literal["platform", "none"] = "platform"
    mode: Literal["faithful", "aggressive"] = "faithful"
    alignment: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not skipped_by_level(op, self.name, self.level, "O3"):
            table = CUBE_TABLES[self.cube]
            if self.mode == "aggressive":
                PACK.run_aggressive(op, table, self.alignment)
            else:
                PACK.run(op, table)
