"""What asks for memory, and from when to when it is needed.

Source: spec/memory.md sections 3, 5.3, 5.4, 6.4 and 8.3. Times are node ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Attribute, SSAValue

from ge_dialect.analysis.memory.clusters import Cluster, clusters
from ge_dialect.analysis.memory.continuity import (
    ZERO_MEMORY_TYPES,
    continuous_consumer,
    is_cleaned_separately,
    is_outside_pools,
)
from ge_dialect.analysis.memory.marks import HBM, SPACES, highest_type
from ge_dialect.analysis.memory.model import NO_STREAM, MemoryGraph, Node, Output
from ge_dialect.analysis.memory.refresh import input_refuses_refresh, refuses_refresh
from ge_dialect.analysis.memory.streams import CLEAN_TYPES, MERGE_TYPES, StreamEdges
from ge_dialect.analysis.sizes import aligned
from ge_dialect.dialects.ge.access import ge_attr
from ge_dialect.dialects.ge.nodes import DataOp
from ge_dialect.dialects.ge.types import ResourceType, VariantType
from ge_dialect.transforms.memory.reference.options import PlanOptions

MIN = 0
"""Begin of what no earlier memory may be used for. The reference says 1, where ids start at 0 as well: a node 0 that
is no input would then come before it."""

PARENT_SLOT = "ge.parent_node_index"
"""Graph inputs that have it stand for an input of a call: the graph is the known part of a dynamic one (8.3)."""

MAX = 0xFFFFFFFF
"""End of what is never given on."""

_NO_PRE = frozenset(
    """Data AippData AnnData QueueData Proposal Const Constant GetNext AdpGetNext DynamicGetNext DropOutGenMask
    RefData""".split()
)
_NO_POST = frozenset(
    """Data AippData QueueData Enter RefEnter NextIteration RefNextIteration RefData GetNext AdpGetNext DynamicGetNext
    DropOutGenMask""".split()
)


def _plain_type(kind: str) -> str:
    """A type without its version suffix V1 to V4 (section 3.1)."""
    return kind[:-2] if kind[-2:] in ("V1", "V2", "V3", "V4") else kind


@dataclass(slots=True, eq=False)
class Request:
    """One piece of memory: a cluster's, or workspace `workspace` of `node`.

    `size`: bytes in whole blocks; `exact`: without rounding to them. `begin`/`end`: ids as the own `stream` knows
    them; `ends`: those that another stream knows better; `same_stream` false: several streams read it and some do not
    come back. `at`: the node that asks; `freed`: the node after which it is given back; `slot`: the input slot of
    `freed` through which, -1 when it goes before the next node asks for anything. `first`/`last`: the nodes between
    which it holds something for certain, for lower bounds. `pre`/`post`: whether it may be taken from something that
    died earlier, and given to something later (section 3.1).
    """

    node: Node
    size: int
    exact: int
    begin: int
    end: int
    stream: int
    at: int
    freed: int
    slot: int
    first: int
    last: int
    cluster: Cluster | None = None
    workspace: int = 0
    space: str = HBM
    batch: str = ""
    ends: dict[int, int] = field(default_factory=dict[int, int])
    same_stream: bool = True
    reusable: bool = True
    cross_stream_first: bool = False
    zero_copy: bool = False
    refreshable: bool = True
    io_input: bool = False
    zeroed: bool = False
    pre: bool = True
    post: bool = True

    @property
    def continuous(self) -> bool:
        """Whether the memory is a padded run."""
        return self.cluster is not None and self.cluster.padded

    @property
    def placed_last(self) -> bool:
        """Whether the memory is made of the blocks of several producers, which are put behind all others once they are
        packed: padded inputs (section 6.7). Padded outputs, and inputs of which only the first has a block, are one
        block at its own place in the list (sections 6.5 and 6.6)."""
        cluster = self.cluster
        if cluster is None or not cluster.padded:
            return False
        return not any(
            x.node.is_padded_output
            or x.node.marks.fusion_strides is not None
            or any(is_cleaned_separately(consumer) for consumer, _ in x.consumers)
            for x in cluster.outputs
        )

    def end_on(self, stream: int) -> int:
        """When its last use is over as `stream` sees it."""
        return self.ends.get(stream, self.end)


@dataclass(slots=True)
class Requests:
    """All that asks for memory, in order: `pool` from the pools, `atomic` in an area that is zeroed centrally, `fixed`
    in the spaces of constants and variables. `last_clean`: the id of the last node that zeroes centrally, -1 for none.
    """

    pool: list[Request]
    atomic: list[Request]
    fixed: list[Cluster]
    last_clean: int = -1


class _Maker:
    def __init__(self, graph: MemoryGraph, edges: StreamEdges, options: PlanOptions) -> None:
        self.graph = graph
        self.edges = edges
        self.options = options
        self.last = max(0, len(graph.nodes) - 1)
        self.handles: dict[Node, bool] = {}
        self.merged = _merge_groups(graph)
        self.input_numbers = _input_numbers(graph)
        self.is_part = any(x.is_data and PARENT_SLOT in x.op.attributes for x in graph.nodes)

    def cluster(self, cluster: Cluster) -> Request | None:
        """The request of a cluster, None when it needs no pool memory."""
        producers = [x for x in cluster.producers if x.stored > 0 and not is_outside_pools(x)]
        if not producers:
            return None
        place = dict(zip(cluster.outputs, cluster.places, strict=True))
        owner = min(producers, key=lambda x: (place[x], x.uid))
        node = owner.node
        request = Request(
            node,
            aligned(cluster.size),
            cluster.size,
            MIN,
            MAX,
            node.stream,
            owner.node.id,
            owner.node.id,
            -1,
            min(x.node.id for x in producers),
            self.last,
            cluster,
            space=_space(cluster),
            batch=node.marks.batch,
        )
        self._live(request, cluster, producers)
        self._rules(request, cluster)
        return request

    def _live(self, request: Request, cluster: Cluster, producers: list[Output]) -> None:
        """Begin, end and release from the ids of those who write and read."""
        stream = request.stream
        request.begin = min(self._begin(x.node, stream) for x in producers)
        users: list[Node] = [x.node for x in producers]
        for output in cluster.outputs:
            for consumer, slot in output.consumers:
                if consumer.renames and any(x.consumers for x in consumer.outputs):
                    continue  # whoever reads its outputs uses the memory later
                users.append(consumer)
                if (consumer.id, slot) > (request.freed, request.slot):
                    request.freed, request.slot = consumer.id, slot
        request.last = max(x.id for x in users)
        request.end = max(self._end(x, stream) for x in users)
        if request.end < MAX:
            return
        readers = {x.stream for x in users[len(producers) :]}
        writers = {x.node.stream for x in producers}
        if len(readers) == 1 and writers == {stream} and NO_STREAM not in readers:
            request.ends[readers.pop()] = request.last
        else:
            request.same_stream = False

    def _begin(self, node: Node, stream: int) -> int:
        if node.stream == stream:
            return node.id
        return max(MIN, self.edges.known(node.stream, stream, node.id))

    def _end(self, node: Node, stream: int) -> int:
        """When a use by `node` is over as `stream` knows it."""
        if node.stream == stream:
            return node.id
        if node.stream == NO_STREAM:
            return MAX
        peer = self.edges.returns(node.stream, stream, node.id)
        return MAX if peer is None else peer

    def _rules(self, request: Request, cluster: Cluster) -> None:
        """What forbids reuse: section 3.1, and zero copy, section 8.3."""
        pre = post = request.stream != NO_STREAM
        reached = 0
        accepts = True
        for output in cluster.outputs:
            node = output.node
            kind = _plain_type(node.type)
            pre &= kind not in _NO_PRE
            if node.is_data:
                request.io_input = True
                post &= self.input_numbers[node] in self.options.reusable_inputs
            else:
                post &= kind not in _NO_POST
            if _is_iterator(node):
                pre = post = False
            if len(node.outputs) > 1:
                if node not in self.handles:  # its other outputs ask too
                    self.handles[node] = _holds_handles(node)
                post &= not self.handles[node]
            else:
                post &= not _holds_handles(node)
            if node.marks.no_reuse or output.uid in self.merged:
                pre = post = False
            accepts &= not refuses_refresh(node)
            request.refreshable &= not (
                node.marks.no_padding_output and node.marks.output_reuse_input
            )
            for consumer, slot in output.consumers:
                accepts &= not input_refuses_refresh(consumer, slot)
                if consumer.type == "NetOutput":
                    reached += 1
                    post = False
                    pre &= self.is_part or slot in self.options.reusable_outputs
                    request.last = self.last
        if cluster.chained:
            pre = post = False
        is_boundary = (request.io_input and len(cluster.producers) == 1) or (
            not request.io_input and (reached == 1 or (self.is_part and reached > 0))
        )
        request.zero_copy = (
            request.space == HBM
            and (accepts or self.is_part)
            and not cluster.padded
            and is_boundary
        )
        request.refreshable &= accepts
        self._close(request, pre, post)

    def _close(self, request: Request, pre: bool, post: bool) -> None:
        request.pre, request.post = pre and self.options.reuse, post and self.options.reuse
        request.reusable = self.options.reuse and (pre or post)
        if not pre:
            request.begin = MIN
        if not post:
            request.end = MAX
            request.ends.clear()
        if not self.options.reuse:
            request.begin, request.end = MIN, MAX

    def workspaces(self, node: Node) -> Iterator[Request]:
        """The requests of a node's workspaces: needed while it runs."""
        flags = node.marks.workspace_reuse
        for index, size in enumerate(node.workspaces):
            request = Request(
                node,
                aligned(size),
                size,
                node.id,
                node.id,
                node.stream,
                node.id,
                node.id,
                -1,
                node.id,
                node.id,
                workspace=index,
                batch=node.marks.batch,
            )
            kept = flags is not None and index < len(flags) and not flags[index]
            free = node.stream != NO_STREAM and not node.marks.no_reuse and not kept
            self._close(request, free, free)
            yield request

    def is_atomic(self, cluster: Cluster, request: Request) -> bool:
        """Whether the memory is zeroed by one central node before the graph runs (section 6, step 4)."""
        if request.zero_copy or cluster.padded or request.io_input:
            return False
        return any(
            x.index in x.node.marks.atomic_outputs
            and x.node.marks.is_atomic
            and not x.node.marks.zeroes_itself
            and not _is_in_run(x)
            for x in cluster.producers
        )


