"""`ge-stream-ineffective` against its rule as it is written, with sets that are updated node by node."""

from __future__ import annotations

import random

import pytest
from stream_ir import apply, graph_of, streams_of

from ge_dialect.transforms.streams.ge_stream_ineffective import GeStreamIneffective


def _literal(sources: list[list[int]], streams: list[int], labelled: set[int]) -> list[int]:
    streams = list(streams)
    readers = [
        [n for n, own in enumerate(sources) if index in own] for index in range(len(sources))
    ]
    ids = {stream: {n for n, own in enumerate(streams) if own == stream} for stream in set(streams)}
    label_streams = {streams[index] for index in labelled}
    for index in range(len(streams)):
        around = [*sources[index], *readers[index]]
        own = streams[index]
        if index in labelled or own == -1 or own in {streams[each] for each in around}:
            continue
        for stream in sorted({streams[each] for each in around} - {-1}):
            before = [each for each in sources[index] if streams[each] == stream]
            behind = [each for each in readers[index] if streams[each] == stream]
            if stream in label_streams or not before or not behind:
                continue
            following = [each for each in ids[stream] if each > max(before)]
            if following and min(following) == min(behind):
                ids[streams[index]].discard(index)
                ids[stream].add(index)
                streams[index] = stream
                # No break: a later stream that qualifies takes the node from an earlier one.
    return streams


@pytest.mark.parametrize("seed", range(300))
def test_as_the_rule_says(seed: int) -> None:
    pick = random.Random(seed)
    count = pick.randint(2, 16)
    sources = [
        sorted({pick.randrange(node) for _ in range(pick.randint(0, 3))}) if node else []
        for node in range(count)
    ]
    streams = [pick.randint(-1, 3) for _ in range(count)]
    labelled = {node for node in range(count) if pick.random() < 0.1}
    module = graph_of(sources, streams, attrs={node: {"_stream_label": ""} for node in labelled})
    apply(module, GeStreamIneffective())
    assert streams_of(module) == _literal(sources, streams, labelled)
