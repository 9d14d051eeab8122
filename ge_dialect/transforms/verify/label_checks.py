"""Labels and jumps: each label is set once in the model, each jump leads to one, a table has one integer for index."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ge_dialect.analysis.jumps import JUMPS, labels_of
from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    desc_of_type,
    ge_type,
    graphs,
    is_absent,
    static_shape,
)
from ge_dialect.dialects.ge.nodes import LabelGotoOp, LabelSetOp, LabelSwitchOp
from ge_dialect.transforms.verify.finding import Finding, Findings

MAX_LABEL = (1 << 31) - 1
"""Labels are counted from 0, and a task list has room for that many."""


def label_findings(module: ModuleOp) -> Findings:
    """Every label that is set twice or is no number, every jump to one that no graph of the model sets.

    Nodes without their label or list are left to the lowering, which needs them. Linear.
    """
    nodes = [op for graph in graphs(module) for op in graph.block.ops if isinstance(op, JUMPS)]
    places: dict[int, Operation] = {}
    for op in nodes:
        for label in labels_of(op):
            if not 0 <= label <= MAX_LABEL:
                yield Finding(op, f"label {label} of {ge_type(op)} is not from 0 to {MAX_LABEL}")
            elif isinstance(op, LabelSetOp) and places.setdefault(label, op) is not op:
                yield Finding(op, f"label {label} is set twice")
    for op in nodes:
        if isinstance(op, LabelGotoOp | LabelSwitchOp):
            for label in labels_of(op):
                if label not in places:
                    yield Finding(op, f"{ge_type(op)} leads to label {label}, which is set nowhere")
        if isinstance(op, LabelSwitchOp):
            yield from _index_findings(op)
        elif isinstance(op, LabelGotoOp) and data_results(op):
            yield Finding(op, f"{ge_type(op)} gives no values")


def _index_findings(op: LabelSwitchOp) -> Findings:
    operands = data_operands(op)
    if not operands or is_absent(operands[0]):
        yield Finding(op, f"{ge_type(op)} needs an index")
        return
    kind = operands[0].type
    shape = static_shape(kind)
    dtype = desc_of_type(kind).dtype.numpy
    is_integer = dtype is None or dtype.kind in "iub"
    if not is_integer or any(dim != 1 for dim in shape or ()):
        yield Finding(op, f"the index of {ge_type(op)} is {kind}, expected one integer")
