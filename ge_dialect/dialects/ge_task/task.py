"""What all tasks share: stream, producing node, operand groups, text form, count of hardware tasks.

A task is an entry of the flat list of `ge_task.model`. It has no results: what it computes goes into buffers. The
order of the list is the issue order; the tasks of one stream run in that order.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

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
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import (
    parse_operand_list,
    print_operand_list,
)
from ge_dialect.dialects.attrs import i64, segments, string
from ge_dialect.dialects.ge.source import verify_source
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

COMMON_CLAUSES = (
    Clause("stream", "stream", Form.INT),
    Clause("op", "op_index", Form.INT),
    Clause("sqe_num", "sqe_num", Form.INT),
    Clause("payload", "payload", Form.DICT),
)


class TaskOp(IRDLOperation, ABC):
    """A task: runs on `stream`, made by the node with id `op_index`."""

    TASK_TYPE: ClassVar[int] = -1
    """The number of the task's kind (spec/tasks.md section 2)."""
    HEAD: ClassVar[Clause | None] = None
    """The property written right behind the name, without a keyword."""
    CLAUSES: ClassVar[tuple[Clause, ...]] = ()
    """Further properties in the text form, in front of the common ones."""
    EXTRA_TASKS: ClassVar[int] = 0
    """Hardware tasks on top of `sqe_num`."""

    stream = prop_def(IntegerAttr[I64])
    op_index = opt_prop_def(IntegerAttr[I64])
    sqe_num = opt_prop_def(IntegerAttr[I64])
    payload = opt_prop_def(DictionaryAttr)
    """Fields of the task record that no property holds, under their names in the record."""

    def hardware_tasks(self) -> int:
        """How many entries of the stream's hardware queue the task takes (spec/tasks.md section 3.4)."""
        sqe_num = self.properties.get("sqe_num")
        listed = sqe_num.value.data if isinstance(sqe_num, IntegerAttr) else 0
        return max(1, listed) + self.EXTRA_TASKS

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if cls.HEAD is not None:
            properties[cls.HEAD.prop] = parse_value(parser, cls.HEAD.form)
        operands = cls._parse_operands(parser, properties)
        parse_clauses(parser, (*cls.CLAUSES, *COMMON_CLAUSES), properties)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(operands=operands, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        if self.HEAD is not None:
            printer.print_string(" ")
            print_value(printer, self.HEAD.form, self.properties[self.HEAD.prop])
        self._print_operands(printer)
        print_clauses(printer, (*self.CLAUSES, *COMMON_CLAUSES), self.properties)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def _parse_operands(
        cls, parser: Parser, properties: dict[str, Attribute]
    ) -> Sequence[SSAValue]:
        """Parse what stands between head and clauses."""
        return ()

    def _print_operands(self, printer: Printer) -> None:
        """Print what stands between head and clauses."""

    def verify_(self) -> None:
        for name, value in self.properties.items():
            if isinstance(value, IntegerAttr) and value.value.data < 0:
                raise VerifyException(f"'{self.name}' {name} must be >= 0, got {value.value.data}")
        self.verify_task()

    def verify_task(self) -> None:
        """Checks of the kind, on the one op; what needs the whole list is checked by `ge_task.model`."""


class SimpleTaskOp(TaskOp, ABC):
    """A task without operands and without properties of its own."""

    @classmethod
    def make(
        cls,
        *,
        stream: int,
        op_index: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """A task on `stream` for node `op_index`; `properties` are further properties by name."""
        return cls.create(
            properties=as_properties({**properties, "stream": stream, "op_index": op_index}),
            attributes=attributes or {},
        )


class InputTaskOp(TaskOp, ABC):
    """A task that reads buffers and writes none: the switches."""

    ins = var_operand_def(BufferType)

    @classmethod
    def make(
        cls,
        ins: Sequence[SSAValue],
        *,
        stream: int,
        op_index: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """A task on `stream` that reads `ins`; `properties` are the kind's properties by name."""
        return cls.create(
            operands=ins,
            properties=as_properties({**properties, "stream": stream, "op_index": op_index}),
            attributes=attributes or {},
        )

    @classmethod
    def _parse_operands(
        cls, parser: Parser, properties: dict[str, Attribute]
    ) -> Sequence[SSAValue]:
        return parse_operand_list(parser)

    def _print_operands(self, printer: Printer) -> None:
        print_operand_list(printer, tuple(self.operands))


class OperandTaskOp(TaskOp, ABC):
    """A task that reads `ins`, writes `outs` and may use `workspaces`.

    `ins[i]` is input slot i and `outs[k]` output k of the GE node; an unwired slot is a value of `ge_task.absent`.
    Text: `"Type"(ins) -> (outs) workspace (...)`.
    """

    ins = var_operand_def(BufferType | NoneType)
    outs = var_operand_def(BufferType | NoneType)
    workspaces = var_operand_def(BufferType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def make(
        cls,
        type: str | None,
        ins: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        workspaces: Sequence[SSAValue] = (),
        *,
        stream: int,
        op_index: int | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Self:
        """A task for a node of GE type `type`; `properties` are further properties of the kind by name.

        Fast: no constraint is looked at before `verify`.
        """
        values: dict[str, Attribute] = {
            "operandSegmentSizes": segments(len(ins), len(outs), len(workspaces)),
            "stream": i64(stream),
        }
        if type is not None:
            values["type"] = string(type)
        if op_index is not None:
            values["op_index"] = i64(op_index)
        if properties:
            values.update(as_properties(properties))
        return cls.create(
            operands=(*ins, *outs, *workspaces),
            properties=values,
            attributes=attributes or {},
        )

    @classmethod
    def _parse_operands(
        cls, parser: Parser, properties: dict[str, Attribute]
    ) -> Sequence[SSAValue]:
        ins = parse_operand_list(parser)
        parser.parse_punctuation("->")
        outs = parse_operand_list(parser)
        workspaces: list[SSAValue] = []
        if parser.parse_optional_keyword("workspace") is not None:
            workspaces = parse_operand_list(parser)
        properties["operandSegmentSizes"] = segments(len(ins), len(outs), len(workspaces))
        return (*ins, *outs, *workspaces)

    def _print_operands(self, printer: Printer) -> None:
        print_operand_list(printer, self.ins)
        printer.print_string(" -> ")
        print_operand_list(printer, self.outs)
        if self.workspaces:
            printer.print_string(" workspace ")
            print_operand_list(printer, self.workspaces)


KERNEL_CLAUSES = (
    Clause("engine", "engine", Form.STRING),
    Clause("source", "source", Form.STRING),
    Clause("attrs", "attrs", Form.DICT),
    Clause("kernel_type", "kernel_type", Form.INT),
    Clause("block_dim", "block_dim", Form.INT),
)


class KernelTaskOp(OperandTaskOp, ABC):
    """A task that computes what a node of type `type` with the attributes `attrs` means.

    `source` names the ONNX operator as in `ge.op` (`ai.onnx::Softmax@11`), for types that GE has no twin of.
    """

    HEAD: ClassVar[Clause | None] = Clause("", "type", Form.STRING)
    CLAUSES: ClassVar[tuple[Clause, ...]] = KERNEL_CLAUSES

    type = prop_def(StringAttr | BytesAttr)
    engine = opt_prop_def(StringAttr | BytesAttr)
    source = opt_prop_def(StringAttr | BytesAttr)
    attrs = opt_prop_def(DictionaryAttr)
    kernel_type = opt_prop_def(IntegerAttr[I64])
    block_dim = opt_prop_def(IntegerAttr[I64])

    def verify_(self) -> None:
        """The rules of its kind, and a source that names an operator."""
        super().verify_()
        verify_source(self)


AUXILIARY_CLAUSES = (Clause("type", "type", Form.STRING), Clause("attrs", "attrs", Form.DICT))


class AuxiliaryTaskOp(OperandTaskOp, ABC):
    """A task that moves, touches or announces data for a node; the node's type is optional."""

    type = opt_prop_def(StringAttr | BytesAttr)
    attrs = opt_prop_def(DictionaryAttr)

    CLAUSES: ClassVar[tuple[Clause, ...]] = AUXILIARY_CLAUSES
