"""A model as stream assignment sees it: the nodes of each graph by number, their streams, their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.streams.engines import EngineTable
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import (
    ge_attr,
    get_flag,
    get_int,
    graphs,
    is_control,
    subgraph_names,
)
from ge_dialect.dialects.ge.graph import GateOp, GraphOp, TokenOp
from ge_dialect.dialects.ge.node import GeNode

NO_STREAM = -1
STREAM = "ge.stream"
NEXT_STREAM = "ge.next_stream"
LABEL, USER_LABEL = "_stream_label", "_user_stream_label"
LABEL_NODE = "_rts_label_node"
CLUSTER = "ge.cluster"


def has_ge_attr(op: Operation, name: str) -> bool:
    """Whether the source gave the node the attribute, whatever its value."""
    attrs = op.properties.get("attrs")
    return isinstance(attrs, DictionaryAttr) and name in attrs.data


def text_attr(op: Operation, name: str) -> str:
    """A string attribute of the source, "" without one."""
    if not has_ge_attr(op, name):
        return ""
    value = ge_attr(op, name)
    return value if isinstance(value, str) else ""


def stream_of(op: Operation) -> int:
    """The node's stream, -1 without one."""
    stream = get_int(op, STREAM, NO_STREAM)
    return NO_STREAM if stream is None else stream


def set_stream(op: Operation, stream: int) -> None:
    """Put the node on a stream; -1 takes it off."""
    if stream == NO_STREAM:
        op.attributes.pop(STREAM, None)
    else:
        op.attributes[STREAM] = i64(stream)


@dataclass(eq=False)
class GraphNodes:
    """The nodes of one graph in block order; a node's number is its id. Snapshot of the structure, not of streams."""

    graph: GraphOp
    nodes: list[Operation]
    owner: Operation | None = None
    parent: GraphNodes | None = None

    @cached_property
    def number(self) -> dict[Operation, int]:
        """The number of each node."""
        return {op: index for index, op in enumerate(self.nodes)}

    @property
    def is_unknown(self) -> bool:
        """Whether the graph has unknown shapes: the host schedules it."""
        return get_flag(self.graph, "ge.unknown_shape")

    @property
    def inherits_stream(self) -> bool:
        """Whether the nodes may run on the stream of the node that owns the graph (spec/streams.md section 2.0).

        So it is in a graph below another one whose shapes are known.
        """
        return self.parent is not None and not self.parent.is_unknown

    @property
    def has_owner_stream(self) -> bool:
        """Whether there is such a stream to run on: an owner in no engine sub-graph never gets one, and a label node
        only where its own graph has one to inherit. While engine sub-graphs are known only (`ge-cluster-engines`)."""
        if not self.inherits_stream or self.owner is None or self.parent is None:
            return False
        if has_ge_attr(self.owner, LABEL_NODE):
            return self.parent.has_owner_stream
        return CLUSTER in self.owner.attributes

    # --- edges -------------------------------------------------------------------------------------------------------

    @cached_property
    def sources(self) -> list[list[int]]:
        """The numbers of the nodes that each node waits for by data or control, each once, in order of edges."""
        number = self.number
        found: list[list[int]] = []
        for op in self.nodes:
            operands = op.operands
            if not operands:
                found.append([])
                continue
            seen: list[int] = []
            for operand in operands:
                if isinstance(operand, OpResult):
                    index = number.get(operand.op)
                    if index is not None:
                        seen.append(index)
                    elif isinstance(operand.op, TokenOp | GateOp):
                        seen += (number[source] for source in _through(operand, number))
            found.append(seen if len(seen) < 2 else list(dict.fromkeys(seen)))
        return found

    @cached_property
    def readers(self) -> list[list[int]]:
        """The numbers of the nodes that wait for each node, each once, ascending."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for index, sources in enumerate(self.sources):
            for source in sources:
                found[source].append(index)
        return found

    def data_sources(self, index: int) -> list[int]:
        """The numbers of the nodes that the node reads data of, one an edge."""
        found: list[int] = []
        for operand in self.nodes[index].operands:
            if not is_control(operand):
                found += (self.number[source] for source in _through(operand, self.number))
        return found

    # --- streams -----------------------------------------------------------------------------------------------------

    def streams(self) -> list[int]:
        """The stream of each node."""
        return [stream_of(op) for op in self.nodes]

    @property
    def first_new_stream(self) -> int:
        """The number of the first stream that a pass may make for the graph.

        Below another graph, 0 stands for the stream of the owning node until `ge-stream-number` puts it in.
        """
        return 0 if self.parent is None else 1

    @property
    def next_stream(self) -> int:
        """The next number for a stream of this graph."""
        number = get_int(self.graph, NEXT_STREAM)
        return self.first_new_stream if number is None else number

    @next_stream.setter
    def next_stream(self, value: int) -> None:
        self.graph.attributes[NEXT_STREAM] = i64(value)

    def new_stream(self) -> int:
        """A stream that nobody has yet."""
        number = self.next_stream
        self.next_stream = number + 1
        return number


def _through(value: SSAValue, number: dict[Operation, int]) -> Iterator[Operation]:
    """The nodes behind a value, through `ge.token` and `ge.gate`."""
    if not isinstance(value, OpResult):
        return
    if value.op in number:
        yield value.op
    elif isinstance(value.op, TokenOp | GateOp):
        for operand in value.op.operands:
            yield from _through(operand, number)


class StreamModel:
    """All graphs of a module, the root first, with who owns which, and the engines."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.graphs = [GraphNodes(graph, _nodes(graph)) for graph in graphs(module)]
        if len(self.graphs) > 1:
            self._find_owners()

    def _find_owners(self) -> None:
        table = {each.graph.sym_name.data: each for each in self.graphs[1:]}
        for each in self.graphs:
            for op in each.nodes:
                if "subgraphs" in op.properties:
                    for name in subgraph_names(op):
                        inner = table.get(name)
                        if inner is not None and inner.owner is None:
                            inner.owner, inner.parent = op, each

    @cached_property
    def engines(self) -> EngineTable:
        """The engine table."""
        return EngineTable(self.module)

    @property
    def root(self) -> GraphNodes | None:
        """The first graph, None for a module without graphs."""
        return self.graphs[0] if self.graphs else None

    @property
    def dynamic_graphs(self) -> Iterable[GraphNodes]:
        """The root and the graphs of unknown shape below it (spec/streams.md section 4.2)."""
        return (each for each in self.graphs if each is self.graphs[0] or each.is_unknown)


def _nodes(graph: GraphOp) -> list[Operation]:
    """The nodes that take part: those of `ge`, and of other dialects those that have been given an engine."""
    return [op for op in graph.block.ops if isinstance(op, GeNode) or "ge.engine" in op.attributes]
