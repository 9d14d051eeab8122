"""What must not change while streams are assigned: which nodes there are, in which order, with which edges."""

from __future__ import annotations

from zlib import crc32

from xdsl.ir import Operation, OpResult

from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import get_int, node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.formats.errors import GeError

STRUCTURE = "ge.structure"


def structure_of(graph: GraphOp) -> int:
    """A number that depends on the graph's ops, their names, their order and their edges, and on nothing else.

    Ids are places in the block, so graphs with the same number have the same ids. 63 bits: that a change goes unseen
    is improbable, not impossible. One sweep.
    """
    place: dict[Operation, int] = {}
    parts: list[int] = []
    for index, op in enumerate(graph.block.ops):
        place[op] = index
        name = node_name(op)
        parts.append(crc32(name.encode()) if name else -1 - index)
    for op in place:
        for operand in op.operands:
            if isinstance(operand, OpResult):
                parts.append(place.get(operand.op, -1))
                parts.append(operand.index)
        parts.append(-2)
    # Hashes of integers, other than those of texts, are the same in every run.
    return hash(tuple(parts)) & (2**63 - 1)


def note_structure(graph: GraphOp) -> None:
    """Write down the graph's structure, for `check_structure`."""
    graph.attributes[STRUCTURE] = i64(structure_of(graph))


def check_structure(graph: GraphOp, keep: bool = False) -> None:
    """Compare the graph with what was written down, which goes away unless `keep`. Nothing written down is fine.

    Raises GeError when nodes, order or edges have changed since (spec/streams.md section 16).
    """
    noted = get_int(graph, STRUCTURE)
    if noted is None:
        return
    if noted != structure_of(graph):
        raise GeError(
            f"nodes, order or edges of @{graph.sym_name.data} changed while streams were being assigned"
        )
    if not keep:
        del graph.attributes[STRUCTURE]
