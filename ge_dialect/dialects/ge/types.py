"""Types that builtin lacks: control edges, element types of GE, and ONNX's non-tensor values."""

from __future__ import annotations

from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def


@irdl_attr_definition
class ControlType(ParametrizedAttribute, TypeAttribute):
    """A control edge: it orders two nodes and carries no data."""

    name = "ge.control"


@irdl_attr_definition
class StringType(ParametrizedAttribute, TypeAttribute):
    """Element type DT_STRING: text or bytes of any length."""

    name = "ge.string"


@irdl_attr_definition
class ResourceType(ParametrizedAttribute, TypeAttribute):
    """Element type DT_RESOURCE: a handle; memory that holds one is never released (spec/memory.md 3.1)."""

    name = "ge.resource"


@irdl_attr_definition
class VariantType(ParametrizedAttribute, TypeAttribute):
    """Element type DT_VARIANT; memory that holds one is never released (spec/memory.md 3.1)."""

    name = "ge.variant"


@irdl_attr_definition
class UndefinedType(ParametrizedAttribute, TypeAttribute):
    """Element type DT_UNDEFINED: what an unwired slot's descriptor says."""

    name = "ge.undefined"


@irdl_attr_definition
class HiFloat8Type(ParametrizedAttribute, TypeAttribute):
    """Element type DT_HIFLOAT8."""

    name = "ge.hif8"


@irdl_attr_definition
class Complex32Type(ParametrizedAttribute, TypeAttribute):
    """Element type DT_COMPLEX32: two float16."""

    name = "ge.complex32"


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """ONNX's sequence: an ordered list of values of one type, kept on the host."""

    name = "ge.sequence"
    element: Attribute = param_def()


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """ONNX's optional: a value or nothing, kept on the host."""

    name = "ge.optional"
    element: Attribute = param_def()


@irdl_attr_definition
class MapType(ParametrizedAttribute, TypeAttribute):
    """ONNX's map from integers or strings to values, kept on the host."""

    name = "ge.map"
    key: Attribute = param_def()
    value: Attribute = param_def()


TYPES: tuple[type[Attribute], ...] = (
    ControlType,
    StringType,
    ResourceType,
    VariantType,
    UndefinedType,
    HiFloat8Type,
    Complex32Type,
    SequenceType,
    OptionalType,
    MapType,
)
