"""The reference's checks of a finished plan: spec/memory.md section 11, from the graph alone.

`check_layout` are 11.1 to 11.5 (continuous runs and references), `check_overlap` is 11.6. They follow the reference to
the letter; `ge_dialect.analysis.memory_check` is the stricter check of what the nodes do to the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ge_dialect.analysis.memory.clusters import is_split
from ge_dialect.analysis.memory.continuity import ZERO_MEMORY_TYPES, is_outside_pools, stride
from ge_dialect.analysis.memory.distances import (
    extent,
    feeds_no_padding,
    interleaved,
    origin,
)
from ge_dialect.analysis.memory.marks import NO_MARKS, Marks
from ge_dialect.analysis.memory.model import (
    NO_STREAM,
    LayoutError,
    MemoryGraph,
    Node,
    Output,
    memory_graph,
)
from ge_dialect.analysis.memory.reuse import Reuse
from ge_dialect.analysis.memory.streams import CLEAN_TYPES
from ge_dialect.analysis.memory_check import ByteOwners, arenas_of, place_of
from ge_dialect.dialects.engine_types import VARIABLE_TYPES
from ge_dialect.dialects.ge.access import get_int
from ge_dialect.dialects.ge.graph import GraphOp

Places = Mapping[int, tuple[str, int]]


# --- 11.1: attributes ----------------------------------------------------------------------------------------------


def check_marks(graph: MemoryGraph) -> Iterator[tuple[Node, str]]:
    """Nodes with contradictory attributes, and what contradicts what (11.1); to be asked before planning.

    A node without outputs passes: there is nothing to lay out.
    """
    for node in graph.nodes:
        if node.marks is NO_MARKS:
            continue
        if node.marks.no_padding_input and len(node.outputs) != 1 and node.outputs:
            yield node, f"has inputs without padding and {len(node.outputs)} outputs, not one"
        if node.marks.no_padding_output and len(node.inputs) != 1:
            yield node, f"has outputs without padding and {len(node.inputs)} inputs, not one"
        if node.is_no_padding_input:
            sources = [
                x.node.marks
                for x in node.inputs
                if x is not None and not x.node.is_no_padding_input
            ]
            yield from _lists(node, sources, inputs=True)
        if node.is_no_padding_output:
            readers = [
                consumer.marks
                for x in node.outputs
                for consumer, _ in x.consumers
                if not consumer.is_no_padding_output
            ]
            yield from _lists(node, readers, inputs=False)


def _lists(node: Node, marks: Sequence[Marks], *, inputs: bool) -> Iterator[tuple[Node, str]]:
    listed = [(x.output_list if inputs else x.input_list) is not None for x in marks]
    side = "inputs" if inputs else "outputs"
    if any(listed) and not all(listed):
        yield node, f"has {side} of which some have an offset list and some have none"
    if any(has and x.fusion_strides is not None for has, x in zip(listed, marks, strict=True)):
        yield node, f"has {side} of which some have an offset list and a fusion stride"


# --- 11.2 to 11.5: places ------------------------------------------------------------------------------------------


def _offset(output: Output, places: Places) -> int:
    return places.get(output.uid, ("", -1))[1]


def _has_memory(output: Output) -> bool:
    node = output.node
    if node.marks.in_buffer_pool or (node.type in ZERO_MEMORY_TYPES and not node.is_fixed):
        return False
    return output.stored > 0 and not is_outside_pools(output)


def _references(graph: MemoryGraph, places: Places) -> Iterator[str]:
    for output in graph.outputs:
        if not _has_memory(output):
            continue
        if _offset(output, places) < 0:
            yield f"{output} has no place"
        elif output.source is not None and not _is_elsewhere(output):
            if places.get(output.uid) != places.get(output.source.uid):
                yield f"{output} is not at the place of {output.source}, whose memory it is"


def _is_elsewhere(output: Output) -> bool:
    """Whether a reference is not at its input's place: a piece of a split, or a run whose inputs have offset lists."""
    if is_split(output.node):
        return True
    source = output.source
    return (
        source is not None and source.node.marks.output_list is not None and output.node.lays_inputs
    )


def _padded(node: Node, places: Places) -> Iterator[str]:
    for name, present, run in (
        ("inputs", node.is_padded_input, [x for x in node.inputs if x is not None]),
        ("outputs", node.is_padded_output, list(node.outputs)),
    ):
        if not present or (name == "outputs" and all(x.source is not None for x in run)):
            continue
        for first, second in pairwise(run):
            wanted = _offset(first, places) + stride(first, node, padded=True)
            if _offset(second, places) != wanted:
                yield (
                    f'{name} of "{node.name}": {second} is at {_offset(second, places)}, not at {wanted}, '
                    f"right behind {first}"
                )


def _no_padding_inputs(node: Node, places: Places) -> Iterator[str]:
    run = [x for x in node.inputs if x is not None]
    base = _offset(node.outputs[0], places) if node.outputs else None
    expected: int | None = None
    for source in run:
        at = _offset(source, places)
        listed = source.node.marks.output_list
        if listed is not None and base is not None:
            if source.index < len(listed) and at != base + listed[source.index]:
                yield f'inputs of "{node.name}": {source} is at {at}, its list says {base + listed[source.index]}'
            continue
        if expected is not None and at != expected:
            yield f'inputs of "{node.name}": {source} is at {at}, not at {expected}'
        if len(node.inputs) > 1:
            expected = at + stride(source, node, padded=False)


