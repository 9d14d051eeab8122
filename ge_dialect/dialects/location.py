"""Where an operation comes from, as the text in front of an error or a remark."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation


def location_text(op: Operation) -> str | None:
    """MLIR's form without the trailing colon: `net.mlir:4:3`, `net.onnx: node "conv1"`, `node "conv1"`; else None.

    A file, line and column found in the location win; a line 0 means that the file has no lines (a binary model), so
    the node name stands in, from the location or else from `ge.name`.
    """
    place = _place(op.location)
    if place is not None and (":" in place or place.startswith('node "')):
        return place
    name = _text(op.attributes.get("ge.name"))
    if name is None:
        return place
    node = f'node "{name}"'
    return node if place is None else f"{place}: {node}"


def _text(attribute: Attribute | None) -> str | None:
    """The text of a name attribute; xDSL reads a string that is not ASCII back as bytes."""
    match attribute:
        case StringAttr():
            return attribute.data
        case BytesAttr():
            return attribute.data.decode("utf-8", "replace")
        case _:
            return None


def _place(location: Attribute) -> str | None:
    """The first place that `location` names."""
    match location:
        case FileLineColLoc():
            if location.line.data == 0:
                return location.filename.data
            return f"{location.filename.data}:{location.line.data}:{location.column.data}"
        case NameLoc():
            inner = _place(location.location)
            if inner is not None and ":" in inner:
                return inner
            node = f'node "{location.desc.data}"'
            return node if inner is None else f"{inner}: {node}"
        case FusedLoc(locations=ArrayAttr() as locations):
            places = (_place(inner) for inner in locations)
            return next((place for place in places if place is not None), None)
        case CallSiteLoc():
            return _place(location.callee)
        case _:
            return None
