"""What must stand before what in a graph, beyond the edges that it has."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.aliases import alias_roots, is_view
from ge_dialect.analysis.order import operands_within
from ge_dialect.dialects.engine_types import STACK_TYPES
from ge_dialect.dialects.ge.access import data_results, ge_type, get_flag
from ge_dialect.dialects.ge.graph import GateOp

FIXED_TYPES = frozenset(
    """LabelSet LabelGoto LabelGotoEx LabelSwitch LabelSwitchByIndex StreamActive StreamSwitch StreamSwitchN StreamMerge
    Send Recv SendNotify RecvNotify Enter RefEnter Exit RefExit NextIteration RefNextIteration LoopCond""".split()
)
"""Types that say something about the nodes around them by their place: a graph with one of them keeps its order."""

_QUEUE_MARKS = ("Enqueue", "Dequeue", "GetNext", "Outfeed", "Infeed")


def keeps_order(op: Operation) -> bool:
    """Whether a node must not overtake another such node: collectives, which all ranks issue alike, stacks, queues."""
    kind = ge_type(op)
    return (
        kind.startswith(("Hcom", "Horovod"))
        or kind in STACK_TYPES
        or any(mark in kind for mark in _QUEUE_MARKS)
    )


def required_before(ops: Sequence[Operation]) -> list[list[int]]:
    """For each op of a sorted block the ops that must come before it, each once, in the order of its operands.

    Beside what it reads: of a piece of memory that some node writes over (a variable, an output on its input's memory),
    the uses before that node stay before it and those behind it behind; nodes of which `keeps_order` holds keep
    their order among themselves. Linear.
    """
    place = {op: index for index, op in enumerate(ops)}
    before: list[dict[int, None]] = []
    for op in ops:
        sources = (
            place[value.op]
            for value in operands_within(op)
            if isinstance(value, OpResult) and value.op in place and value.op is not op
        )
        before.append(dict.fromkeys(sources))
    for chain in _chains(ops, place):
        _tie(chain, before)
    previous = None
    for index, op in enumerate(ops):
        if keeps_order(op):
            if previous is not None:
                before[index][previous] = None
            previous = index
    return [list(found) for found in before]


def _chains(ops: Sequence[Operation], place: dict[Operation, int]) -> list[list[tuple[int, bool]]]:
    """The uses, as (place, whether it writes), of each piece of memory that is written over; ascending."""
    roots = alias_roots(list(ops))
    written: dict[SSAValue, list[int]] = {}
    for op in ops:
        if isinstance(op, GateOp) or is_view(op) or get_flag(op, "ge.no_task"):
            continue
        for result in data_results(op):
            if (root := roots[result]) is not result:
                written.setdefault(root, []).append(place[op])
    if not written:
        return []
    users: dict[SSAValue, dict[int, None]] = {root: {} for root in written}
    for op in ops:
        for value in operands_within(op):
            root = roots.get(value)
            if root is not None and root in users:
                users[root][place[op]] = None
    return [
        [(user, user in writers) for user in users[root]]
        for root, found in written.items()
        for writers in (frozenset(found),)
    ]


def _tie(chain: list[tuple[int, bool]], before: list[dict[int, None]]) -> None:
    """Writers behind all uses in front of them, in front of all behind; uses between two writers stay free."""
    writer: int | None = None
    free: list[int] = []
    for user, writes in chain:
        if writer is not None:
            before[user][writer] = None
        if writes:
            for each in free:
                before[user][each] = None
            writer, free = user, []
        else:
            free.append(user)
