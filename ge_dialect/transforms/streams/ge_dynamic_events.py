"""Pass `ge-dynamic-events`: who waits for whom between the streams of a model of unknown shape."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from ge_dialect.analysis.neighbours import out_nodes
from ge_dialect.analysis.order import positions
from ge_dialect.analysis.streams.nodes import (
    NO_STREAM,
    GraphNodes,
    StreamModel,
    has_ge_attr,
    stream_of,
)
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import node_name, set_ge_attr
from ge_dialect.dialects.ge.graph import GraphOp
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.stream_pass import StreamPass
from ge_dialect.transforms.sync.events import Events
from ge_dialect.transforms.sync.model import EVENT_NUM, by_name
from ge_dialect.transforms.sync.optimization import optimize_by_recv, optimize_by_send

SEND_IDS, RECV_IDS = "_send_event_ids", "_recv_event_ids"


@dataclass(frozen=True)
class GeDynamicEvents(StreamPass):
    """Note on the nodes which events they send and receive: one for each edge between two streams.

    Expects final streams (ge-stream-dynamic-refresh or ge-stream-dynamic-compact). Serves the root graph and the graphs
    of unknown shape below it; there are no events across graphs and no nodes for them. Events that an earlier wait of
    the same stream, or a later send to the same node, makes needless are dropped, the rest is numbered by the names of
    the senders (spec/streams.md section 4.5). Guarantees afterwards: the GE attributes `_send_event_ids` and
    `_recv_event_ids` on nodes that have any, `ge.event_num` on the root graph.

    Raises StreamError (E19999), naming the node, for one without stream on an edge to or from one that has a stream.

    Before and after:

        %a = ge.op "GetNext" () {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
        %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>

        %a = ge.op "GetNext" () attrs {_send_event_ids = array<i64: 0>} {ge.name = "a", ge.stream = 1 : i64}
            : tensor<2xf32>
        %b = ge.op "Relu" (%a) attrs {_recv_event_ids = array<i64: 0>} {ge.name = "b", ge.stream = 0 : i64}
            : tensor<2xf32>
    """

    name = "ge-dynamic-events"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        events = Events()
        graph_of: dict[Operation, GraphOp] = {}
        queues: dict[int, list[Operation]] = {}
        for view in model.dynamic_graphs:
            _insert(view, events)
            for op in view.nodes:
                graph_of[op] = view.graph
                queues.setdefault(stream_of(op), []).append(op)
        streams = [queues[stream] for stream in sorted(queues)]
        optimize_by_send(streams, events)
        optimize_by_recv(streams, events)
        numbers: dict[int, int] = {}
        for op in sorted(events.send, key=lambda op: by_name(op, graph_of[op])):
            for event in events.send[op]:
                numbers.setdefault(event, len(numbers))
        events.replace(numbers)
        for op in graph_of:
            if isinstance(op, GeNode):
                for name, lists in ((SEND_IDS, events.send), (RECV_IDS, events.recv)):
                    if op in lists or has_ge_attr(op, name):
                        set_ge_attr(op, name, lists.get(op))
        root.graph.attributes[EVENT_NUM] = i64(len(numbers))
        return bool(numbers)


def _insert(view: GraphNodes, events: Events) -> None:
    place = positions(view.graph)
    for op in view.nodes:
        stream = stream_of(op)
        for reader in out_nodes(op, place):
            other = stream_of(reader)
            if NO_STREAM in (stream, other):
                lost = op if stream == NO_STREAM else reader
                raise StreamError(
                    f'node "{node_name(lost)}" has no stream', location_text(lost), code="E19999"
                )
            if other != stream:
                events.add(op, reader)
