"""First and last nodes of a stream's segments: the nodes whose engines open and close a bracket."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ge_dialect.analysis.task_count import kernel_lib, makes_no_task, task_error
from ge_dialect.analysis.task_kinds import SEGMENT_CUTS, lib_of_engine
from ge_dialect.dialects.attrs import UNIT, string
from ge_dialect.dialects.engine_types import engines_of_type
from ge_dialect.dialects.ge.access import ge_type, get_int, get_text

FIRST, LAST = "ge.is_first_node", "ge.is_last_node"


def mark_first_and_last(nodes: Iterable[Operation]) -> None:
    """Mark the first and the last node of each segment and kernel lib (spec/tasks.md section 1.2).

    `nodes` are all nodes of the model in walk order. A segment is what lies on one stream between two cuts; nodes
    without stream and nodes without task are passed over. Old marks are erased. A node with an empty kernel lib is
    placed first. Raises TaskGenerationError for one that cannot be.
    """
    by_stream: dict[int, list[Operation]] = {}
    for op in nodes:
        op.attributes.pop(FIRST, None)
        op.attributes.pop(LAST, None)
        stream = get_int(op, "ge.stream", -1)
        if stream is None or stream < 0:
            continue
        # A stream that holds nothing but nodes without task is in use too.
        ops = by_stream.setdefault(stream, [])
        if not makes_no_task(op):
            ops.append(op)
    several = len(by_stream) > 1
    for ops in by_stream.values():
        _mark_stream(ops, several)


def _mark_stream(ops: list[Operation], several_streams: bool) -> None:
    last: dict[str, Operation] = {}
    for op in ops:
        if ge_type(op) in SEGMENT_CUTS or (several_streams and "subgraphs" in op.properties):
            _close(last)
            continue
        lib = kernel_lib(op) or _place(op)
        if lib not in last:
            op.attributes[FIRST] = UNIT
        last[lib] = op
    _close(last)


def _place(op: Operation) -> str:
    """Give a node whose kernel lib is empty that of its engine, or of the cheapest engine that knows its type."""
    engine = get_text(op, "ge.engine") or engines_of_type(ge_type(op))[0]
    lib = lib_of_engine(engine)
    if not lib:
        raise task_error(op, "has an empty kernel lib and no engine to take one from")
    op.attributes["ge.engine"] = string(engine)
    op.attributes["ge.kernel_lib"] = string(lib)
    return lib


def _close(last: dict[str, Operation]) -> None:
    for op in last.values():
        op.attributes[LAST] = UNIT
    last.clear()
