"""The base of every op that stands for a GE node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ge_dialect.dialects.assembly import (
    parse_operand_list,
    parse_optional_string,
    parse_symbol_list,
    print_operand_list,
)
from ge_dialect.dialects.attrs import UNIT, i64, i64_array, text_of
from ge_dialect.dialects.ge.types import ControlType

Text = StringAttr | BytesAttr


class GeNode(IRDLOperation):
    """One node of a GE graph.

    Operand i is GE input slot i, then come control inputs; result k is output slot k, then at most one control
    result. Any arity is accepted. `type` is the GE operator type (absent: the class's `DEFAULT_TYPE`), `attrs` the GE
    attributes under their GE names, `subgraphs` the graphs that the node owns, in slot order.

    The custom form, any part of which may be missing:

        RESULTS = ge.NAME "type" (OPERANDS) PROPERTY VALUE ... attrs {...} subgraphs [@a, @b] {...} : RESULT TYPES

    Operands are defined further up, and only result types are written; those of a constant may be left out where they
    are its value's. The class's own properties follow the operands as keyword and value, in the order of its table; a
    constant's value has its type behind it. GE's attributes of the node go into `attrs`, marks of this project (`ge.*`)
    into the last braces. A control edge is a result of type `!ge.control` and an operand at the end:

        %w = ge.constant value dense<[1.0, 2.0]> : tensor<2xf32> {ge.name = "w"}
        %a, %t = ge.op "Elu" (%x) attrs {alpha = 0.5 : f32} {ge.name = "a"} : tensor<2xf32>, !ge.control
        %p, %q = ge.split (%w, %t) split_dim 0 num_split 2 {ge.name = "s"} : tensor<1xf32>, tensor<1xf32>
    """

    inputs = var_operand_def()
    outputs = var_result_def()
    type_name = opt_prop_def(Text, prop_name="type")
    attrs = opt_prop_def(DictionaryAttr)
    subgraphs = opt_prop_def(ArrayAttr)

    DEFAULT_TYPE: ClassVar[str | None] = None
    """The GE operator type of an op without the property `type`; None: the property is required."""

    GE_TYPES: ClassVar[tuple[str, ...] | None] = None
    """The GE operator types that the class may stand for; None: any."""

    GE_ATTRS: ClassVar[Mapping[str, str]] = {}
    """Typed property -> the GE attribute that it is. These are the keywords of the custom form, in order."""

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> Self:
        """Make the op without going through IRDL's constructor, which takes five times as long."""
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            attributes=attributes or {},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if (name := parse_optional_string(parser)) is not None:
            properties["type"] = name
        operands = parse_operand_list(parser)
        for keyword in cls.GE_ATTRS:
            if parser.parse_optional_keyword(keyword):
                properties[keyword] = _parse_value(parser)
        if parser.parse_optional_keyword("attrs"):
            properties["attrs"] = DictionaryAttr(parser.parse_optional_dictionary_attr_dict())
        if parser.parse_optional_keyword("subgraphs"):
            properties["subgraphs"] = parse_symbol_list(parser)
        attributes = parser.parse_optional_attr_dict()
        result_types = cls._parse_result_types(parser, properties)
        return cls.make(operands, result_types, properties, attributes)

    @classmethod
    def _parse_result_types(
        cls, parser: Parser, properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        if not parser.parse_optional_punctuation(":"):
            return cls.implied_types(properties)
        if parser.parse_optional_punctuation("("):
            parser.parse_punctuation(")")
            return []
        return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)

    @classmethod
    def implied_types(cls, properties: Mapping[str, Attribute]) -> list[Attribute]:
        """The result types of a text that gives none."""
        return []

    def print(self, printer: Printer) -> None:
        properties = self.properties
        if "type" in properties:
            printer.print_string(" ")
            printer.print_string_literal(text_of(properties["type"]) or "")
        if self._operands:
            printer.print_string(" ")
            print_operand_list(printer, self._operands)
        for keyword in self.GE_ATTRS:
            if keyword in properties:
                printer.print_string(f" {keyword}")
                _print_value(printer, properties[keyword])
        if "attrs" in properties:
            printer.print_string(" attrs ")
            printer.print_attribute(properties["attrs"])
        if "subgraphs" in properties:
            printer.print_string(" subgraphs ")
            printer.print_attribute(properties["subgraphs"])
        printer.print_op_attributes(self.attributes)
        types = [result.type for result in self.results]
        if types == self.implied_types(properties):
            return
        printer.print_string(" : ")
        if types:
            printer.print_list(types, printer.print_attribute)
        else:
            printer.print_string("()")

    def verify_(self) -> None:
        name = text_of(self.properties.get("type")) or self.DEFAULT_TYPE
        if not name:
            raise VerifyException(f"'{self.name}' needs the property 'type', the GE operator type")
        if self.GE_TYPES is not None and name not in self.GE_TYPES:
            raise VerifyException(
                f"'{self.name}' cannot have type \"{name}\", expected one of {', '.join(self.GE_TYPES)}"
            )
        verify_control_last(self)


def verify_control_last(op: Operation) -> None:
    """Control operands come after data operands, and of results only the last may be a control one."""
    seen = False
    for i, operand in enumerate(op.operands):
        if isinstance(operand.type, ControlType):
            seen = True
        elif seen:
            raise VerifyException(
                f"'{op.name}' operand #{i} is data behind a control operand; control operands come last"
            )
    for result in op.results[:-1]:
        if isinstance(result.type, ControlType):
            raise VerifyException(
                f"'{op.name}' result #{result.index} is a control value but not the last result"
            )


def _parse_value(parser: Parser) -> Attribute:
    if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
        return i64(number)
    if (
        numbers := parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_integer
        )
    ) is not None:
        return i64_array(numbers)
    attribute = parser.parse_optional_attribute()
    return UNIT if attribute is None else attribute


def _print_value(printer: Printer, value: Attribute) -> None:
    if isinstance(value, UnitAttr):
        return
    printer.print_string(" ")
    if isa(value, IntegerAttr[I64]):
        printer.print_string(str(value.value.data))
    elif isa(value, DenseArrayBase[I64]):
        printer.print_string(str(list(value.get_values())))
    else:
        printer.print_attribute(value)
