from __future__ import annotations

from dataclasses import dataclass

import pytest
from stream_ir import apply, graph_of, streams_of

from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel
from ge_dialect.analysis.streams.structure import note_structure
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import get_int, get_text, graphs
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.streams.custom_pass import CustomStreamPass, StreamContext
from ge_dialect.transforms.streams.errors import StreamError
from ge_dialect.transforms.streams.ge_stream_refresh import GeStreamRefresh


@dataclass(frozen=True)
class Move(CustomStreamPass):
    """Moves node 1: to `to`, or with -2 to a new stream."""

    name = "ge-test-move"

    to: int = -2

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        stream = context.allocate_next() if self.to == -2 else self.to
        context.set_stream(root.nodes[1], stream)


@dataclass(frozen=True)
class Rewire(CustomStreamPass):
    """Does what no stream pass may do."""

    name = "ge-test-rewire"

    def run(self, model: StreamModel, root: GraphNodes, context: StreamContext) -> None:
        root.nodes[1].operands = []


def _module():
    module = graph_of([[], [0]], [0, 0])
    graphs(module)[0].attributes["ge.stream_num"] = i64(3)
    return module


def test_new_streams_are_counted_and_listed() -> None:
    module = apply(_module(), Move(), Move())
    root = graphs(module)[0]
    assert streams_of(module) == [0, 4]
    assert get_int(root, "ge.stream_num") == 5
    assert get_text(root, "ge.custom_streams") == "3,4"
    apply(module, GeStreamRefresh())
    assert streams_of(module) == [0, 1]
    assert get_int(root, "ge.stream_num") == 2


def test_existing_streams_may_be_used() -> None:
    module = apply(_module(), Move(2))
    assert streams_of(module) == [0, 2]
    assert get_text(graphs(module)[0], "ge.custom_streams") is None


@pytest.mark.parametrize("stream", [-1, 3, 100])
def test_other_streams_are_refused(stream: int) -> None:
    with pytest.raises(StreamError, match=f'node "n1" cannot move to stream {stream}: .* 0 to 2'):
        apply(_module(), Move(stream))


def test_the_graph_must_not_change() -> None:
    module = _module()
    note_structure(graphs(module)[0])
    with pytest.raises(GeError, match="changed while streams were being assigned"):
        apply(module, Rewire())
