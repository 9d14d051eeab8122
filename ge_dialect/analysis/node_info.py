"""Shape functions on nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.ge.access import data_operands, dims_of, slot_attrs
from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.nodes import ConstantOp
from ge_dialect.dialects.ge.types import ControlType
from ge_dialect.dialects.ge.weights import WeightsError, array_of, elements_type
from ge_dialect.kernels.shapes.facts import value_dependent_inputs
from ge_dialect.kernels.shapes.info import ANY_TYPE, Info, OpaqueInfo, Outputs, TensorInfo
from ge_dialect.kernels.shapes.registry import find, infer
from ge_dialect.kernels.spec import OpSpec, spec_of

NO_CONSTANTS: Mapping[SSAValue, NDArray[Any]] = MappingProxyType({})


def info_of_type(kind: Attribute) -> Info | None:
    """What a value's type says: None for an unwired slot.

    A tensor in another storage format than its origin's counts with its origin shape, which is what operators mean.
    """
    if isinstance(kind, TensorType):
        shape = dims_of(kind)
        encoding = kind.encoding
        if isinstance(encoding, DescAttr) and encoding.origin_shape is not None:
            shape = encoding.origin_shape
        return TensorInfo(_dtype(kind.element_type), shape)
    if isinstance(kind, UnrankedTensorType):
        return TensorInfo(_dtype(kind.element_type), None)
    if isinstance(kind, NoneType | ControlType):
        return None
    return OpaqueInfo(kind)


def _dtype(element: Attribute):
    try:
        return dtype_of(element)
    except KeyError:
        return ANY_TYPE


def is_relaid(kind: Attribute) -> bool:
    """Whether a tensor's storage format differs from its origin format.

    Operators on such tensors have attributes in terms of either, so shape functions say nothing about them.
    """
    if not isinstance(kind, TensorType) or not isinstance(encoding := kind.encoding, DescAttr):
        return False
    origin = encoding.origin_format
    return origin is not None and origin != encoding.format


def input_types(op: Operation) -> list[Attribute]:
    """The types of the data inputs, each slot's own where it differs from that of the value."""
    kinds = [value.type for value in data_operands(op)]
    if "ge.arg_attrs" in op.attributes:
        for index, kind in enumerate(kinds):
            kinds[index] = slot_attrs(op, "arg", index).data.get("type", kind)
    return kinds


def constant_value(
    value: SSAValue, constants: Mapping[SSAValue, NDArray[Any]] = NO_CONSTANTS
) -> NDArray[Any] | None:
    """The elements of a value: from `constants`, else those of the ge.constant that makes it, if its bytes are here."""
    if (known := constants.get(value)) is not None:
        return known
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    try:
        return array_of(owner.value)
    except WeightsError:
        return None


def infer_node(
    op: Operation,
    constants: Mapping[SSAValue, NDArray[Any]] = NO_CONSTANTS,
    spec: OpSpec | None = None,
) -> Outputs:
    """What the node's operator says about its data outputs, given its inputs; None where it says nothing.

    `constants` are values that are known beyond the ge.constant nodes, `spec` the node's `spec_of` if at hand.
    Raises ShapeError when inputs and attributes do not go together.
    """
    if spec is None:
        spec = spec_of(op)
    if isinstance(op, ConstantOp):
        own = elements_type(op.value)
        return [None if own is None else info_of_type(own)]
    if find(spec) is None:
        return [None] * spec.n_outputs
    kinds = input_types(op)
    if any(is_relaid(kind) for kind in kinds):
        return [None] * spec.n_outputs
    inputs = [info_of_type(kind) for kind in kinds]
    wanted = value_dependent_inputs(spec, len(inputs))
    if not wanted:
        return infer(spec, inputs)
    operands = op.operands
    values: list[NDArray[Any] | None] = [None] * len(inputs)
    for index in wanted:
        values[index] = constant_value(operands[index], constants)
    return infer(spec, inputs, values)
