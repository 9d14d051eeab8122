"""Vector work beside the cube unit: spec/streams.md section 1.6 written out, on random graphs."""

from __future__ import annotations

import random
from typing import Any

import pytest
from stream_ir import apply, graph_of

from ge_dialect.dialects.ge.access import ge_attr, graphs
from ge_dialect.transforms.streams.ge_mark_cv_parallel import GeMarkCvParallel

AIV: list[dict[str, Any]] = [
    {"_cube_vector_core_type": "AIV"},
    {"_cube_vector_core_type": "MIX_AIV"},
    {"_cube_vector_core_type": "MIX", "_mix_is_aiv": True},
]
AIC: list[dict[str, Any]] = [
    {"_cube_vector_core_type": "AI_CORE"},
    {"_cube_vector_core_type": "MIX"},
    {"_cube_vector_core_type": "MIX", "_mix_is_aiv": False},
]


def _linked(sources: list[list[int]], before: int | None, behind: int | None) -> bool:
    if before is None or behind is None:
        return False
    stack, seen = [behind], set[int]()
    while stack:
        for source in sources[stack.pop()]:
            if source == before:
                return True
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return False


@pytest.mark.parametrize("seed", range(60))
def test_marks_are_those_of_the_rule(seed: int) -> None:
    pick = random.Random(seed)
    count = pick.randint(2, 16)
    sources = [
        sorted({pick.randrange(node) for _ in range(pick.randint(0, 2))}) if node else []
        for node in range(count)
    ]
    kinds = [pick.choice(["v", "c", ""]) for _ in range(count)]
    attrs = {n: pick.choice(AIV if kind == "v" else AIC) for n, kind in enumerate(kinds) if kind}
    wanted: list[bool] = []
    for node, kind in enumerate(kinds):
        p = next((n for n in reversed(range(node)) if kinds[n] == "c"), None)
        q = next((n for n in range(node + 1, count) if kinds[n] == "c"), None)
        from_p, to_q = _linked(sources, p, node), _linked(sources, node, q)
        stays = (from_p and q is None) or (from_p and to_q)
        wanted.append(kind == "v" and not stays)
    module = apply(graph_of(sources, attrs=attrs), GeMarkCvParallel("cv"))
    found = [ge_attr(op, "_enable_cv_parallel") is True for op in graphs(module)[0].block.ops]
    assert found == wanted
