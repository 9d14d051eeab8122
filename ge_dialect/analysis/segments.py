"""First and last nodes of a stream's segments: the nodes whose engines open and close a bracket."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ge_dialect.analysis.task_count import kernel_lib, makes_no_task
from ge_dialect.analysis.task_kinds import SEGMENT_CUTS
from ge_dialect.dialects.attrs import UNIT
from ge_dialect.dialects.ge.access import ge_type, get_int

FIRST, LAST = "ge.is_first_node", "ge.is_last_node"


def mark_first_and_last(nodes: Iterable[Operation]) -> None:
    """Mark the first and the last node of each segment and kernel lib (spec/tasks.md section 1.2).

    `nodes` are all nodes of the model in walk order. A segment is what lies on one stream between two cuts; nodes
    without stream and nodes without task are passed over. Old marks are erased.
    """
    by_stream: dict[int, list[Operation]] = {}
    for op in nodes:
        op.attributes.pop(FIRST, None)
        op.attributes.pop(LAST, None)
        stream = get_int(op, "ge.stream", -1)
        if stream is not None and stream >= 0 and not makes_no_task(op):
            by_stream.setdefault(stream, []).append(op)
    several = len(by_stream) > 1
    for ops in by_stream.values():
        _mark_stream(ops, several)


def _mark_stream(ops: list[Operation], several_streams: bool) -> None:
    last: dict[str, Operation] = {}
    for op in ops:
        if ge_type(op) in SEGMENT_CUTS or (several_streams and "subgraphs" in op.properties):
            _close(last)
            continue
        lib = kernel_lib(op)
        if lib not in last:
            op.attributes[FIRST] = UNIT
        last[lib] = op
    _close(last)


def _close(last: dict[str, Operation]) -> None:
    for op in last.values():
        op.attributes[LAST] = UNIT
    last.clear()