def _is_in_run(output: Output) -> bool:
    """Whether the output is part of continuous outputs or leads to continuous inputs."""
    node = output.node
    return (
        node.is_padded_output
        or node.is_no_padding_output
        or any(continuous_consumer(x, slot) is not None for x, slot in output.consumers)
    )


def _is_iterator(node: Node) -> bool:
    """Whether the node is another framework's iterator, which keeps what it made (section 3.1)."""
    return node.type == "FrameworkOp" and ge_attr(node.op, "original_type") == "IteratorV2"


def _is_handle(value: SSAValue) -> bool:
    kind = value.type
    return isinstance(kind, TensorType) and isinstance(
        cast("TensorType[Attribute]", kind).element_type, ResourceType | VariantType
    )


def _holds_handles(node: Node) -> bool:
    """Whether something the node reads or writes is a handle, whose memory is never released (section 3.1)."""
    return any(map(_is_handle, node.op.operands)) or any(map(_is_handle, node.op.results))


def _space(cluster: Cluster) -> str:
    """The pool of a cluster: by its numerically largest memory type (section 1.4)."""
    types: list[int] = []
    for output in cluster.outputs:
        own = output.node.marks.output_types
        types += own[output.index : output.index + 1]
        for consumer, slot in output.consumers:
            types += consumer.marks.input_types[slot : slot + 1]
    return SPACES.get(highest_type(types), HBM) if types else HBM


