"""The attached streams of a node: further streams that it needs beside its own (spec/streams.md section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_attr, set_ge_attr
from ge_dialect.dialects.ge.node import GeNode

STREAM_LIST = "_attached_stream_info_list"
STREAM_ID = "_attached_stream_id"
RESOURCE_ID = "_attached_resource_id"
NO_STREAM = -1


def has_attached_info(op: Operation) -> bool:
    """Whether the node says anything about attached streams; cheap, for walks over all nodes."""
    attrs = op.properties.get("attrs")
    return isinstance(attrs, DictionaryAttr) and (
        STREAM_LIST in attrs.data or STREAM_ID in attrs.data
    )


def attached_ids(op: Operation) -> list[int]:
    """The ids of the node's attached streams: one an element of the list form (-1: none yet), else the single id."""
    if not has_attached_info(op):
        return []
    listed = _list(op)
    if listed is not None:
        return [int(entry.get(RESOURCE_ID, NO_STREAM)) for entry in listed]
    stream = ge_attr(op, STREAM_ID, NO_STREAM)
    return [] if stream == NO_STREAM else [int(stream)]


def attached_streams(op: Operation) -> list[int]:
    """The valid ids among `attached_ids`, each once, in order."""
    if not has_attached_info(op):
        return []
    return list(dict.fromkeys(stream for stream in attached_ids(op) if stream != NO_STREAM))


def set_attached_ids(op: GeNode, ids: Sequence[int]) -> bool:
    """Give the node its attached streams; False, and nothing done, when their number does not fit.

    The list form takes as many ids as it has elements, the old form exactly one.
    """
    listed = _list(op)
    if listed is not None:
        if len(listed) != len(ids):
            return False
        entries = [
            {**entry, RESOURCE_ID: stream} for entry, stream in zip(listed, ids, strict=True)
        ]
        set_ge_attr(op, STREAM_LIST, entries)
        return True
    if len(ids) != 1:
        return False
    set_ge_attr(op, STREAM_ID, ids[0])
    return True


def _list(op: Operation) -> list[dict[str, Any]] | None:
    listed = ge_attr(op, STREAM_LIST)
    return cast("list[dict[str, Any]]", listed) if isinstance(listed, list) else None
