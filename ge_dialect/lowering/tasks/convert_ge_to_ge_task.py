"""`convert-ge-to-ge-task`: the graphs of a model become a task list, or a host program."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ge_dialect.analysis.known_shape import is_known
from ge_dialect.dialects.ge.access import graphs
from ge_dialect.lowering.tasks.host import lower_host_program
from ge_dialect.lowering.tasks.model import lower_known_model


@dataclass(frozen=True)
class ConvertGeToGeTask(ModulePass):
    """Replaces the graphs of a module by one `ge_task.model` or `ge_task.host`.

    A model of known shapes becomes a task list by spec/tasks.md sections 1 and 2; it needs engines, streams and a
    memory plan. Any other model becomes one host-scheduled program (spec/host_execution.md section 10; how control
    flow is written: docs/control_flow_host.md). Constants keep their bytes, nothing is copied.

    `fusion_brackets` false leaves out the FUSION_START and FUSION_END tasks around an engine's kernels.
    Raises GeError, naming the node, for what cannot become a task.
    """

    name = "convert-ge-to-ge-task"

    fusion_brackets: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert the model in `op`; a module without graphs stays as it is."""
        found = graphs(op)
        if not found:
            return
        made = (
            lower_known_model(op, self.fusion_brackets) if is_known(op) else lower_host_program(op)
        )
        block = op.body.block
        block.insert_op_before(made, found[0])
        for graph in found:
            block.detach_op(graph)
            graph.drop_all_references()
