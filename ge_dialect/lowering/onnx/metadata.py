"""Discardable `ge.*` attributes as ONNX metadata properties, for other tools to show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import Attribute, Operation

from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import data_results
from ge_dialect.dialects.ge.attr_values import to_python
from ge_dialect.dialects.ge.desc import DescAttr

EXPRESSED = frozenset(
    {
        "ge.dim_names",
        "ge.formal",
        "ge.ir_version",
        "ge.metadata",
        "ge.name",
        "ge.opset_imports",
        "ge.output_names",
        "ge.parent_node_index",
        "ge.producer",
        "ge.subgraph_names",
    }
)
"""Attributes that the ONNX model says in its own terms."""


def metadata_text(value: Attribute) -> str:
    """Plain text for strings, JSON for numbers and lists, the attribute's own syntax for what JSON cannot say."""
    text = text_of(value)
    if text is not None:
        return text
    if isinstance(value, UnitAttr):
        return "true"
    try:
        return json.dumps(to_python(value))
    except TypeError:
        return str(value)


def node_metadata(attributes: Mapping[str, Attribute], prefix: str = "") -> list[tuple[str, str]]:
    """Keys and texts of the `ge.*` attributes that a pass has set."""
    return [
        (prefix + key, metadata_text(value))
        for key, value in attributes.items()
        if key.startswith("ge.") and key not in EXPRESSED
    ]


def desc_metadata(op: Operation) -> list[tuple[str, str]]:
    """`ge.desc.k` of every output in a storage format, which ONNX types cannot say."""
    found: list[tuple[str, str]] = []
    for k, result in enumerate(data_results(op)):
        kind = result.type
        if isinstance(kind, TensorType) and isinstance(kind.encoding, DescAttr):
            found.append((f"ge.desc.{k}", str(kind.encoding)))
    return found


def add_metadata(proto: Any, entries: list[tuple[str, str]]) -> None:
    """Append properties to any ONNX message that has them; the order is that of `entries`."""
    for key, text in entries:
        proto.metadata_props.add(key=key, value=text)
