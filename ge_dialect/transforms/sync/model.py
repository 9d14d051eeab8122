"""One look at a model for the passes that synchronise its streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.attached import attached_streams, has_attached_info
from ge_dialect.analysis.marks import flag
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.analysis.neighbours import out_nodes
from ge_dialect.analysis.order import positions
from ge_dialect.analysis.streams.host_streams import has_host_streams
from ge_dialect.analysis.walk import NO_NODES, walk_nodes
from ge_dialect.dialects.attrs import i64, string_attr
from ge_dialect.dialects.ge.access import ge_attr, get_int, node_name
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.ge.nodes import NODE_OF_TYPE
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import Status, StreamError

NO_STREAM = -1
STREAM, STREAM_NUM = "ge.stream", "ge.stream_num"
EVENT_NUM, NOTIFY_NUM = "ge.event_num", "ge.notify_num"
LABEL, ACTIVE_LABELS, ACTIVE_STREAMS = "_stream_label", "_active_label_list", "active_stream_list"
FIRST_ACTIVE, LOOP_ACTIVE = "subgraph_first_active", "is_loop_active"
SWITCH_BRANCH = "_switch_branch_node_label"


INTERNAL = "E19999"
"""GE's code for what a user cannot mend by an option (spec/streams.md section 13)."""


class SyncError(StreamError):
    """Streams cannot be synchronised: what is wrong, at which node."""


def sync_error(
    op: Operation, problem: str, status: Status = "FAILED", *, code: str | None = None
) -> SyncError:
    """The error about one node, with its name and place; `code` where GE reports one (`INTERNAL`)."""
    return SyncError(
        f'node "{node_name(op)}" {problem}', location_text(op), code=code, status=status
    )


def stream_of(op: Operation) -> int:
    """The node's stream, -1 without one."""
    stream = get_int(op, STREAM, NO_STREAM)
    return NO_STREAM if stream is None else stream


def label_of(op: Operation) -> str:
    """The node's stream label, "" without one."""
    if "attrs" not in op.properties:
        return ""
    return ge_attr(op, LABEL, "")


def texts(op: Operation, name: str) -> list[str]:
    """A list-of-strings attribute of the source, empty when it is not there."""
    return list(ge_attr(op, name, ()))


def is_set(op: Operation, name: str) -> bool:
    """Whether a boolean attribute of the source is there and true."""
    return "attrs" in op.properties and ge_attr(op, name, False) is True


def by_name(op: Operation, graph: GraphOp) -> tuple[bytes, bytes]:
    """The key of GE's maps of nodes: bytes of the name, then of the graph's (spec/streams.md section 1.1)."""
    return node_name(op).encode(), graph.sym_name.data.encode()


@dataclass(frozen=True)
class SyncModel:
    """The nodes of a model in GE's walk order, with their graphs and places.

    `place` numbers all ops of each graph by block position: GE's ids, as far as sync rules compare them (they only do
    inside one graph). Snapshot: build a new one after nodes were inserted.
    """

    module: ModuleOp
    graphs: ModelGraphs
    nodes: Sequence[Operation]
    graph_of: dict[Operation, GraphOp]
    place: dict[Operation, int]

    @classmethod
    def of(cls, module: ModuleOp) -> SyncModel | None:
        """The model in `module`; None when it has no graph, or its streams are those of the host
        (ge-assign-host-streams). A root graph of unknown shape counts without the graphs below it."""
        model = ModelGraphs.of(module)
        if model.root is None or has_host_streams(model.root):
            return None
        if len(model.graphs) == 1:
            # Most models, and large ones: no walk from graph to graph.
            ops = tuple(model.root.block.ops)
            nodes = tuple(op for op in ops if not isinstance(op, NO_NODES))
            place = dict(zip(ops, range(len(ops)), strict=True))
            return cls(module, model, nodes, dict.fromkeys(nodes, model.root), place)
        shallow = flag(model.root, "_graph_unknown_flag")
        walked = walk_nodes(module, (lambda _: False) if shallow else None)
        graph_of = dict(walked)
        place = dict[Operation, int]()
        for graph in model.graphs:
            place.update(positions(graph))
        return cls(module, model, tuple(graph_of), graph_of, place)

    @property
    def root(self) -> GraphOp:
        """The first graph."""
        return self.graphs.graphs[0]

    @property
    def subgraphs(self) -> Sequence[GraphOp]:
        """All graphs but the root, in list order."""
        return self.graphs.graphs[1:]

    def out_nodes(self, op: Operation) -> Iterator[Operation]:
        """Who waits for the node, one node an edge (`analysis.neighbours`)."""
        return out_nodes(op, self.place)

    def direct_nodes(self, graph: GraphOp) -> Iterator[Operation]:
        """The nodes of one graph in block order."""
        return (op for op in graph.block.ops if isinstance(op, GeNode))

    @property
    def streams(self) -> int:
        """The number of streams: `ge.stream_num`, but at least what the nodes use."""
        used = NO_STREAM
        for op in self.nodes:
            used = max(used, stream_of(op))
            if has_attached_info(op):
                used = max(used, *attached_streams(op), used)
        return max(get_int(self.root, STREAM_NUM, 0) or 0, used + 1)

    def set_count(self, name: str, value: int) -> None:
        """Set one of the root graph's counters."""
        self.root.attributes[name] = i64(value)

    def by_stream(self) -> list[tuple[int, list[Operation]]]:
        """The nodes of each main stream (-1 is one too) in walk order, streams ascending."""
        found: dict[int, list[Operation]] = {}
        for op in self.nodes:
            found.setdefault(stream_of(op), []).append(op)
        return sorted(found.items())


def make_node(kind: str, name: str, stream: int) -> GeNode:
    """A node of type `kind` without edges, on `stream`."""
    return NODE_OF_TYPE[kind].make(attributes={"ge.name": string_attr(name), STREAM: i64(stream)})
