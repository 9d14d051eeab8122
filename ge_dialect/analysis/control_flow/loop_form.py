"""What an ONNX Loop says about how often it runs."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ge_dialect.analysis.control_flow.owned_graph import OwnedGraph, formal_kind
from ge_dialect.dialects.ge.access import is_absent
from ge_dialect.dialects.ge.nodes import ConstantOp, DataOp
from ge_dialect.dialects.ge.weights import WeightsError, array_of

LIMIT, GIVEN, CARRIED = 0, 1, 2
"""Inputs of a Loop: trip count, condition, first carried value."""


def constant_array(value: SSAValue) -> np.ndarray | None:
    """The elements of a constant; None for another value, or for one whose bytes are not there."""
    if not isinstance(value.owner, ConstantOp):
        return None
    try:
        return array_of(value.owner.value)
    except WeightsError:
        return None


def is_true(value: SSAValue) -> bool:
    """Whether a value is a constant number other than zero."""
    array = constant_array(value)
    return array is not None and array.size == 1 and bool(array.reshape(-1)[0])


def always_true(body: OwnedGraph, given: SSAValue) -> bool:
    """Whether the condition of a Loop holds in every turn: it starts as true, and the body gives it back or true."""
    if not body.outputs or not (is_absent(given) or is_true(given)):
        return False
    going = body.outputs[0]
    if isinstance(going.owner, DataOp):
        return formal_kind(going.owner) == "condition"
    return is_true(going)


def trip_count(body: OwnedGraph, limit: SSAValue, given: SSAValue) -> int | None:
    """How many turns a Loop makes, where that is known before it runs."""
    array = None if is_absent(limit) else constant_array(limit)
    if array is None or array.size != 1 or not always_true(body, given):
        return None
    return max(int(array.reshape(-1)[0]), 0)
