"""Merging nodes that compute the same: common subexpressions, names left out."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.ge.access import ge_type

_NOT_COMPARED = frozenset({"ge.name", "ge.id", "ge.consumers", "ge.dim_names"})
"""Discardable attributes that say nothing about what a node computes or where it runs."""


def _marks(op: Operation) -> dict[str, Attribute]:
    return {key: value for key, value in op.attributes.items() if key not in _NOT_COMPARED}


def _same(one: Operation, other: Operation) -> bool:
    if type(one) is not type(other) or len(one.results) != len(other.results):
        return False
    if any(
        a.type is not b.type and a.type != b.type
        for a, b in zip(one.results, other.results, strict=True)
    ):
        return False
    return one.properties == other.properties and _marks(one) == _marks(other)


class MergeTable:
    """Nodes met so far, by type and operands. Values in the keys are held, so that their identity stays theirs."""

    def __init__(self) -> None:
        self._met: dict[tuple[str, tuple[SSAValue, ...]], list[Operation]] = {}

    def equal_to(self, op: Operation) -> Operation | None:
        """An earlier node that computes the same; None makes `op` one for later nodes to find."""
        key = ge_type(op), tuple(op.operands)
        met = self._met.setdefault(key, [])
        for other in met:
            if _same(other, op):
                return other
        met.append(op)
        return None
