"""Outputs that are an input's memory in GE's terms, and the walk through them back to who really writes.

Rules and their order: spec/no_task.md section 3.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, OpResult, SSAValue

from ge_dialect.analysis.marks import (
    NO_PADDING_INPUT,
    NO_PADDING_OUTPUT,
    OUTPUT_REUSES_INPUT,
    REFERENCE,
    flag,
    mark,
)
from ge_dialect.analysis.model_graphs import ModelGraphs
from ge_dialect.dialects.attrs import text_of
from ge_dialect.dialects.ge.access import data_operands, ge_type, graph_of, slot_attrs
from ge_dialect.dialects.ge.graph import AbsentOp, GateOp, GraphOp

MAX_REFERENCES = 100
"""A trace that would cross this many nodes gives nothing."""

PASS_THROUGH_TYPES = frozenset({"NetOutput", "While", "_While", "StatelessWhile"})
"""Types whose output k is input k."""

FIRST_INPUT_TYPES = frozenset({"Merge", "Reshape"})
"""Types whose output 0 is input 0."""


def producer(value: SSAValue) -> OpResult | None:
    """The output wired to an input, seen through `ge.gate`; None for an unwired slot."""
    while isinstance(owner := value.owner, GateOp):
        value = owner.value
    if not isinstance(value, OpResult) or isinstance(value.op, AbsentOp):
        return None
    return value


def referenced_input(result: OpResult, model: ModelGraphs) -> int | None:
    """Index of the input whose memory an output is; None when it is no reference. The first rule that fires wins."""
    op, index = result.op, result.index
    kind = ge_type(op)
    if kind in PASS_THROUGH_TYPES or _stands_for_parent_input(op, model):
        return index
    if kind in FIRST_INPUT_TYPES and index == 0:
        return 0
    if flag(op, REFERENCE) and (same := _input_of_same_name(op, index)) is not None:
        return same
    if "ge.res_attrs" in op.attributes:
        source = slot_attrs(op, "res", index).data.get("reuse_input")
        if isinstance(source, IntegerAttr):
            return source.value.data
    if flag(op, OUTPUT_REUSES_INPUT) and (
        flag(op, NO_PADDING_INPUT) or flag(op, NO_PADDING_OUTPUT)
    ):
        return 0
    return None


def _stands_for_parent_input(op: Operation, model: ModelGraphs) -> bool:
    if mark(op, "_parent_node_index") is None:
        return False
    graph = op.parent_op()
    if not isinstance(graph, GraphOp) or (owner := model.owners.get(graph)) is None:
        return False
    above = graph_of(owner)
    if not flag(owner, "_is_unknown_shape"):
        return True
    return not (flag(above, "_graph_unknown_flag") or above is model.root)


def _input_of_same_name(op: Operation, output: int) -> int | None:
    name = text_of(slot_attrs(op, "res", output).data.get("name"))
    if name is None:
        return None
    for index in range(len(data_operands(op))):
        if text_of(slot_attrs(op, "arg", index).data.get("name")) == name:
            return index
    return None


def trace(value: SSAValue, model: ModelGraphs) -> OpResult | None:
    """The output that really makes what an input reads, behind all references; None where the way ends at an unwired
    slot or does not end within `MAX_REFERENCES` nodes."""
    for _ in range(MAX_REFERENCES):
        result = producer(value)
        if result is None:
            return None
        index = referenced_input(result, model)
        if index is None:
            return result
        inputs = data_operands(result.op)
        if not 0 <= index < len(inputs):
            return None
        value = inputs[index]
    return None
