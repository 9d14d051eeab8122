"""Outputs that are written over an input which dies there (spec/memory.md section 9), an option.

The reference takes candidates from tables of its operator library. Ours is `IN_PLACE_TYPES`: one value out for one
value in, each read before it is written.
"""

from __future__ import annotations

from ge_dialect.analysis.memory.distances import origin
from ge_dialect.analysis.memory.model import NO_STREAM, MemoryGraph, Node, Output
from ge_dialect.dialects.attrs import UNIT, i64
from ge_dialect.dialects.ge.access import set_slot_attr

IN_PLACE_TYPES = frozenset(
    """Abs Add Ceil Cos Exp Floor LogicalNot Log Maximum Minimum Mul Neg Reciprocal Relu Sin Sqrt Sub Tanh""".split()
)
"""Elementwise types of one pass over the data: output element i depends on element i of each input of equal shape."""


def _members(graph: MemoryGraph) -> dict[Output, list[Output]]:
    """The outputs on each output's memory, by the one that owns it."""
    found: dict[Output, list[Output]] = {}
    for output in graph.outputs:
        found.setdefault(origin(output), []).append(output)
    return found


def _in_runs(graph: MemoryGraph) -> set[Output]:
    """The owners of memory whose place a continuous run gives: section 9 leaves them alone."""
    found: set[Output] = set()
    for node in graph.nodes:
        if node.lays_inputs or node.is_padded_input:
            found.update(origin(x) for x in node.inputs if x is not None)
        if node.marks.no_padding_output or node.is_padded_output:
            found.update(origin(x) for x in node.outputs)
            found.update(origin(x) for x in node.inputs if x is not None)
    return found


def _dies_here(node: Node, members: list[Output]) -> bool:
    """Whether nobody can read the memory once `node` runs: all other readers are earlier on its own stream."""
    for output in members:
        for reader, _ in output.consumers:
            if reader is node or reader.renames:
                continue
            if reader.type == "NetOutput" or reader.stream != node.stream or reader.id > node.id:
                return False
    return True


def _choose(
    node: Node, members: dict[Output, list[Output]], runs: set[Output], streams: int
) -> int | None:
    """The first input that the node may write over, None without one."""
    output = node.outputs[0]
    if streams > 1 and node.stream == NO_STREAM:
        return None
    for slot, source in enumerate(node.inputs):
        if source is None or source.value.type != output.value.type:
            continue
        owner = origin(source)
        if owner in runs or owner.stored != output.stored:
            continue
        if any(x.node.is_data or x.node.is_fixed for x in members[owner]):
            continue
        if _dies_here(node, members[owner]):
            return slot
    return None


def reuse_inputs(graph: MemoryGraph) -> int:
    """Let nodes write over inputs where that is safe, in the graph (`reuse_input` of the output's slot) and in the
    model; how many. Linear in nodes and edges; streams as nodes count for them."""
    members, runs = _members(graph), _in_runs(graph)
    count = 0
    for node in graph.nodes:
        if node.type not in IN_PLACE_TYPES or len(node.outputs) != 1 or node.outputs[0].source:
            continue
        if node.outputs[0] in runs or node.marks.no_reuse or node.outputs[0].stored <= 0:
            continue
        slot = _choose(node, members, runs, graph.streams)
        if slot is None:
            continue
        source, output = node.inputs[slot], node.outputs[0]
        assert source is not None
        set_slot_attr(node.op, "res", 0, "reuse_input", i64(slot))
        set_slot_attr(node.op, "res", 0, "in_place", UNIT)
        members[origin(source)] += members.pop(output)
        output.source = source
        count += 1
    return count
