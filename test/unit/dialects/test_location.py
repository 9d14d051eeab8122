from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    BytesAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from ge_dialect.dialects.location import location_text

LINE = FileLineColLoc(StringAttr("net.mlir"), IntAttr(4), IntAttr(3))
FILE = FileLineColLoc(StringAttr("net.onnx"), IntAttr(0), IntAttr(0))
NAMELESS = FusedLoc([UnknownLoc()], NoneAttr())


@pytest.mark.parametrize(
    ("location", "name", "text"),
    [
        (UnknownLoc(), None, None),
        (UnknownLoc(), StringAttr("conv1"), 'node "conv1"'),
        (UnknownLoc(), BytesAttr("größe".encode()), 'node "größe"'),
        (LINE, StringAttr("conv1"), "net.mlir:4:3"),
        (FILE, None, "net.onnx"),
        (FILE, StringAttr("conv1"), 'net.onnx: node "conv1"'),
        (NameLoc(StringAttr("origin"), FILE), StringAttr("renamed"), 'net.onnx: node "origin"'),
        (NameLoc(StringAttr("origin"), LINE), None, "net.mlir:4:3"),
        (NameLoc(StringAttr("origin"), UnknownLoc()), StringAttr("renamed"), 'node "origin"'),
        (FusedLoc([UnknownLoc(), LINE], NoneAttr()), None, "net.mlir:4:3"),
        (NAMELESS, StringAttr("conv1"), 'node "conv1"'),
    ],
)
def test_location_text(location: Attribute, name: Attribute | None, text: str | None) -> None:
    op = test.TestOp()
    op.location = location
    if name is not None:
        op.attributes["ge.name"] = name
    assert location_text(op) == text
