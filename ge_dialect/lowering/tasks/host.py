"""A model with shapes known at run time only, as one host-scheduled program (spec/host_execution.md section 10)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge_task import HostOp
from ge_dialect.lowering.tasks.host_branches import BRANCHES
from ge_dialect.lowering.tasks.host_loops import LOOPS
from ge_dialect.lowering.tasks.host_lowering import HostLowering


def lower_host_program(module: ModuleOp) -> HostOp:
    """The program of the model's root graph; sub-graphs become regions.

    Raises TaskGenerationError, naming the node, for what a host program cannot do.
    """
    return HostLowering(module, {**LOOPS, **BRANCHES}).run()
