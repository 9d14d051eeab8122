"""When the output shapes of a node are known in a step: the reference's four types, as data (spec 10.2 step 6).

A node that the host schedules is one of four types, which decides what its step looks like:

| type | output shapes follow from | step |
| --- | --- | --- |
| 1, 2 | input shapes, and values of inputs that the host has | infer shapes, tile, allocate, launch |
| 3 | what the kernel finds; input shapes bound them | allocate the bound, launch, wait, read the shapes back |
| 4 | what the kernel finds; nothing bounds them | launch, wait, read the shapes back, allocate, copy out |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from math import prod
from types import MappingProxyType
from typing import TypeAlias

from ge_dialect.kernels.shapes.facts import is_data_dependent, value_dependent_inputs
from ge_dialect.kernels.shapes.info import Shape
from ge_dialect.kernels.shapes.registry import find
from ge_dialect.kernels.spec import OpSpec


class UnknownShapeType(IntEnum):
    """The reference's numbers of the attribute `_unknown_shape_type`."""

    IN_SHAPE = 1
    CONST_VALUE = 2
    SHAPE_RANGE = 3
    COMPUTE = 4


Shapes: TypeAlias = Sequence[Shape | None]
"""One shape an input slot, None where nothing is wired."""

Bound: TypeAlias = Callable[[OpSpec, Shapes], Sequence[Shape]]
"""From the input shapes, all known, to the largest shape of each output."""


def _shape(inputs: Shapes, index: int) -> Shape:
    found = inputs[index] if index < len(inputs) else None
    return () if found is None else found


def _coordinates(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """[rank, elements]: a position for each element; a scalar counts as a list of one."""
    x = _shape(inputs, 0)
    return [(max(len(x), 1), prod(x))]


def _rows(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """[elements, rank]."""
    x = _shape(inputs, 0)
    return [(prod(x), len(x))]


def _each_once(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """Every list as long as the input has elements."""
    return [(prod(_shape(inputs, 0)),)] * spec.n_outputs


def _unique(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """Along an axis the first output has the input's shape; the lists are as long as the axis."""
    x = _shape(inputs, 0)
    axis: int | None = spec.attrs.get("axis")
    if axis is None:
        return _each_once(spec, inputs)
    length = x[axis] if -len(x) <= axis < len(x) else prod(x)
    return [x, *[(length,)] * (spec.n_outputs - 1)]


def _compress(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """As many slices as the condition has elements, and as there are."""
    x, condition = _shape(inputs, 0), prod(_shape(inputs, 1))
    axis: int | None = spec.attrs.get("axis")
    if axis is None:
        return [(min(prod(x), condition),)]
    dims = list(x)
    if -len(x) <= axis < len(x):
        dims[axis] = min(dims[axis], condition)
    return [tuple(dims)]


def _boxes_of_classes(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """Rows of three; scores are [batch, class, box]."""
    return [(prod(_shape(inputs, 1)), 3)]


def _boxes(spec: OpSpec, inputs: Shapes) -> Sequence[Shape]:
    """Boxes are [box, 4]."""
    return [_shape(inputs, 0)[:1] or (0,)]


SHAPE_RANGE_GE: Mapping[str, Bound] = MappingProxyType(
    {
        "NonZero": _coordinates,
        "Where": _rows,
        "Unique": _each_once,
        "UniqueV2": _each_once,
        "UniqueWithCounts": _each_once,
        "UniqueWithCountsV2": _each_once,
        "ListDiff": _each_once,
        "MaskedSelect": _each_once,
        "NonMaxSuppression": _boxes,
        "NonMaxSuppressionV2": _boxes,
        "NonMaxSuppressionV3": _boxes,
    }
)
"""GE types of type 3 and the bounds of their outputs."""

SHAPE_RANGE_ONNX: Mapping[str, Bound] = MappingProxyType(
    {
        "NonZero": _coordinates,
        "Unique": _unique,
        "Compress": _compress,
        "NonMaxSuppression": _boxes_of_classes,
    }
)
"""ONNX operators of type 3 and the bounds of their outputs."""


def bound_of(spec: OpSpec) -> Bound | None:
    """What bounds the output shapes of a node of type 3; None for the other types."""
    source = spec.source
    if source is None:
        return SHAPE_RANGE_GE.get(spec.type)
    return SHAPE_RANGE_ONNX.get(source.op) if source.domain == "ai.onnx" else None


def unknown_shape_type(spec: OpSpec, n_inputs: int) -> UnknownShapeType:
    """The type of a node with `n_inputs` inputs. One without a shape function is of type 4: only its kernel knows."""
    if bound_of(spec) is not None:
        return UnknownShapeType.SHAPE_RANGE
    if is_data_dependent(spec) or find(spec) is None:
        return UnknownShapeType.COMPUTE
    if value_dependent_inputs(spec, n_inputs):
        return UnknownShapeType.CONST_VALUE
    return UnknownShapeType.IN_SHAPE