def _merge_groups(graph: MemoryGraph) -> set[int]:
    """`uid`s of outputs that feed a merge from different streams: they take part in no reuse (section 5.5)."""
    found: set[int] = set()
    for node in graph.nodes:
        if node.type not in MERGE_TYPES:
            continue
        sources = [x for x in node.inputs if x is not None]
        if len({x.node.stream for x in sources}) > 1:
            found.update(x.uid for x in sources)
    return found


def _input_numbers(graph: MemoryGraph) -> dict[Node, int]:
    numbers: dict[Node, int] = {}
    for node in graph.nodes:
        if node.is_data:
            index = node.op.index if isinstance(node.op, DataOp) else None
            numbers[node] = index.value.data if isinstance(index, IntegerAttr) else len(numbers)
    return numbers


def _mark_cross_stream(graph: MemoryGraph) -> set[int]:
    """Ids of nodes whose only way leaves their stream and comes back through more than one node (section 5.2)."""
    found: set[int] = set()
    for node in graph.nodes:
        at, foreign = node, 0
        while foreign < 100:
            consumers = [x for output in at.outputs for x, _ in output.consumers]
            if len(consumers) != 1:
                break
            at = consumers[0]
            if at.stream == node.stream:
                if foreign > 1:
                    found.add(node.id)
                break
            foreign += 1
    return found


def _has_no_pool(node: Node) -> bool:
    return node.type in ZERO_MEMORY_TYPES or node.marks.in_buffer_pool


def requests(
    graph: MemoryGraph,
    edges: StreamEdges,
    options: PlanOptions,
    found: Iterable[Cluster] | None = None,
) -> Requests:
    """What the graph asks for. Raises LayoutError for runs that cannot be laid out. Linear in nodes and edges."""
    maker = _Maker(graph, edges, options)
    made = Requests([], [], [])
    made.last_clean = max((x.id for x in graph.nodes if x.type in CLEAN_TYPES), default=-1)
    several = graph.streams > 1
    crossing = _mark_cross_stream(graph) if several else set[int]()
    for cluster in clusters(graph) if found is None else found:
        if any(x.node.is_fixed for x in cluster.producers):
            made.fixed.append(cluster)
            continue
        if any(_has_no_pool(x.node) for x in cluster.producers):
            continue
        request = maker.cluster(cluster)
        if request is None:
            continue
        request.cross_stream_first = request.node.id in crossing
        if maker.is_atomic(cluster, request):
            request.zeroed = True
            made.atomic.append(request)
        else:
            made.pool.append(request)
    for node in graph.nodes:
        if node.workspaces:
            made.pool.extend(maker.workspaces(node))
    # Outputs first, then workspaces, node by node: the order in which the reference asks.
    made.pool.sort(key=lambda x: (x.at, x.cluster is None))
    return made
