"""Stream passes of users: spec/streams.md section 14.1."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel, set_stream, stream_of
from ge_dialect.analysis.streams.structure import check_structure
from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge.access import get_int, get_text, node_name
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.ge_stream_number import STREAM_NUM
from ge_dialect.transforms.streams.stream_pass import StreamPass

CUSTOM_STREAMS = "ge.custom_streams"


@dataclass
class StreamContext:
    """What a user's stream pass may do: look up and set streams of nodes, and take new ones."""

    max_stream: int
    taken: list[int] = field(default_factory=list[int])

    def allocate_next(self) -> int:
        """A new stream."""
        self.max_stream += 1
        self.taken.append(self.max_stream)
        return self.max_stream

    def stream_of(self, op: Operation) -> int:
        """The node's stream, -1 without one."""
        return stream_of(op)

    def set_stream(self, op: Operation, stream: int) -> None:
        """Move a node. Raises StreamError, naming the node, for a stream that does not exist."""
        if not 0 <= stream <= self.max_stream:
            raise StreamError(
                f'node "{node_name(op)}" cannot move to stream {stream}: there are 0 to {self.max_stream}',
                location_text(op),
            )
        set_stream(op, stream)


@dataclass(frozen=True)
class CustomStreamPass(StreamPass):
    """Base of passes that users put between `ge-stream-number` and `ge-stream-refresh`.

    Streams are numbered as `ge.stream_num` of the root graph says. What `run` takes is added to it and listed in
    `ge.custom_streams` of the root graph. An error that `run` raises fails the build, and so does
    a change of the graphs.
    """

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        count = get_int(root.graph, STREAM_NUM, 0)
        assert count is not None
        context = StreamContext(count - 1)
        self.run(model, root, context)
        for view in model.graphs:
            check_structure(view.graph, keep=True)
        if context.taken:
            root.graph.attributes[STREAM_NUM] = i64(context.max_stream + 1)
            before = get_text(root.graph, CUSTOM_STREAMS)
            numbers = [*([before] if before else []), *map(str, context.taken)]
            root.graph.attributes[CUSTOM_STREAMS] = string(",".join(numbers))
        return bool(context.taken)

    @abstractmethod
    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        """Move nodes. Raises StreamError."""
