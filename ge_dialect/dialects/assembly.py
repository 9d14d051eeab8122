"""Pieces of custom assembly that both dialects use."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, BytesAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer


def parse_defined_operand(parser: Parser) -> SSAValue:
    """Parse `%name` or `%name#i`, a value that is defined further up, so that its type need not be written.

    Raises ParseError at the name when there is no such value.
    """
    operand = parser.parse_unresolved_operand()
    values = parser.ssa_values.get(operand.operand_name, ())
    if operand.index >= len(values):
        name = operand.operand_name + (f"#{operand.index}" if operand.index else "")
        parser.raise_error(
            f"value %{name} is used before it is defined; only the generic form may do so",
            operand.span,
        )
    return values[operand.index]


def parse_operand_list(parser: Parser) -> list[SSAValue]:
    """Parse `(%a, %b#1)`, values defined further up; no parentheses mean no operands."""
    return (
        parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_defined_operand(parser)
        )
        or []
    )


def print_operand_list(printer: Printer, operands: tuple[SSAValue, ...] | list[SSAValue]) -> None:
    """Print `(%a, %b)`."""
    printer.print_string("(")
    printer.print_list(operands, printer.print_operand)
    printer.print_string(")")


def parse_string(parser: AttrParser) -> StringAttr | BytesAttr:
    """Parse a string literal; one that is not ASCII text comes back as bytes (as xDSL prints it)."""
    attribute = parser.parse_attribute()
    if not isinstance(attribute, StringAttr | BytesAttr):
        parser.raise_error("expected a string literal")
    return attribute


def parse_optional_string(parser: Parser) -> StringAttr | BytesAttr | None:
    """Parse a string literal as `parse_string` does; None, and nothing read, when there is none."""
    if (text := parser.parse_optional_str_literal()) is not None:
        return StringAttr(text)
    data = parser.parse_optional_bytes_literal()
    return None if data is None else BytesAttr(data)


def parse_symbol_list(parser: Parser) -> ArrayAttr[SymbolRefAttr]:
    """Parse `[@a, @b]`."""
    names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_symbol_name)
    return ArrayAttr([SymbolRefAttr(name.data) for name in names])


def print_symbol_list(printer: Printer, symbols: ArrayAttr[Attribute]) -> None:
    """Print `[@a, @b]`."""
    printer.print_string("[")
    printer.print_list(symbols.data, printer.print_attribute)
    printer.print_string("]")
