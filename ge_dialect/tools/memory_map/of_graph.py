"""The map of a graph that `ge-plan-memory` has planned."""

from __future__ import annotations

from ge_dialect.analysis.memory.distances import interleaved
from ge_dialect.analysis.memory.model import Node
from ge_dialect.analysis.memory_check import arenas_of, place_of
from ge_dialect.dialects.ge.access import get_int, get_ints, get_text
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.location import location_text
from ge_dialect.formats.errors import GeError
from ge_dialect.tools.memory_map.model import MapBuffer, MemoryMap, Role
from ge_dialect.transforms.memory.optimal.pieces import Piece, pieces_of
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import ask
from ge_dialect.transforms.memory.reference.requests import Request

OWN_SPACES = frozenset({"weight", "var"})
"""Spaces in which nothing is ever reused: there is nothing to see."""


def is_planned(graph: GraphOp) -> bool:
    """Whether a graph has a memory plan."""
    return "ge.arenas" in graph.attributes


def maps_of_graph(graph: GraphOp) -> list[MemoryMap]:
    """The maps of all spaces in which memory is reused, in the order of the plan. Raises GeError without a plan."""
    if not is_planned(graph):
        name = graph.sym_name.data
        raise GeError(
            f'graph "{name}" has no memory plan: run ge-plan-memory', location_text(graph)
        )
    spaces = [space for space in arenas_of(graph) if space not in OWN_SPACES]
    return [map_of_graph(graph, space) for space in spaces]


def map_of_graph(graph: GraphOp, space: str = "hbm") -> MemoryMap:
    """What lies in one memory space of a planned graph; time is the number of the node in the order of issue.

    A rectangle is a piece of memory that is written as one: an output with all that is written over it or sees it
    under another name, a member of a run that a node without task lays out, a workspace. Raises GeError when the graph
    has no plan for the space.
    """
    name = graph.sym_name.data
    arenas = arenas_of(graph)
    if space not in arenas:
        raise GeError(f'graph "{name}" has no memory plan for {space}', location_text(graph))
    asked = ask(graph, PlanOptions(), one_queue=True)
    woven = set(interleaved(asked.graph))
    last = len(asked.graph.nodes)
    buffers: list[MapBuffer] = []
    for request in (*asked.wanted.pool, *asked.wanted.atomic):
        if request.space != space:
            continue
        base = _base(request)
        if base is not None:
            pieces = pieces_of(request, woven)
            buffers += [_buffer(piece, base, last) for piece in pieces if piece.size > 0]
    top = arenas[space]
    main = space == "hbm"
    peak = top - (get_int(graph, "ge.zero_copy_size", 0) or 0) if main else top
    bound = (get_int(graph, "ge.lower_bound_bytes", 0) or 0) if main else 0
    kind = get_text(graph, "ge.lower_bound_kind") or "max live"
    return MemoryMap(name, buffers, peak, bound, kind, "node", space, top)


def _base(request: Request) -> int | None:
    """Where a request's memory begins, None when it has no place."""
    cluster = request.cluster
    if cluster is None:
        offsets = get_ints(request.node.op, "ge.workspace_offsets") or []
        return offsets[request.workspace] if request.workspace < len(offsets) else None
    for output, place in zip(cluster.outputs, cluster.places, strict=True):
        found = place_of(output.node.op, output.index)
        if found is not None:
            return found[1] - place
    return None


def _buffer(piece: Piece, base: int, last: int) -> MapBuffer:
    writer = min(piece.writers, key=lambda node: node.id)
    start = min(node.id for node in (*piece.writers, *piece.users))
    end = 1 + max(node.id for node in (*piece.writers, *piece.users))
    role = _role(piece)
    if role is Role.INPUT:
        start = 0
    if role is Role.OUTPUT:
        end = last
    return MapBuffer(
        _name(piece, writer), start, end, piece.size, base + piece.offset, writer.type, role
    )


def _role(piece: Piece) -> Role:
    if piece.request.cluster is None:
        return Role.WORKSPACE
    if piece.request.io_input:
        return Role.INPUT
    return Role.OUTPUT if piece.request.zero_copy else Role.FEATURE


def _name(piece: Piece, writer: Node) -> str:
    cluster = piece.request.cluster
    if cluster is None:
        return f"{writer.name} workspace {piece.request.workspace}"
    index = next((x.index for x in cluster.producers if x.node is writer), 0)
    over = sum(node.outputs != [] for node in _overwriters(piece))
    return f"{writer.name}:{index}" + (f" and {over} written over it" if over else "")


def _overwriters(piece: Piece) -> list[Node]:
    """Nodes that write into a piece without being its first writer."""
    cluster = piece.request.cluster
    assert cluster is not None
    found = [
        output.node
        for output, place in zip(cluster.outputs, cluster.places, strict=True)
        if output.source is not None
        and not output.node.moves_nothing
        and piece.offset <= place < piece.offset + piece.size
        and output.node not in piece.writers
    ]
    return list(dict.fromkeys(found))
