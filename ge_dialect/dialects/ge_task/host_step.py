"""What the steps of a host program share: value types in text, compatibility of types, checks, constructors."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    NoneType,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, base
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import parse_operand_list, print_operand_list
from ge_dialect.dialects.ge_task.clauses import (
    Clause,
    Form,
    PropertyValue,
    as_properties,
    parse_clauses,
    parse_value,
    print_clauses,
    print_value,
)
from ge_dialect.dialects.ge_task.types import (
    ListType,
    ObjectType,
    PlacedTensorType,
    Placement,
    ShapeType,
    as_tensor,
)

HostValue: TypeAlias = PlacedTensorType | ObjectType | NoneType
"""What flows between nodes: tensors, sequences, optionals and maps, absent slots."""

HOST_VALUE = base(PlacedTensorType) | base(ObjectType) | base(NoneType)
NODE_INPUT = HOST_VALUE | base(ShapeType)
CARRIED = HOST_VALUE | base(ShapeType) | base(ListType)
"""What regions take and yield."""

_PLACEMENTS = {placement.value: placement for placement in Placement}

STREAM = Clause("stream", "stream", Form.INT)
NAME = Clause("name", "name", Form.STRING)


class HostStepOp(IRDLOperation, ABC):
    """A step of a host program. The host takes the steps in order; work on streams is only issued by them."""

    def verify_(self) -> None:
        for name, value in self.properties.items():
            if isinstance(value, IntegerAttr) and value.value.data < 0:
                raise VerifyException(f"'{self.name}' {name} must be >= 0, got {value.value.data}")
        self.verify_step()

    def verify_step(self) -> None:
        """Checks of the kind, on the one op; what needs the whole program is checked by `ge_task.host`."""


def parse_host_type(parser: Parser) -> Attribute:
    """Parse `device tensor<...>` (or `host`, `any`) for a placed tensor, else any type."""
    placement = next(
        (p for word, p in _PLACEMENTS.items() if parser.parse_optional_keyword(word)), None
    )
    type = parser.parse_type()
    if placement is None:
        return type
    tensor = as_tensor(type)
    if tensor is None:
        parser.raise_error(f"expected a tensor type behind '{placement.value}', got {type}")
    return PlacedTensorType(tensor, placement)


def print_host_type(printer: Printer, type: Attribute) -> None:
    """Print a type as `parse_host_type` reads it."""
    if isinstance(type, PlacedTensorType):
        printer.print_string(f"{type.placement.data.value} ")
        type = type.tensor
    printer.print_attribute(type)


def parse_result_types(parser: Parser) -> list[Attribute]:
    """Parse `-> (types)`, nothing for no results."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    return parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parse_host_type(parser)
    )


def print_result_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print `-> (types)` with a blank in front, nothing for no results."""
    if types:
        printer.print_string(" -> (")
        printer.print_list(types, lambda type: print_host_type(printer, type))
        printer.print_string(")")


def compatible(one: Attribute, other: Attribute) -> bool:
    """Whether a value of type `one` may go where `other` is expected, at the latest checked at run time.

    Tensors agree when the element types are equal and no known dimension, rank or placement contradicts the other.
    """
    if isinstance(one, PlacedTensorType) and isinstance(other, PlacedTensorType):
        places = {one.placement.data, other.placement.data}
        return (len(places) == 1 or Placement.ANY in places) and _same_tensor(
            one.tensor, other.tensor
        )
    if isinstance(one, ShapeType) and isinstance(other, ShapeType):
        return one == other or ShapeType(None) in (one, other)
    if isinstance(one, ListType) and isinstance(other, ListType):
        return _same_tensor(one.element, other.element)
    return one == other


def _same_tensor(one: Attribute, other: Attribute) -> bool:
    first, second = as_tensor(one), as_tensor(other)
    if first is None or second is None or first.element_type != second.element_type:
        return False
    if isinstance(first, UnrankedTensorType) or isinstance(second, UnrankedTensorType):
        return True
    dims, wanted = first.get_shape(), second.get_shape()
    return len(dims) == len(wanted) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(dims, wanted, strict=True)
    )


def verify_compatible(
    op: str, what: str, got: Sequence[Attribute], want: Sequence[Attribute]
) -> None:
    """Raise VerifyException unless the types agree one by one."""
    if len(got) != len(want):
        raise VerifyException(f"'{op}' {what}: expected {len(want)} values, got {len(got)}")
    for i, (one, other) in enumerate(zip(got, want, strict=True)):
        if not compatible(one, other):
            raise VerifyException(f"'{op}' {what} {i} is {one}, expected {other}")


def placement_of(type: Attribute) -> Placement | None:
    """Where a tensor is, None for other values."""
    return type.placement.data if isinstance(type, PlacedTensorType) else None


def rank_of(type: Attribute) -> int | None:
    """Rank of a placed tensor or of a shape, None when it is unknown."""
    if isinstance(type, PlacedTensorType) and isinstance(type.tensor, TensorType):
        return type.tensor.get_num_dims()
    if isinstance(type, ShapeType):
        return type.known_rank()
    return None


class PlainStepOp(HostStepOp, ABC):
    """A step in the form `name head(operands) clauses {attributes} : result type`, less what the class has not.

    The result type is written unless the class can tell it from the operands (`infer_result`).
    """

    HEAD: ClassVar[Clause | None] = None
    CLAUSES: ClassVar[tuple[Clause, ...]] = ()
    HAS_OPERANDS: ClassVar[bool] = True
    HAS_RESULT: ClassVar[bool] = True

    @classmethod
    def infer_result(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Attribute | None:
        """The type of the one result as the operands and properties give it; None: it must be written."""
        return None

    @classmethod
    def build_step(
        cls,
        operands: Sequence[SSAValue] = (),
        result: Attribute | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """The step; fast, nothing is checked before `verify`."""
        values = as_properties(properties)
        if result is None and cls.HAS_RESULT:
            result = cls.infer_result(operands, values)
        return cls.create(
            operands=operands,
            result_types=() if result is None else (result,),
            properties=values,
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if cls.HEAD is not None:
            properties[cls.HEAD.prop] = parse_value(parser, cls.HEAD.form)
        operands = parse_operand_list(parser) if cls.HAS_OPERANDS else []
        parse_clauses(parser, cls.CLAUSES, properties)
        attributes = parser.parse_optional_attr_dict()
        result_types: list[Attribute] = []
        if cls.HAS_RESULT:
            inferred = cls.infer_result(operands, properties)
            if inferred is None:
                parser.parse_punctuation(":")
                inferred = parse_host_type(parser)
            result_types.append(inferred)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        if self.HEAD is not None:
            printer.print_string(" ")
            print_value(printer, self.HEAD.form, self.properties[self.HEAD.prop])
        if self.HAS_OPERANDS:
            print_operand_list(printer, tuple(self.operands))
        print_clauses(printer, self.CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes)
        if self.HAS_RESULT and self.infer_result(self.operands, self.properties) is None:
            printer.print_string(" : ")
            print_host_type(printer, self.results[0].type)

    def verify_inferred(self) -> None:
        """Raise VerifyException when the result type is not the one that the operands give."""
        inferred = self.infer_result(self.operands, self.properties)
        if inferred is not None and self.results[0].type != inferred:
            raise VerifyException(
                f"'{self.name}' result is {self.results[0].type}, the operand gives {inferred}"
            )
