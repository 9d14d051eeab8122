"""A host-scheduled program: the host visits every step, each time the model runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import I64, IntegerAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import i64, string
from ge_dialect.dialects.ge_task.clauses import (
    MAX_STREAMS,
    Clause,
    Form,
    parse_clauses,
    print_clauses,
)
from ge_dialect.dialects.ge_task.host_checks import verify_program

_CLAUSES = (
    Clause("streams", "stream_num", Form.INT),
    Clause("events", "event_num", Form.INT),
)


@irdl_op_definition
class HostOp(IRDLOperation):
    """Ordered steps on SSA values, one block without terminator.

    Constants and variables are set up once, when the program is loaded; all other steps run each time. Work for the
    device is issued to streams and runs there in order; `sync` waits for it.

    Text: `ge_task.host @main streams 1 events 0 { ... }`.
    """

    name = "ge_task.host"

    sym_name = prop_def(SymbolNameConstraint())
    stream_num = prop_def(IntegerAttr[I64])
    event_num = prop_def(IntegerAttr[I64])
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    @classmethod
    def make(
        cls,
        name: str,
        ops: Sequence[Operation] = (),
        *,
        stream_num: int = 1,
        event_num: int = 0,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """A program of the steps `ops`; more can be added to `body.block`."""
        return cls.create(
            properties={
                "sym_name": string(name),
                "stream_num": i64(stream_num),
                "event_num": i64(event_num),
            },
            attributes=attributes or {},
            regions=[Region(Block(ops))],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        parse_clauses(parser, _CLAUSES, properties)
        properties.setdefault("stream_num", i64(1))
        properties.setdefault("event_num", i64(0))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.create(
            properties=properties,
            attributes=attributes.data if attributes is not None else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        print_clauses(printer, _CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def verify_(self) -> None:
        for name in ("stream_num", "event_num"):
            value = self.properties[name]
            if isinstance(value, IntegerAttr) and value.value.data < 0:
                raise VerifyException(f"'{self.name}' {name} must be >= 0, got {value.value.data}")
        if self.stream_num.value.data > MAX_STREAMS:
            raise VerifyException(
                f"'{self.name}' stream_num {self.stream_num.value.data} is more than {MAX_STREAMS}"
            )
        verify_program(self)
