"""Nodes whose output 0 is their input 0: which, and on what condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.ge.access import (
    data_operands,
    data_results,
    ge_attr,
    is_absent,
    source_op,
    static_shape,
)
from ge_dialect.transforms.canonicalize.constants import ConstantTable
from ge_dialect.transforms.canonicalize.plain_tensor import plain_tensor

Rule = Callable[[Operation, ConstantTable], bool]
"""Whether a node forwards its input 0, once the two types are equal."""


def _always(op: Operation, constants: ConstantTable) -> bool:
    return True


def _static(op: Operation, constants: ConstantTable) -> bool:
    """The node only reshapes or repeats: equal static types mean that nothing changes."""
    return static_shape(op.results[0].type) is not None


def _single(op: Operation, constants: ConstantTable) -> bool:
    """A node that joins its inputs, with one input."""
    return len(data_operands(op)) == 1


def _transpose(op: Operation, constants: ConstantTable) -> bool:
    perm = ge_attr(op, "perm")
    return perm is not None and list(perm) == sorted(perm)


def _single_part(op: Operation, constants: ConstantTable) -> bool:
    return len(data_results(op)) == 1


def _slice(op: Operation, constants: ConstantTable) -> bool:
    """Every step (input 4) is positive, so a result of the same shape is the whole input."""
    if not _static(op, constants):
        return False
    inputs = data_operands(op)
    if len(inputs) < 5 or is_absent(inputs[4]):
        return True
    steps = constants.array(inputs[4])
    return steps is not None and bool((steps > 0).all())


def _dropout(op: Operation, constants: ConstantTable) -> bool:
    """At inference: before version 12 there is nothing else, since then `training_mode` (input 2) says so."""
    source = source_op(op)
    if source is None or source.domain != "ai.onnx":
        return False
    if source.version < 7:
        return bool(ge_attr(op, "is_test", 0))
    inputs = data_operands(op)
    if source.version < 12 or len(inputs) < 3 or is_absent(inputs[2]):
        return True
    training = constants.array(inputs[2])
    return training is not None and not training.any()


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "Identity": _always,
        "Reshape": _static,
        "Expand": _static,
        "Tile": _static,
        "Squeeze": _static,
        "SqueezeV3": _static,
        "Unsqueeze": _static,
        "UnsqueezeV3": _static,
        "Flatten": _static,
        "Cast": _always,
        "TransposeD": _transpose,
        "ConcatD": _single,
        "ConcatV2D": _single,
        "Max": _single,
        "Min": _single,
        "Sum": _single,
        "Mean": _single,
        "SplitD": _single_part,
        "SplitVD": _single_part,
        "StridedSliceV2": _slice,
        "Dropout": _dropout,
    }
)


def _compatible(narrow: Attribute, wide: Attribute) -> bool:
    """Whether `narrow` says the same as `wide` or more, both plain tensors of one element type."""
    ours, theirs = plain_tensor(narrow), plain_tensor(wide)
    if ours is None or theirs is None or ours.element != theirs.element:
        return False
    if theirs.shape is None:
        return True
    return (
        ours.shape is not None
        and len(ours.shape) == len(theirs.shape)
        and all(b in (-1, a) for a, b in zip(ours.shape, theirs.shape, strict=True))
    )


def forwarded(op: Operation, kind: str, constants: ConstantTable) -> SSAValue | None:
    """The value that output 0 of the node is, when it only passes on its input 0 and nobody reads its other outputs.

    An input whose type says more than the output's is passed on; one that says less is not.
    """
    rule = RULES.get(kind)
    if rule is None:
        return None
    inputs, outputs = data_operands(op), data_results(op)
    if not inputs or not outputs or is_absent(inputs[0]):
        return None
    value, result = inputs[0], outputs[0]
    if value.type != result.type and not (
        kind == "Identity" and _compatible(value.type, result.type)
    ):
        return None
    if any(other.first_use is not None for other in outputs[1:]):
        return None
    return value if rule(op, constants) else None
