"""A graph as a problem of ordering: its edges, and the pieces of the feature map with those who use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from xdsl.ir import Operation

from ge_dialect.analysis.memory.distances import interleaved
from ge_dialect.analysis.memory.marks import HBM
from ge_dialect.analysis.memory.model import MemoryGraph, Node, Output
from ge_dialect.analysis.ordering import OrderProblem, Overwrite, Unit
from ge_dialect.dialects.ge.access import slot_attrs, source_op, static_shape
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.kernels.in_place import in_place_inputs
from ge_dialect.transforms.memory.optimal.pieces import Piece, pieces_of
from ge_dialect.transforms.memory.optimal.plan import SearchOptions, best_plan
from ge_dialect.transforms.memory.reference.options import PlanOptions
from ge_dialect.transforms.memory.reference.plan import ask
from ge_dialect.transforms.memory.reference.requests import Request


def order_problem(
    graph: GraphOp, ops: Sequence[Operation], before: Sequence[Sequence[int]]
) -> OrderProblem:
    """The problem of a sorted graph of known shape with the ops `ops`, of which `before` says what precedes each.

    The pieces are those that `ge-plan-memory{mode=optimal}` packs for one stream, and what can be written in place is
    what it writes in place, so that the peak of an order is the lower bound that the planner then states for it.
    Model inputs and outputs that are not copied, constants and variables are no pieces.

    Raises LayoutError for runs that cannot be laid out.
    """
    place = {op: index for index, op in enumerate(ops)}
    after: list[list[int]] = [[] for _ in ops]
    for node, sources in enumerate(before):
        for source in sources:
            after[source].append(node)
    asked = ask(graph, PlanOptions(), one_queue=True)
    woven = set(interleaved(asked.graph))
    pooled = [x for x in asked.wanted.pool if x.space == HBM]
    pieces = [
        piece
        for request in pooled
        if not request.zero_copy
        for piece in pieces_of(request, woven)
        if piece.size > 0
    ]
    whole = _whole(pieces)
    gone = _in_outputs(asked.graph, pooled, whole)
    pieces = [piece for index, piece in enumerate(pieces) if index not in gone]
    units = [_unit(piece, place) for piece in pieces]
    return OrderProblem(len(ops), after, units, _overwrites(asked.graph, pieces, place))


def planned_bound(graph: GraphOp) -> int:
    """The lower bound that `ge-plan-memory` states for the graph in its order, bytes of the feature map."""
    return best_plan(graph, PlanOptions(), SearchOptions(budget_ms=0)).plan.bound.bytes


def _whole(pieces: Sequence[Piece]) -> dict[int, int]:
    """By `uid` of an output the piece that is its memory and no other producer's."""
    whole: dict[int, int] = {}
    for index, piece in enumerate(pieces):
        cluster = piece.request.cluster
        if cluster is not None and len(cluster.producers) == 1:
            whole.update((output.uid, index) for output in cluster.outputs)
    return whole


def _in_outputs(
    graph: MemoryGraph, pooled: Sequence[Request], whole: Mapping[int, int]
) -> set[int]:
    """The pieces that become part of a model output in any order, since the node that makes it must be their last
    reader. Looks at no more than twenty nodes for each node there is."""
    tail = {
        request.cluster.producers[0].uid
        for request in pooled
        if request.zero_copy and request.cluster is not None and not request.io_input
    }
    gone: set[int] = set()
    steps = 20 * len(graph.nodes)
    for node in reversed(graph.nodes):
        if len(node.outputs) != 1 or node.outputs[0].uid not in tail:
            continue
        for slot, source in enumerate(node.inputs):
            if source is None or source.source is not None or source.uid not in whole:
                continue
            if not _can_take(node, slot, source, node.outputs[0]):
                continue
            others = {reader.id for reader, _ in source.consumers if reader is not node}
            seen = _before(node, source.node.id, steps) if others else set[int]()
            steps -= len(seen)
            if others <= seen:
                gone.add(whole[source.uid])
                tail.add(source.uid)
                break
    return gone


def _before(node: Node, start: int, most: int) -> set[int]:
    """Ids above `start` of nodes that must come before a node; incomplete when there are more than `most`."""
    seen: set[int] = set()
    path = [node]
    while path and len(seen) < most:
        at = path.pop()
        for each in (*(source.node for source in at.inputs if source is not None), *at.before):
            if each.id > start and each.id not in seen:
                seen.add(each.id)
                path.append(each)
    return seen


def _unit(piece: Piece, place: Mapping[Operation, int]) -> Unit:
    users = sorted({place[node.op] for node in (*piece.writers, *_all_users(piece))})
    # Model inputs stay in front, whatever the order.
    early = not piece.request.pre or any(node.is_data for node in piece.writers)
    return Unit(piece.size, users, early, not piece.request.post)


def _overwrites(
    graph: MemoryGraph, pieces: Sequence[Piece], place: Mapping[Operation, int]
) -> dict[int, Overwrite]:
    """What nodes can write over where it dies; who is the last to use it is up to the order."""
    whole = _whole(pieces)
    found: dict[int, Overwrite] = {}
    for node in graph.nodes:
        if len(node.outputs) != 1 or node.marks.no_reuse or node.outputs[0].source is not None:
            continue
        output = node.outputs[0]
        if output.exact <= 0 or output.uid not in whole:
            continue
        size = pieces[whole[output.uid]].size
        over = [
            whole[source.uid]
            for slot, source in enumerate(node.inputs)
            if source is not None
            and source.uid in whole
            and pieces[whole[source.uid]].size == size
            and _can_take(node, slot, source, output)
        ]
        if over:
            found[place[node.op]] = Overwrite(size, list(dict.fromkeys(over)))
    return found


def _can_take(node: Node, slot: int, source: Output, output: Output) -> bool:
    """Whether the operator may write its output over an input: allowed, as many bytes and elements."""
    operator = source_op(node.op)
    if operator is None:
        allowed = in_place_inputs(node.type)
    else:
        allowed = in_place_inputs(operator.op, operator.domain)
    if slot not in allowed or source.exact != output.exact or source.stored != output.stored:
        return False
    if "type" in slot_attrs(node.op, "arg", slot).data:
        return False
    mine, theirs = static_shape(output.value.type), static_shape(source.value.type)
    return mine is not None and theirs is not None and prod(mine) == prod(theirs)


def _all_users(piece: Piece) -> Iterator[Node]:
    """Whoever writes or reads bytes of a piece: another order may make any of them the last, so that `piece.users`,
    the last in the given one, are not enough."""
    cluster = piece.request.cluster
    if cluster is None:
        yield piece.request.node
        return
    for output, place in zip(cluster.outputs, cluster.places, strict=True):
        if place < piece.offset + piece.size and piece.offset < place + max(output.exact, 1):
            for node in (output.node, *(consumer for consumer, _ in output.consumers)):
                if not node.renames:
                    yield node
