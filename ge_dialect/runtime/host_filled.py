"""Which storages of a host program get all their bytes from the first step that sees them."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from ge_dialect.dialects.ge_task import AllocOp, HostCallOp, HostOp, LaunchOp


def filled_first(program: HostOp) -> dict[SSAValue, Operation]:
    """The results of `alloc` whose first use is as a destination of a launch or host call in the same block, and that
    step.

    The bytes of such a storage cannot be seen before that step, which makes them: it may give the storage the array
    that its kernel has computed instead of copying into one.
    """
    found: dict[SSAValue, Operation] = {}
    for op in program.walk():
        for region in op.regions:
            for block in region.blocks:
                _look(block, found)
    return found


def _look(block: Block, found: dict[SSAValue, Operation]) -> None:
    fresh: set[SSAValue] = set()
    for op in block.ops:
        if isinstance(op, AllocOp):
            fresh.add(op.result)
        elif isinstance(op, LaunchOp | HostCallOp) and op.outs:
            outs = op.outs
            once = len(set(outs)) == len(outs)
            others = set(op.ins)
            for value in outs:
                if value in fresh and once and value not in others:
                    found[value] = op
        if fresh:
            for inner in op.walk() if op.regions else (op,):
                fresh.difference_update(inner.operands)
