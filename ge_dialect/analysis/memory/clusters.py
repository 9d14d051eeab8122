"""Outputs that lie at fixed distances from each other: what is placed as one piece.

References, runs without padding, padded runs and offset lists all say the same kind of thing, "this output starts so
many bytes behind that one" (spec/memory.md 6, 7.1 to 7.3). Collected in a union-find with distances, they give the
places that the reference finds by walking producers forwards and deferred nodes backwards, in one sweep and whatever
the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ge_dialect.analysis.memory.continuity import stride
from ge_dialect.analysis.memory.distances import Distances, extent, merged
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.analysis.sizes import aligned

DistanceRule = tuple[Output, Output, int, Node, bool]
"""From output, to output, bytes between their starts, the node that asks for it, whether by a padded run."""


@dataclass(slots=True, eq=False)
class Cluster:
    """Outputs with fixed distances. `places[i]` is the byte offset of `outputs[i]` from the lowest, `size` the bytes
    from there to the end of the last; `outputs` are in order of `uid`. `padded`: some padded run is part of it;
    `chained`: a padded output feeds a padded input of it (section 6.5)."""

    outputs: list[Output]
    places: list[int] = field(default_factory=list[int])
    size: int = 0
    padded: bool = False
    chained: bool = False

    @property
    def producers(self) -> list[Output]:
        """The outputs that write bytes: those that are nobody else's memory."""
        return [x for x in self.outputs if x.source is None]


def _inputs(node: Node, *, padded: bool) -> Iterator[DistanceRule]:
    own = node.outputs[0] if node.outputs else None
    base: Output | None = None
    at = 0
    for source in node.inputs:
        if source is None:
            continue
        listed = source.node.marks.output_list
        if listed is not None and not padded and own is not None:
            if source.index >= len(listed):
                raise source.node.error(f"lists no continuous offset for output {source.index}")
            yield own, source, listed[source.index], node, False
            continue
        if base is None:
            base = source
        else:
            yield base, source, at, node, padded
        at += stride(source, node, padded=padded)


def _outputs(node: Node, *, padded: bool) -> Iterator[DistanceRule]:
    if padded:
        references = sum(x.source is not None for x in node.outputs)
        if references == len(node.outputs):
            return
        if references:
            raise node.error("has continuous outputs of which only some are an input's memory")
    base = node.outputs[0] if padded else node.inputs[0] if node.inputs else None
    at = 0
    for output in node.outputs:
        listed = None if padded else _listed_input(output)
        if base is not None and listed is not None:
            yield base, output, listed, node, False
        elif base is None:
            base = output
        elif output is not base:
            yield base, output, at, node, padded
        if output.stored > 0:
            at += stride(output, node, padded=padded)


def _listed_input(output: Output) -> int | None:
    for consumer, slot in output.consumers:
        listed = consumer.marks.input_list
        if listed is None:
            continue
        if slot >= len(listed):
            raise consumer.error(f"lists no continuous offset for input {slot}")
        return listed[slot]
    return None


def is_split(node: Node) -> bool:
    """Whether the outputs are pieces of input 0; padded outputs are not, whatever else the node says (section 7.1)."""
    marks = node.marks
    return marks.no_padding_output and marks.output_reuse_input and not node.is_padded_output


def rules(node: Node) -> Iterator[DistanceRule]:
    """All distances that one node asks for: references first, then its outputs' run or its inputs', or the one place
    of what it merges."""
    splits = is_split(node)
    for output in node.outputs:
        if output.source is None or (splits and output.source is node.inputs[0]):
            continue
        if output.source.node.marks.output_list is not None and node.lays_inputs:
            continue  # the list says where input 0 lies
        yield output.source, output, 0, node, False
    if splits:
        yield from _outputs(node, padded=False)
    if node.is_padded_input:
        yield from _inputs(node, padded=True)
    elif node.lays_inputs:
        yield from _inputs(node, padded=False)
    if node.is_padded_output:
        yield from _outputs(node, padded=True)
    shared = merged(node)
    for source in shared[1:]:
        yield shared[0], source, 0, node, False


def tie(distances: Distances, rule: DistanceRule) -> None:
    """Take over one rule. Raises LayoutError, naming the node, when it cannot be had together with earlier ones."""
    first, second, distance, node, _ = rule
    reason = distances.tie(first, second, distance)
    if reason is not None:
        raise node.error(
            f"wants {second} {distance} bytes behind {first}, but {reason}: run ge-insert-identity before "
            "memory planning"
        )


def clusters(graph: MemoryGraph) -> list[Cluster]:
    """The clusters of a graph in order of their first output; an output without rules is one alone.

    Raises LayoutError for rules that contradict each other or would let two producers share bytes, naming the node
    and the outputs, and for strides of the producers' own in a chain of padded runs.
    """
    distances = Distances(graph)
    in_padded: list[int] = []
    for node in graph.nodes:
        for rule in rules(node):
            tie(distances, rule)
            if rule[4]:
                in_padded.append(rule[0].uid)
    padded = {distances.find(uid)[0] for uid in in_padded}
    found: dict[int, Cluster] = {}
    for output in graph.outputs:
        root, place = distances.find(output.uid)
        cluster = found.get(root)
        if cluster is None:
            cluster = found[root] = Cluster([], padded=root in padded)
        cluster.outputs.append(output)
        cluster.places.append(place)
    end_to_end = distances.end_to_end
    for cluster in found.values():
        lowest = min(cluster.places)
        if lowest:
            cluster.places = [place - lowest for place in cluster.places]
        cluster.size = max(
            place + (aligned(output.stored) if cluster.padded else extent(output, end_to_end))
            for output, place in zip(cluster.outputs, cluster.places, strict=True)
        )
        cluster.chained = cluster.padded and _is_chained(cluster)
        if cluster.chained:
            _refuse_fusion(cluster)
    return list(found.values())


def places_from(graph: MemoryGraph, anchor: Output, at: int) -> dict[int, int]:
    """The byte offsets, by `uid`, of all outputs whose place follows from `anchor` lying at `at` (section 7.3).

    Raises LayoutError for rules that contradict each other.
    """
    for cluster in clusters(graph):
        if anchor in cluster.outputs:
            start = at - cluster.places[cluster.outputs.index(anchor)]
            pairs = zip(cluster.outputs, cluster.places, strict=True)
            return {output.uid: start + place for output, place in pairs}
    raise ValueError(f"{anchor} is no output of the graph")


def _refuse_fusion(cluster: Cluster) -> None:
    """In a chain every output takes its aligned size: producers may not give strides (section 6.5)."""
    for output in cluster.producers:
        if output.node.marks.fusion_strides is not None:
            raise output.node.error(
                "gives strides of its own (_output_offset_for_buffer_fusion), but its outputs are part of continuous "
                "outputs that are continuous inputs"
            )


def _is_chained(cluster: Cluster) -> bool:
    """Whether a padded continuous output leads to a padded continuous input (section 6.5)."""
    return any(x.node.is_padded_output for x in cluster.outputs) and any(
        consumer.is_padded_input for x in cluster.outputs for consumer, _ in x.consumers
    )
