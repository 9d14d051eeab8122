"""Attached resources: which nodes ask for a further stream, event or notify, and who shares one.

Sources: spec/streams.md sections 5.2 to 5.4. Requests are collected by group and key; all nodes of one key share what
they get, nodes of different groups share nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.ir import Operation

from ge_dialect.analysis.streams.nodes import has_ge_attr
from ge_dialect.dialects.ge.access import ge_attr, node_name, set_ge_attr
from ge_dialect.dialects.ge.node import GeNode
from ge_dialect.dialects.location import location_text
from ge_dialect.transforms.streams.errors import StreamError

DISABLED = "_disable_attached_resource"
STREAM_LIST, SYNC_LIST = "_attached_stream_info_list", "_attached_sync_res_info_list"
GROUP_ATTR, GROUP_POLICY = "group", "group"
DEFAULT_GROUP = "_default_stream_info_group"
NAME, REUSE_KEY = "_attached_resource_name", "_attached_resource_reuse_key"
REQUIRED, FORCE_REUSE = "_attached_resource_required_flag", "_attached_resource_force_reuse"
RESOURCE_ID, IS_VALID = "_attached_resource_id", "_attached_resource_is_valid"

Element = dict[str, Any]


def resource_error(op: Operation, problem: str) -> StreamError:
    """The error about one node's attached resources."""
    return StreamError(f'node "{node_name(op)}" {problem}', location_text(op))


def is_served(op: Operation) -> bool:
    """Whether the node may have attached resources at all."""
    return isinstance(op, GeNode) and not has_ge_attr(op, DISABLED)


def uses_v2(op: Operation) -> bool:
    """Whether the node is written in the second form, in which the old attributes are ignored."""
    return has_ge_attr(op, STREAM_LIST) or has_ge_attr(op, SYNC_LIST)


def elements(op: Operation, name: str) -> list[Element]:
    """The dictionaries of a list attribute. Raises StreamError when it holds something else."""
    value = ge_attr(op, name, [])
    if not isinstance(value, list) or not all(
        isinstance(each, dict) for each in cast("list[Any]", value)
    ):
        raise resource_error(op, f"has a {name} that is no list of dictionaries")
    return cast("list[Element]", value)


def required_text(op: Operation, element: Mapping[str, Any], name: str) -> str:
    """A string that an element must have. Raises StreamError without it."""
    value = element.get(name)
    if not isinstance(value, str):
        raise resource_error(op, f"asks for an attached resource without {name}")
    return value


def named_group(op: Operation, info: Mapping[str, Any], policy: str) -> str:
    """The group of the oldest form: the node's attribute `group`. Raises StreamError for another policy or none."""
    if info.get(policy) != GROUP_POLICY:
        raise resource_error(
            op, f"has {policy} '{info.get(policy)}', the only one there is is '{GROUP_POLICY}'"
        )
    group = ge_attr(op, GROUP_ATTR)
    if not isinstance(group, str):
        raise resource_error(op, f"has {policy} '{GROUP_POLICY}' and no attribute '{GROUP_ATTR}'")
    return group


@dataclass
class Requests:
    """Who asks for what: nodes by group, key and number of resources."""

    _by_group: dict[str, dict[tuple[str, int], list[GeNode]]] = field(
        default_factory=dict[str, dict[tuple[str, int], list["GeNode"]]]
    )

    def add(self, op: GeNode, group: str, key: str, count: int = 1) -> None:
        """One more request. One with an empty group or key, or for nothing, is passed over."""
        if group and key and count > 0:
            nodes = self._by_group.setdefault(group, {}).setdefault((key, count), [])
            if not nodes or nodes[-1] is not op:
                nodes.append(op)

    def in_order(self) -> Iterator[tuple[str, int, list[GeNode]]]:
        """Key, number and nodes: named groups byte by byte, the default group last, keys byte by byte."""
        for group in sorted(
            self._by_group, key=lambda name: (name == DEFAULT_GROUP, name.encode())
        ):
            keys = self._by_group[group]
            for key, count in sorted(keys, key=lambda item: (item[0].encode(), item[1])):
                yield key, count, keys[key, count]


def give(op: GeNode, name: str, chosen: Mapping[int, int]) -> None:
    """Note ids in the elements of a list attribute; `chosen` maps places in it to ids."""
    changed = [
        {**element, RESOURCE_ID: chosen[place], IS_VALID: True} if place in chosen else element
        for place, element in enumerate(elements(op, name))
    ]
    set_ge_attr(op, name, changed)
