"""Shape functions on nodes of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from numpy.typing import NDArray
from xdsl.dialects.builtin import NoneType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ge_dialect.dialects.ge.access import data_operands, dims_of, slot_attrs
from ge_dialect.dialects.ge.desc import DescAttr
from ge_dialect.dialects.ge.element_types import dtype_of
from ge_dialect.dialects.ge.nodes import ConstantOp
from ge_dialect.dialects.ge.types import ControlType
from ge_dialect.dialects.ge.weights import WeightsError, array_of, elements_type
from ge_dialect.formats.dtypes import DType
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
        tensor = cast("TensorType[Attribute]", kind)
        shape = dims_of(tensor)
        encoding = tensor.encoding
        if isinstance(encoding, DescAttr) and encoding.origin_shape is not None:
            shape = encoding.origin_shape
        return TensorInfo(_dtype(tensor.element_type), shape)
    if isinstance(kind, UnrankedTensorType):
        return TensorInfo(_dtype(cast("UnrankedTensorType[Attribute]", kind).element_type), None)
    if isinstance(kind, NoneType | ControlType):
        return None
    return OpaqueInfo(kind)


def _dtype(element: Attribute) -> DType:
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


class TypeInfos:
    """`info_of_type` and `is_relaid` for one sweep over a module: each type object is looked at once."""

    def __init__(self) -> None:
        # Keyed by identity, as hashing a type costs more than looking at it; holding the type keeps its id its own.
        self._known: dict[int, tuple[Attribute, Info | None, bool]] = {}

    def look(self, kind: Attribute) -> tuple[Attribute, Info | None, bool]:
        """The type, what it says, and whether it is of another storage format than its origin."""
        found = self._known.get(id(kind))
        if found is None:
            found = self._known[id(kind)] = (kind, info_of_type(kind), is_relaid(kind))
        return found


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
    types: TypeInfos | None = None,
) -> Outputs:
    """What the node's operator says about its data outputs, given its inputs; None where it says nothing.

    `constants` are values that are known beyond the ge.constant nodes, `spec` the node's `spec_of` if at hand, `types`
    what a sweep over many nodes shares. Raises ShapeError when inputs and attributes do not go together.
    """
    if spec is None:
        spec = spec_of(op)
    if isinstance(op, ConstantOp):
        own = elements_type(op.value)
        return [None if own is None else info_of_type(own)]
    if find(spec) is None:
        return [None] * spec.n_outputs
    if types is None:
        types = TypeInfos()
    inputs: list[Info | None] = []
    for kind in input_types(op):
        _, info, relaid = types.look(kind)
        if relaid:
            return [None] * spec.n_outputs
        inputs.append(info)
    wanted = value_dependent_inputs(spec, len(inputs))
    if not wanted:
        return infer(spec, inputs)
    operands = op.operands
    values: list[NDArray[Any] | None] = [None] * len(inputs)
    for index in wanted:
        values[index] = constant_value(operands[index], constants)
    return infer(spec, inputs, values)
