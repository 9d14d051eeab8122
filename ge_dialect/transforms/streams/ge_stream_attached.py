"""Pass `ge-stream-attached`: further streams that nodes ask for beside their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from ge_dialect.analysis.streams.nodes import GraphNodes, StreamModel, has_ge_attr, stream_of
from ge_dialect.dialects.attrs import i64
from ge_dialect.dialects.ge.access import ge_attr, get_int, set_ge_attr
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.transforms.streams.attached_resources import (
    DEFAULT_GROUP,
    FORCE_REUSE,
    NAME,
    REQUIRED,
    REUSE_KEY,
    STREAM_LIST,
    Element,
    Requests,
    elements,
    give,
    is_served,
    named_group,
    required_text,
    resource_error,
    uses_v2,
)
from ge_dialect.transforms.streams.ge_stream_number import STREAM_NUM
from ge_dialect.transforms.streams.ge_stream_refresh import MAIN_STREAM_NUM
from ge_dialect.transforms.streams.stream_pass import StreamPass

STREAM_INFO, STREAM_ID = "_attached_stream_info", "_attached_stream_id"
POLICY, KEY = "_attached_stream_policy", "_attached_stream_key"
ATTACHED_NUM = "ge.attached_stream_num"


@dataclass(frozen=True)
class GeStreamAttached(StreamPass):
    """Give nodes the attached streams that they ask for, numbered behind the main streams.

    Expects final main streams (ge-stream-refresh). Three forms are read (spec/streams.md section 5.2):

    * `_attached_stream_info`, a dictionary with `_attached_stream_policy = "group"` and `_attached_stream_key`: shared
      by the nodes with the same attribute `group` and key; the attribute goes away;
    * `_attached_stream_info`, a list of dictionaries: shared by the nodes with the same key and main stream;
    * `_attached_stream_info_list`, the second version: one stream an element with `_attached_resource_required_flag`,
      shared by equal `_attached_resource_reuse_key` + `_attached_resource_name` on the same main stream, with
      `_attached_resource_force_reuse` on all.

    The first two write `_attached_stream_id`, the third `_attached_resource_id` and `_attached_resource_is_valid` of
    each element. Graphs never share. Served are all graphs, below a root of unknown shape the root and the graphs of
    unknown shape. Guarantees afterwards: `ge.stream_num` and `ge.attached_stream_num` of the root graph count them.

    Raises StreamError, naming the node, for an unknown policy or a missing group, key or name, and when main streams
    have not been assigned.

    Before and after, on one main stream:

        %b = ge.op "Mc2" (%a) attrs {_attached_stream_info = [{_attached_stream_key = "k"}]}
            {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
        %b = ge.op "Mc2" (%a) attrs {_attached_stream_info = [{_attached_stream_key = "k"}], _attached_stream_id = 1}
            {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
    """

    name = "ge-stream-attached"

    def assign(self, model: StreamModel) -> bool:
        root = model.root
        if root is None:
            return False
        before = get_int(root.graph, STREAM_NUM)
        graphs = list(model.dynamic_graphs) if root.is_unknown else model.graphs
        if before is None or (not root.is_unknown and MAIN_STREAM_NUM not in root.graph.attributes):
            asking = next((op for view in graphs for op in view.nodes if _asks(op)), None)
            if asking is not None:
                raise resource_error(
                    asking, "asks for an attached stream before main streams are assigned"
                )
            return False
        if root.is_unknown:
            before = max(before, 1)
        after = assign_attached_streams(graphs, before)
        root.graph.attributes[STREAM_NUM] = i64(after)
        if after > before:
            root.graph.attributes[ATTACHED_NUM] = i64(after - before)
        else:
            root.graph.attributes.pop(ATTACHED_NUM, None)
        return after > before


def _asks(op: Operation) -> bool:
    return is_served(op) and (has_ge_attr(op, STREAM_INFO) or has_ge_attr(op, STREAM_LIST))


def assign_attached_streams(graphs: Iterable[GraphNodes], following: int) -> int:
    """Serve the graphs one by one, the first stream being `following`; the next free number.

    GE keeps one table over dynamic graphs, so that later ones serve earlier nodes again and numbers run up unused; here
    every graph has its own, as in GE's static way. Raises StreamError.
    """
    for view in graphs:
        requests = Requests()
        v2_keys: dict[GeNode, list[str]] = {}
        for op in view.nodes:
            if isinstance(op, GeNode) and _asks(op):
                _collect(op, requests, v2_keys)
        for key, count, nodes in requests.in_order():
            for op in nodes:
                if op in v2_keys:
                    places = [n for n, own in enumerate(v2_keys[op]) if own == key]
                    give(op, STREAM_LIST, dict.fromkeys(places, following))
                else:
                    set_ge_attr(op, STREAM_ID, following)
            following += count
    return following


def _collect(op: GeNode, requests: Requests, v2_keys: dict[GeNode, list[str]]) -> None:
    if uses_v2(op):
        listed = elements(op, STREAM_LIST)
        # An element that is not required still gets the id of a required one with the same key.
        v2_keys[op] = [_v2_key(op, element) for element in listed]
        for element, key in zip(listed, v2_keys[op], strict=True):
            if element.get(REQUIRED, False) is True:
                requests.add(op, DEFAULT_GROUP, key)
        return
    info = ge_attr(op, STREAM_INFO)
    if isinstance(info, Mapping):
        named: Element = dict(info)  # pyright: ignore[reportUnknownArgumentType]
        requests.add(op, named_group(op, named, POLICY), required_text(op, named, KEY))
        set_ge_attr(op, STREAM_INFO, None)
        return
    for element in elements(op, STREAM_INFO):
        key = required_text(op, element, KEY)
        requests.add(op, DEFAULT_GROUP, _on_main_stream(op, key) if key else "")


def _v2_key(op: Operation, element: Mapping[str, Any]) -> str:
    key = f"{element.get(REUSE_KEY, '')}{required_text(op, element, NAME)}"
    return key if element.get(FORCE_REUSE, False) is True else _on_main_stream(op, key)


def _on_main_stream(op: Operation, key: str) -> str:
    return f"{key}_stream_{stream_of(op)}"
