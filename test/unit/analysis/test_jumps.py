"""Stretches between labels and jumps."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from ge_dialect.analysis.jumps import Region, has_jumps, jump_regions
from ge_dialect.dialects.attrs import i64, i64_array, string
from ge_dialect.dialects.ge import OpOp
from ge_dialect.dialects.ge.nodes import LabelGotoOp, LabelSetOp, LabelSwitchOp


def made(text: str) -> list[Operation]:
    """`s1`: set label 1, `g1`: goto, `w1,2`: switch, `.`: another node."""
    found: list[Operation] = []
    for word in text.split():
        if word == ".":
            found.append(OpOp.make((), (), {"type": string("Relu")}))
            continue
        labels = [int(x) for x in word[1:].split(",")]
        if word[0] == "w":
            found.append(LabelSwitchOp.make((), (), {"label_list": i64_array(labels)}))
        else:
            node = LabelSetOp if word[0] == "s" else LabelGotoOp
            found.append(node.make((), (), {"label_index": i64(labels[0])}))
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (". . .", []),
        (". s0 .", [(1, 1)]),
        (". s0 . g0 .", [(1, 3)]),
        ("w0,1 . s0 . g2 s1 . s2 .", [(0, 7)]),
        ("s0 . g0 . s1 . g1", [(0, 2), (4, 6)]),
        ("s0 w2,1 s1 s3 . g3 . g0 s2", [(0, 8)]),
        ("s0 s1 g0 g1 . s2", [(0, 3), (5, 5)]),
        ("s0 g1 g0 s1", [(0, 3)]),
    ],
)
def test_regions(text: str, wanted: list[tuple[int, int]]) -> None:
    ops = made(text)
    assert jump_regions(ops) == [Region(first, last) for first, last in wanted]
    assert has_jumps(ops) == bool(wanted)


def test_membership() -> None:
    region = Region(2, 4)
    assert [position in region for position in range(6)] == [False, False, True, True, True, False]
