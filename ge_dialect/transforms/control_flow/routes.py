"""Outer values that a construct reads, and putting values in the place of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.control_flow.owned_graph import OwnedGraph
from ge_dialect.dialects.engine_types import CONSTANT_TYPES, VARIABLE_TYPES
from ge_dialect.dialects.ge.access import (
    data_results,
    ge_type,
    is_absent,
)
from ge_dialect.dialects.ge.nodes import DataOp


def needs_no_route(value: SSAValue) -> bool:
    """Whether a value can be read anywhere: constants and variables, which no plan writes over, and absent slots."""
    owner = value.owner
    return is_absent(value) or (
        isinstance(owner, Operation) and ge_type(owner) in CONSTANT_TYPES | VARIABLE_TYPES
    )


class Routes:
    """Outer values that a construct reads, each once, in the order in which they are asked for.

    The node at the start of the construct hands them through (`FlatGraph.label_set`, `label_switch`), so that what is
    inside depends on that node alone: whatever waits for the values, waits there.
    """

    def __init__(self) -> None:
        self.values: list[SSAValue] = []
        self._place: dict[SSAValue, int] = {}

    def add(self, value: SSAValue) -> None:
        """Note that the construct reads `value`."""
        if not needs_no_route(value) and value not in self._place:
            self._place[value] = len(self.values)
            self.values.append(value)

    def inner(self, value: SSAValue, handed: Sequence[SSAValue]) -> SSAValue:
        """What `value` is inside, with what the first node handed through."""
        place = self._place.get(value)
        return value if place is None else handed[place]


def bind_formals(owned: OwnedGraph, values: Mapping[DataOp, SSAValue]) -> None:
    """Let the readers of the graph's inputs read `values`."""
    for formal in owned.formals:
        for result in data_results(formal):
            result.replace_all_uses_with(values[formal])


def replace_result(result: OpResult, value: SSAValue) -> None:
    """Let the readers of a result read `value`, which keeps the result's name in text."""
    if value.name_hint is None:
        value.name_hint = result.name_hint
    result.replace_all_uses_with(value)
