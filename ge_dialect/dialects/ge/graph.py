"""Graphs, and the values that stand for what is not there or only orders."""

from __future__ import annotations

from typing import Self

from xdsl.dialects.builtin import NoneType, StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import (
    parse_defined_operand,
    parse_operand_list,
    print_operand_list,
)
from ge_dialect.dialects.ge.types import ControlType


@irdl_op_definition
class GraphOp(IRDLOperation):
    """One GE graph: a block of nodes in issue order, which is a topological order.

    A module is one model, a list of sibling graphs of which the first is the root. There is no terminator and there
    are no block arguments: inputs are `ge.data` nodes, outputs the operands of `ge.net_output`.

        ge.graph @main {
          %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
          ge.net_output (%x) {ge.name = "out"}
        }
    """

    name = "ge.graph"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    def __init__(
        self, name: str, body: Region | None = None, attributes: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(
            properties={"sym_name": StringAttr(name)},
            regions=[Region(Block()) if body is None else body],
            attributes=attributes or {},
        )

    @property
    def block(self) -> Block:
        """The block of nodes."""
        return self.body.block

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        return cls.create(
            properties={"sym_name": name},
            attributes=dict(attributes.data) if attributes else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    def verify_(self) -> None:
        if self.body.block.args:
            raise VerifyException(
                "'ge.graph' has block arguments; graph inputs are ge.data nodes in its body"
            )


@irdl_op_definition
class AbsentOp(IRDLOperation):
    """The value of an input slot that is not wired. No task, no memory.

    %none = ge.absent
    """

    name = "ge.absent"
    output = result_def(NoneType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[NoneType()])


@irdl_op_definition
class TokenOp(IRDLOperation):
    """A control value that is reached when `value` is: what orders a node behind an op of another dialect,
    which cannot have a control result itself. No task, no memory.

        %t = ge.token %v : tensor<2xf32>
    """

    name = "ge.token"
    value = operand_def()
    output = result_def(ControlType)
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue | Operation) -> None:
        super().__init__(operands=[value], result_types=[ControlType()])


@irdl_op_definition
class GateOp(IRDLOperation):
    """`value`, not to be used before the control operands are reached: what delays an op of another dialect, which
    takes no control operands itself. The result is the same memory; no task.

        %g = ge.gate %v (%ctl) : tensor<2xf32>
    """

    name = "ge.gate"
    value = operand_def()
    controls = var_operand_def(ControlType)
    output = result_def()

    def __init__(self, value: SSAValue, controls: list[SSAValue]) -> None:
        super().__init__(operands=[value, controls], result_types=[value.type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_defined_operand(parser)
        controls = parse_operand_list(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parser.parse_type()
        return cls.create(operands=[value, *controls], result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.value)
        printer.print_string(" ")
        print_operand_list(printer, tuple(self.controls))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.output.type)

    def verify_(self) -> None:
        if self.output.type != self.value.type:
            raise VerifyException(
                f"'ge.gate' result type {self.output.type} differs from its value's {self.value.type}"
            )
