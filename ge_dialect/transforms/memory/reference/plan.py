"""The whole of `mode=reference`: analyse, assign, write the places onto the nodes.

Source: spec/memory.md section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from ge_dialect.analysis.memory.clusters import Cluster
from ge_dialect.analysis.memory.layout_check import check_marks
from ge_dialect.analysis.memory.marks import HBM, OUTSIDE
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output, memory_graph
from ge_dialect.analysis.memory.streams import StreamEdges, normalise, stream_edges
from ge_dialect.analysis.packing import Bound
from ge_dialect.analysis.sizes import aligned
from ge_dialect.dialects.attrs import i64_array
from ge_dialect.dialects.engine_types import VARIABLE_TYPES
from ge_dialect.dialects.ge.access import get_ints
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.transforms.memory.places import NO_MEMORY, VARIABLE, WEIGHT, write_places
from ge_dialect.transforms.memory.reference.assign import Assignment, assign
from ge_dialect.transforms.memory.reference.inplace import reuse_inputs
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.requests import Requests, requests


@dataclass(slots=True)
class Plan:
    """A finished plan: bytes of each space and of the zero-copy tail in `hbm`, bytes that no plan for the same requests
    can do without, with the name of the argument, and the places of all outputs (by `uid`: offset and space)."""

    graph: MemoryGraph
    wanted: Requests
    assignment: Assignment
    sizes: dict[str, int]
    zero_copy: int
    bound: Bound
    places: dict[int, tuple[int, str]]

    @property
    def peak(self) -> int:
        """Bytes of the feature map."""
        return self.sizes[HBM] - self.zero_copy


@dataclass(frozen=True, slots=True)
class Asked:
    """A graph, what orders its streams, and its requests for memory."""

    graph: MemoryGraph
    edges: StreamEdges
    wanted: Requests

    def again(self, options: PlanOptions) -> Asked:
        """The same graph after a change of what lies on what."""
        return Asked(self.graph, self.edges, requests(self.graph, self.edges, options))


def _lower_bound(wanted: Requests, length: int) -> int:
    """The most bytes of feature map in use at one node of the order: no plan needs less, however many streams."""
    change = [0] * (length + 1)
    for request in wanted.pool:
        if not request.zero_copy and request.space == HBM:
            change[request.first] += request.size
            change[request.last + 1] -= request.size
    most = live = 0
    for step in change:
        live += step
        most = max(most, live)
    return most


def atomic_bytes(wanted: Requests) -> int:
    """Bytes of the area in `hbm` that one central node zeroes."""
    by_batch: dict[str, int] = {}
    for request in wanted.atomic:
        if request.space == HBM:
            by_batch[request.batch] = by_batch.get(request.batch, 0) + request.size
    return max(by_batch.values(), default=0)


def _place(cluster: Cluster, at: int, space: str, places: dict[int, tuple[int, str]]) -> None:
    for output, place in zip(cluster.outputs, cluster.places, strict=True):
        if output.stored > 0:
            places[output.uid] = (at + place, space)


def make_plan(graph: GraphOp, options: PlanOptions) -> Plan:
    """The reference's plan for a graph whose types are all static. Changes nothing but, with the option `inplace`,
    which outputs are an input's memory.

    Raises LayoutError for runs that cannot be laid out.
    """
    asked = ask(graph, options)
    return finish(asked, assign(asked.wanted, asked.edges, options))


def ask(graph: GraphOp, options: PlanOptions, *, one_queue: bool = False) -> Asked:
    """What the graph asks for. `one_queue`: a graph without any stream is taken for one that a single stream runs.

    Raises LayoutError for attributes that contradict each other (section 11.1) and runs that cannot be laid out.
    """
    found = memory_graph(graph)
    if one_queue and found.streams == 0:
        found.streams = 1
        for node in found.nodes:
            node.stream = 0
    for node, problem in check_marks(found):
        raise node.error(problem)
    normalise(found)
    if options.inplace:
        reuse_inputs(found)
    edges = stream_edges(found)
    return Asked(found, edges, requests(found, edges, options))


def finish(asked: Asked, assignment: Assignment, bound: Bound | None = None) -> Plan:
    """The plan that an assignment of the requests gives. `bound` is of what lies in `hbm` without tail and zeroed area;
    None: the most alive in the order of nodes."""
    found, wanted = asked.graph, asked.wanted
    sizes = {HBM: 0, WEIGHT: 0, **assignment.sizes}
    places: dict[int, tuple[int, str]] = {}
    for request in (*wanted.pool, *wanted.atomic):
        if request.cluster is not None:
            _place(request.cluster, assignment.offsets[id(request)], request.space, places)
    for cluster in wanted.fixed:
        constant = any(x.node.type not in VARIABLE_TYPES for x in cluster.producers)
        space = WEIGHT if constant else VARIABLE
        at = sizes.get(space, 0)
        _place(cluster, at, space, places)
        sizes[space] = at + aligned(cluster.size)
    if bound is None:
        kind = "max live" if found.streams <= 1 else "max live in one order"
        bound = Bound(_lower_bound(wanted, len(found.nodes)), kind)
    bound = Bound(bound.bytes + atomic_bytes(wanted), bound.kind)
    return Plan(found, wanted, assignment, sizes, assignment.zero_copy, bound, places)


def write_plan(plan: Plan) -> None:
    """Put the places on the nodes. An output outside every pool (L1, UB) keeps the offset that it came with."""
    scratch: dict[Node, dict[int, int]] = {}
    for request in plan.wanted.pool:
        if request.cluster is None:
            # A workspace of no bytes is nowhere, which any place is.
            offset = plan.assignment.offsets[id(request)] if request.size else 0
            scratch.setdefault(request.node, {})[request.workspace] = offset
    for node in plan.graph.nodes:
        if node.outputs:
            kept = get_ints(node.op, "ge.offsets") or []
            write_places(node.op, [_found(plan, x, kept) for x in node.outputs])
        if (offsets := scratch.get(node)) is not None:
            node.op.attributes["ge.workspace_offsets"] = i64_array(
                [offsets[index] for index in range(len(offsets))]
            )


def _found(plan: Plan, output: Output, kept: list[int]) -> tuple[int, str]:
    place = plan.places.get(output.uid)
    if place is not None:
        return place
    types = output.node.marks.output_types
    space = OUTSIDE.get(types[output.index]) if output.index < len(types) else None
    if space is not None and output.index < len(kept):
        return kept[output.index], space
    return NO_MEMORY, HBM
