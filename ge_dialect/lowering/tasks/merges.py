"""What the copy of a merging node says about the places of the node's inputs."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Operation

from ge_dialect.dialects.attrs import i64_array, string
from ge_dialect.dialects.ge.access import data_operands, is_absent
from ge_dialect.lowering.tasks.buffers import BufferTable

OFFSETS, SPACES = "input_i", "input_spaces"


def merged_places(op: Operation, buffers: BufferTable) -> DictionaryAttr | None:
    """The payload that lists where the wired inputs of a StreamMerge lie, None for fewer than two.

    The task copies input 0 alone, which is right as long as all inputs share one place; the list lets a checker see
    whether they do. `input_i` is GE's list of input offsets, `input_spaces` ours, there when not all are in `hbm`.
    """
    places = [buffers.place(value) for value in data_operands(op) if not is_absent(value)]
    if len(places) < 2:
        return None
    payload = {OFFSETS: i64_array([offset for _, offset in places])}
    if any(space != "hbm" for space, _ in places):
        return DictionaryAttr(
            {**payload, SPACES: ArrayAttr([string(space) for space, _ in places])}
        )
    return DictionaryAttr(payload)
