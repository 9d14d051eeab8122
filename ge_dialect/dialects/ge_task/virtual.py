"""A node of the graph that makes no task: what a debugger sees of it, and what a run saves by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import (
    I64,
    BytesAttr,
    DictionaryAttr,
    IntegerAttr,
    NoneType,
    StringAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import parse_operand_list, print_operand_list
from ge_dialect.dialects.attrs import i64, segments
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
from ge_dialect.dialects.ge_task.types import BufferType

_HEAD = Clause("", "type", Form.STRING)
_CLAUSES = (
    Clause("engine", "engine", Form.STRING),
    Clause("attrs", "attrs", Form.DICT),
    Clause("op", "op_index", Form.INT),
    Clause("tasks", "saved_tasks", Form.INT),
    Clause("bytes", "saved_bytes", Form.INT),
)


@irdl_op_definition
class VirtualOp(IRDLOperation):
    """A concat, pack or split without task: its outputs are its inputs' memory, and nothing runs.

    It stands among the tasks at its node's place and is none of them: the device skips it. Its buffers tell where the
    node's inputs and outputs lie (spec/no_task.md section 11: dumps keep the node and its offsets). `saved_tasks` is
    the number of tasks that the node would make, `saved_bytes` the bytes that they would copy in each step.

    Text: `ge_task.virtual "ConcatD"(%a, %b) -> (%c) engine "AIcoreEngine" op 3 tasks 1 bytes 512 {ge.name = "c"}`.
    """

    name = "ge_task.virtual"

    ins = var_operand_def(BufferType | NoneType)
    outs = var_operand_def(BufferType | NoneType)
    type = prop_def(StringAttr | BytesAttr)
    engine = opt_prop_def(StringAttr | BytesAttr)
    attrs = opt_prop_def(DictionaryAttr)
    op_index = opt_prop_def(IntegerAttr[I64])
    saved_tasks = prop_def(IntegerAttr[I64])
    saved_bytes = prop_def(IntegerAttr[I64])

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def make(
        cls,
        ins: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        properties: Mapping[str, PropertyValue],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The op for a node that reads `ins` and whose results are `outs`; `properties` by name."""
        values = as_properties({"saved_tasks": 0, "saved_bytes": 0, **properties})
        values["operandSegmentSizes"] = segments(len(ins), len(outs))
        return cls.create(operands=(*ins, *outs), properties=values, attributes=attributes or {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {"type": parse_value(parser, _HEAD.form)}
        ins = parse_operand_list(parser)
        parser.parse_punctuation("->")
        outs = parse_operand_list(parser)
        properties["operandSegmentSizes"] = segments(len(ins), len(outs))
        parse_clauses(parser, _CLAUSES, properties)
        for name in ("saved_tasks", "saved_bytes"):
            properties.setdefault(name, i64(0))
        attributes = parser.parse_optional_attr_dict()
        return cls.create(operands=(*ins, *outs), properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_value(printer, _HEAD.form, self.properties["type"])
        print_operand_list(printer, self.ins)
        printer.print_string(" -> ")
        print_operand_list(printer, self.outs)
        print_clauses(printer, _CLAUSES, self.properties)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        for name in ("op_index", "saved_tasks", "saved_bytes"):
            number = self.properties.get(name)
            if isinstance(number, IntegerAttr) and number.value.data < 0:
                raise VerifyException(f"'{self.name}' {name} must be >= 0, got {number.value.data}")
