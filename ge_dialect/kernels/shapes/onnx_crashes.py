"""Nodes at which onnx's shape inference ends the process instead of raising an error (found in onnx 1.23).

Its inference functions for these operators use a type, or an index, that they have not looked at.
"""

from __future__ import annotations

from collections.abc import Callable

NEEDS_TYPE = frozenset(
    {
        ("", "EyeLike"),
        ("", "RegexFullMatch"),
        ("ai.onnx.ml", "DictVectorizer"),
        ("ai.onnx.ml", "LabelEncoder"),
        ("ai.onnx.ml", "TreeEnsemble"),
    }
)
"""Domain and type of the operators whose first input must have a type, known before inference comes to the node."""

_GREATEST_RANK = 64


def crash(
    domain: str, op: str, has_input: bool, attribute: Callable[[str], int | None]
) -> str | None:
    """Why onnx must not be shown the node, in words for the user; None when it may.

    `domain` is "" for ONNX's own, `has_input` says whether input 0 is wired, `attribute` gives an integer attribute.
    """
    if not has_input and (domain, op) in NEEDS_TYPE:
        return "input 0 is missing"
    if domain == "" and op == "GatherND" and (count := attribute("batch_dims")) is not None:
        return f"batch_dims cannot be {count}" if count < 0 else None
    if domain == "" and op == "LayerNormalization" and (axis := attribute("axis")) is not None:
        return f"axis cannot be {axis}" if abs(axis) > _GREATEST_RANK else None
    return None
