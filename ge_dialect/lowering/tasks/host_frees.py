"""Where values of a host program end: a `free` behind the last step that reads them, in the order of their stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ge_dialect.dialects.ge_task import FreeOp, HostOutputOp, Placement, YieldOp
from ge_dialect.dialects.ge_task.host_step import placement_of


def with_frees(
    ops: Sequence[Operation],
    owned: Mapping[SSAValue, int | None],
    arguments: Sequence[SSAValue] = (),
) -> list[Operation]:
    """The steps of a region with the frees between them.

    `owned`: the values of the region that have storage, with the stream in whose order it goes back (None: on the
    host); `arguments` are those that are there when the region begins. A value that a `yield` hands on, or that an
    `output` gives to the caller, does not end here. Linear in the steps and in those of regions inside.
    """
    last: dict[SSAValue, int] = dict.fromkeys(arguments, -1)
    kept: set[SSAValue] = set()
    for index, op in enumerate(ops):
        last.update(dict.fromkeys(op.results, index))
        for inner in op.walk() if op.regions else (op,):
            last.update(dict.fromkeys(inner.operands, index))
        if isinstance(op, YieldOp | HostOutputOp | FreeOp):
            kept.update(op.operands)
    dying: dict[int, list[SSAValue]] = {}
    for value, index in last.items():
        if value in owned and value not in kept:
            dying.setdefault(index, []).append(value)
    made: list[Operation] = [_free(x, owned[x]) for x in dying.get(-1, ())]
    for index, op in enumerate(ops):
        made.append(op)
        if index in dying:
            made += [_free(x, owned[x]) for x in dying[index]]
    return made


def _free(value: SSAValue, stream: int | None) -> FreeOp:
    on_device = placement_of(value.type) is not Placement.HOST
    return FreeOp.make(value, stream=(stream or 0) if on_device else None)
