"""Properties as Python values, and as clauses of the custom assembly.

A clause is one property of an op: `stream 0`, `labels [0, 1]`, `engine "AIcoreEngine"`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from ge_dialect.dialects.assembly import parse_string
from ge_dialect.dialects.attrs import UNIT, i64, i64_array, integers, string

PropertyValue: TypeAlias = "Attribute | int | str | bool | Sequence[int] | None"
"""What constructors take for a property: Python numbers, texts and lists become interned attributes."""


MAX_STREAMS = 1 << 20
"""Streams of a program: far more than any device has, and a bound for tables with a row for each."""


class Form(Enum):
    """How the value of a clause is written."""

    INT = "int"
    INTS = "ints"
    STRING = "string"
    DICT = "dict"
    ANY = "any"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: the keyword in the text, the property that it sets, how the value is written."""

    keyword: str
    prop: str
    form: Form


def ints_of(value: Attribute) -> tuple[int, ...]:
    """The numbers of an integer array property; empty for another attribute."""
    return integers(cast("DenseArrayBase", value)) if isinstance(value, DenseArrayBase) else ()


def as_property(value: PropertyValue) -> Attribute | None:
    """The attribute of a property value; None (and False) mean that the property is absent.

    Raises TypeError for a value of a kind that no property has.
    """
    match value:
        case None | Attribute():
            return value
        case bool():
            return UNIT if value else None
        case int():
            return i64(value)
        case str():
            return string(value)
        case Sequence():
            return i64_array(value)


def as_properties(values: Mapping[str, PropertyValue]) -> dict[str, Attribute]:
    """All property values that are present, as attributes."""
    found = {name: as_property(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def _parse_int(parser: Parser) -> Attribute:
    return i64(parser.parse_integer(allow_boolean=False))


def _parse_ints(parser: Parser) -> Attribute:
    return i64_array(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
    )


def _parse_dict(parser: Parser) -> Attribute:
    value = parser.parse_attribute()
    if not isinstance(value, DictionaryAttr):
        parser.raise_error("expected a dictionary")
    return value


_PARSE: Mapping[Form, Callable[[Parser], Attribute]] = {
    Form.INT: _parse_int,
    Form.INTS: _parse_ints,
    Form.STRING: parse_string,
    Form.DICT: _parse_dict,
    Form.ANY: lambda parser: parser.parse_attribute(),
    Form.FLAG: lambda parser: UNIT,
}


def parse_value(parser: Parser, form: Form) -> Attribute:
    """Parse the value of a clause."""
    return _PARSE[form](parser)


def print_value(printer: Printer, form: Form, value: Attribute) -> None:
    """Print the value of a clause."""
    if form is Form.INT and isinstance(value, IntegerAttr):
        printer.print_string(str(value.value.data))
    elif form is Form.INTS:
        printer.print_string("[" + ", ".join(map(str, ints_of(value))) + "]")
    elif form is not Form.FLAG:
        printer.print_attribute(value)


def parse_clauses(
    parser: Parser, clauses: Sequence[Clause], properties: dict[str, Attribute]
) -> None:
    """Parse any of the clauses, in any order, each at most once, into `properties`."""
    left = {clause.keyword: clause for clause in clauses}
    while left:
        keyword = next((word for word in left if parser.parse_optional_keyword(word)), None)
        if keyword is None:
            return
        clause = left.pop(keyword)
        properties[clause.prop] = parse_value(parser, clause.form)


def print_clauses(
    printer: Printer, clauses: Sequence[Clause], properties: Mapping[str, Attribute]
) -> None:
    """Print the clauses whose property is present, in the order of `clauses`."""
    for clause in clauses:
        value = properties.get(clause.prop)
        if value is None:
            continue
        printer.print_string(f" {clause.keyword}")
        if clause.form is not Form.FLAG:
            printer.print_string(" ")
            print_value(printer, clause.form, value)