def _input_overflow(node: Node, places: Places) -> Iterator[str]:
    """The last real input of an outermost run must end inside the output."""
    if not node.outputs or any(x.is_no_padding_input for x, _ in node.outputs[0].consumers):
        return
    out = node.outputs[0]
    last = node.inputs[-1]
    while last is not None and last.node.is_no_padding_input:
        last = last.node.inputs[-1]
    if last is None:
        return
    end, room = _offset(last, places) + last.exact, _offset(out, places) + out.stored
    if end > room:
        yield f'inputs of "{node.name}" end at {end}, its output at {room}'


def _no_padding_outputs(node: Node, places: Places) -> Iterator[str]:
    source = node.inputs[0] if node.inputs else None
    if source is None:
        return
    base = expected = _offset(source, places)
    for output in node.outputs:
        if output.stored <= 0:
            continue
        at = _offset(output, places)
        listed = [
            consumer.marks.input_list[slot]
            for consumer, slot in output.consumers
            if consumer.marks.input_list is not None and slot < len(consumer.marks.input_list)
        ]
        if listed:
            for entry in listed:
                if at != base + entry:
                    yield f'outputs of "{node.name}": {output} is at {at}, a list says {base + entry}'
            continue
        if at != expected:
            yield f'outputs of "{node.name}": {output} is at {at}, not at {expected}'
        expected = at + stride(output, node, padded=False)


def _output_overflow(node: Node, places: Places) -> Iterator[str]:
    """The last output of an outermost split must end inside what is split."""
    source = node.inputs[0] if node.inputs else None
    if source is None or not node.outputs or source.node.is_no_padding_output:
        return
    at, last = node, node.outputs[-1]
    while nested := next((x for x, _ in last.consumers if x.is_no_padding_output), None):
        at, last = nested, nested.outputs[-1]
    end = _offset(last, places) + stride(last, at, padded=False)
    room = _offset(source, places) + source.stored
    if end > room:
        yield f'outputs of "{node.name}" end at {end}, what they are part of at {room}'


def _runs(graph: MemoryGraph, places: Places) -> Iterator[str]:
    for node in graph.nodes:
        if node.is_padded_input or node.is_padded_output:
            yield from _padded(node, places)
        if node.lays_inputs and not node.is_padded_input:
            yield from _no_padding_inputs(node, places)
        if node.is_no_padding_input and not node.is_padded_input:
            yield from _input_overflow(node, places)
        if node.is_no_padding_output and not node.is_padded_output:
            yield from _no_padding_outputs(node, places)
            yield from _output_overflow(node, places)


def _places(graph: MemoryGraph) -> dict[int, tuple[str, int]]:
    found: dict[int, tuple[str, int]] = {}
    for output in graph.outputs:
        place = place_of(output.node.op, output.index)
        if place is not None:
            found[output.uid] = place
    return found


def check_layout(graph: GraphOp) -> list[str]:
    """What is wrong with the runs and references of a planned graph: sections 11.1 to 11.5; nothing when all holds."""
    model = memory_graph(graph)
    places = _places(model)
    problems = [f'"{node.name}" {problem}' for node, problem in check_marks(model)]
    problems += _references(model, places)
    try:
        problems += _runs(model, places)
    except LayoutError as error:
        problems.append(str(error))
    return problems


# --- 11.6: overlap -------------------------------------------------------------------------------------------------


def _is_compared(output: Output) -> bool:
    node = output.node
    return not (
        node.marks.no_task
        or node.marks.in_buffer_pool
        or node.stream == NO_STREAM
        or node.type in ZERO_MEMORY_TYPES
        or node.type in VARIABLE_TYPES
        or node.type in CLEAN_TYPES
        or output.stored <= 0
        or is_outside_pools(output)
    )


def check_overlap(graph: GraphOp) -> list[str]:
    """Pairs of outputs that share bytes though neither may overwrite the other: section 11.6.

    Each output is compared with those whose bytes it takes over, which is enough as the relation is transitive.
    """
    model = memory_graph(graph)
    if not model.streams:
        for node in model.nodes:
            node.stream = 0
    reuse = Reuse(model)
    woven = interleaved(model)
    places = _places(model)
    end_to_end = feeds_no_padding(model)
    packed = {
        space: size - ((get_int(graph, "ge.zero_copy_size") or 0) if space == "hbm" else 0)
        for space, size in arenas_of(graph).items()
    }
    owners: dict[tuple[str, str], ByteOwners] = {}
    problems: list[str] = []
    for output in model.outputs:
        place = places.get(output.uid)
        if place is None or not _is_compared(output):
            continue
        space, start = place
        size = extent(output, end_to_end)
        if size <= 0 or start >= packed.get(space, 0):
            continue
        area = owners.setdefault((space, output.node.marks.batch), ByteOwners())
        for other in area.owners_of(start, start + size):
            assert isinstance(other, Output)
            if reuse.shares(output, other) or output is other:
                continue
            run = woven.get(origin(output).uid)
            if run is not None and run == woven.get(origin(other).uid):
                continue
            if not (reuse.can_reuse(output, other) or reuse.can_reuse(other, output)):
                problems.append(
                    f"{output} in {space}[{start}, {start + size}) overlaps {other}, and neither may "
                    "overwrite the other"
                )
        area.claim(start, start + size, output)
    return problems
