"""`convert-ge-to-ge-task`: the graphs of a model become a task list, or a host program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.lowering.tasks.host import lower_host_program
from ge_dialect.lowering.tasks.model import lower_known_model
from ge_dialect.lowering.tasks.profiling import Points, Profile


@dataclass(frozen=True)
class ConvertGeToGeTask(ModulePass):
    """Replace the graphs of a module by one `ge_task.model` or `ge_task.host`.

    Expects engines on all nodes, and of a model of known shapes streams and a memory plan too. Such a model becomes a
    task list (spec/tasks.md sections 1 and 2), any other one program that the host schedules (spec/host_execution.md
    section 10; how control flow is written: docs/control_flow_host.md).

    Guarantees afterwards: no `ge` operation is left, and what is there says all that a run needs. Tasks stand in block
    order, each with the stream and the number of its node; nodes that only name memory have none, and those
    marked `ge.no_task` stand there as `ge_task.virtual`, which is no task. Buffers are the outputs' places, one for
    each type that a reader sees. Constants keep their bytes, nothing is copied.

    Options:
    * `fusion-brackets`: false leaves out the FUSION_START and FUSION_END tasks around an engine's kernels.

    * `buffer-optimize`: `l1_optimize` and `l2_optimize` issue the nodes of one `_l1_fusion_group_id`
      (`_l2_fusion_group_id`) and stream in a row, where the first of them stands, under its name. An error where that
      would put a task in front of one that it must follow.
    * `profiling`: time stamps around the forward point, the backward point, the end of an iteration, all-reduces and
      GetNexts. `fp-point`, `bp-point`, `end-point` name the first three, as do the attributes `_fp_profiling_task`,
      `_bp_profiling_task` and `_end_profiling_task` of a node. Around a node that has none of these attributes, stamps
      behind it need an end, those before it an end and a backward point. Of models of known shape only.

    Raises GeError, naming the node, for what cannot become a task.

    Before and after:

        ge.graph @net {
          %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 1024>, ...} : tensor<2x64xf32>
          %y = ge.op "Relu" (%x) {ge.name = "y", ge.stream = 0 : i64, ...} : tensor<2x64xf32>
          ge.net_output (%y) {ge.name = "out", ...}
        }

        ge_task.model @net streams 1 arenas {hbm = 2048, weight = 0} zero_copy 2048 {
          %x = ge_task.buffer hbm at 1024 size 512 input 0 name "x" : tensor<2x64xf32>
          %y = ge_task.buffer hbm at 0 size 512 output 0 : tensor<2x64xf32>
          ge_task.fusion_start stream 0 op 1 {ge.name = "y"}
          ge_task.kernel "Relu"(%x) -> (%y) engine "AIcoreEngine" kernel_type 2 stream 0 op 1 {ge.name = "y"}
          ge_task.fusion_end stream 0 op 1 {ge.name = "y"}
          ge_task.end_graph stream 0 op 2 {ge.name = "out"}
        }
    """

    name = "convert-ge-to-ge-task"

    fusion_brackets: bool = True
    buffer_optimize: Literal["off_optimize", "l1_optimize", "l2_optimize"] = "off_optimize"
    profiling: bool = False
    fp_point: str = ""
    bp_point: str = ""
    end_point: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert the model in `op`; a module without graphs stays as it is."""
        found = graphs(op)
        if not found:
            return
        made = self._known(op) if is_known(op) else lower_host_program(op)
        block = op.body.block
        block.insert_op_before(made, found[0])
        for graph in found:
            block.detach_op(graph)
            graph.drop_all_references()

    def _known(self, module: ModuleOp) -> ModelOp:
        points = Points(self.fp_point, self.bp_point, self.end_point)
        return lower_known_model(
            module,
            self.fusion_brackets,
            groups=self.buffer_optimize != "off_optimize",
            profile=Profile(points) if self.profiling else None,
        )
