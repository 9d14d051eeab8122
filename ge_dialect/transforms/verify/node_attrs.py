"""GE's own attributes that decide about streams, labels and events: each has the type that the passes read.

The many attributes of operators are the operators' business (shape functions, kernels); those here belong to any node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from ge_dialect.dialects.ge.access import ge_type
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.transforms.verify.finding import Finding, Findings

Check = Callable[[Any], bool]


def _integer(value: Any) -> bool:
    return type(value) is int


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _each(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, cast("list[Any]", value)))


def _fields(**checks: Check) -> Check:
    """A dictionary whose entries of these names pass."""

    def accepts(value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        found = cast("Mapping[str, Any]", value)
        return all(check(found[name]) for name, check in checks.items() if name in found)

    return accepts


def _one_or_more(check: Check) -> Check:
    several = _each(check)
    return lambda value: check(value) or several(value)


_RESOURCE = _fields(
    _attached_resource_id=_integer,
    _attached_resource_name=_text,
    _attached_resource_reuse_key=_text,
    _attached_resource_depend_value_list_int=_each(_integer),
)
_OLD_NOTIFY = _fields(
    _attached_notify_type=_integer,
    _attached_notify_num=_integer,
)
_KINDS: Mapping[str, tuple[str, Check]] = MappingProxyType(
    {
        "_stream_label": ("a text", _text),
        "_user_stream_label": ("a text", _text),
        "_continuous_stream_label": ("a text", _text),
        "_switch_branch_node_label": ("a text", _text),
        "_active_label_list": ("a list of texts", _each(_text)),
        "active_stream_list": ("a list of integers", _each(_integer)),
        "_send_event_ids": ("a list of integers", _each(_integer)),
        "_recv_event_ids": ("a list of integers", _each(_integer)),
        "_label_switch_index": ("an integer", _integer),
        "_label_switch_list": ("a list of integers", _each(_integer)),
        "NewStreamId": ("an integer", _integer),
        "_attached_stream_id": ("an integer", _integer),
        "_attached_stream_info": ("a dictionary or a list of them", _one_or_more(_fields())),
        "_attached_notify_info": ("a dictionary", _OLD_NOTIFY),
        "_attached_stream_info_list": ("a list of dictionaries of a resource", _each(_RESOURCE)),
        "_attached_sync_res_info_list": ("a list of dictionaries of a resource", _each(_RESOURCE)),
    }
)


def node_attr_findings(op: Operation) -> Findings:
    """Every attribute of the list above that has another type."""
    attrs = op.properties.get("attrs")
    if not isinstance(attrs, DictionaryAttr):
        return
    for name, value in attrs.data.items():
        kind = _KINDS.get(name)
        if kind is not None and not kind[1](to_python(value)):
            yield Finding(op, f"attribute {name} of {ge_type(op)} is {value}, expected {kind[0]}")
