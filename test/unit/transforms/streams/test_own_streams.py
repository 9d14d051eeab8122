"""Which nodes keep a stream of their own in the modes that are not the reference's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from stream_ir import graph_of

from ge_dialect.analysis.streams.nodes import StreamModel
from ge_dialect.transforms.streams.own_streams import taking_part

CORE, HCCL = "AIcoreEngine", "DNN_HCCL"


def lanes(sources: Sequence[Sequence[int]], engines: Sequence[str]) -> list[object]:
    model = StreamModel(graph_of(sources, [0] * len(sources), engines))
    return list(taking_part(model.graphs[0], model.engines).lanes)


@pytest.mark.parametrize(
    ("sources", "free"),
    [
        # c0 -> n -> c1: one after the other anyway.
        ([[], [0], [1], [2]], True),
        # Both read n0 and nothing of each other.
        ([[], [0], [0], [1, 2]], False),
    ],
)
def test_collectives_stay_together_unless_they_are_ordered(
    sources: list[list[int]], free: bool
) -> None:
    engines = [CORE, HCCL, HCCL, CORE] if not free else [HCCL, CORE, HCCL, CORE]
    found = lanes(sources, engines)
    own = [lane for lane, engine in zip(found, engines, strict=True) if engine == HCCL]
    assert set(own) == ({None} if free else {(HCCL, "")})
    assert all(lane is None for lane, engine in zip(found, engines, strict=True) if engine == CORE)
