"""Steps that bring values in and out: model inputs and outputs, constants, variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

from xdsl.dialects.builtin import I64, BytesAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from ge_dialect.dialects.ge_task.clauses import Clause, Form
from ge_dialect.dialects.ge_task.host_step import HOST_VALUE, NAME, PlainStepOp


@irdl_op_definition
class HostInputOp(PlainStepOp):
    """Input `index` of the program, called `name`. `any`: the caller decides at run time where its bytes are.

    Text: `%x = ge_task.input 0 name "x" : any tensor<?x4xf32>`.
    """

    name = "ge_task.input"
    HEAD: ClassVar[Clause | None] = Clause("", "index", Form.INT)
    CLAUSES: ClassVar[tuple[Clause, ...]] = (NAME,)
    HAS_OPERANDS: ClassVar[bool] = False

    index = prop_def(IntegerAttr[I64])
    io_name = opt_prop_def(StringAttr | BytesAttr, prop_name="name")
    result = result_def(HOST_VALUE)

    @classmethod
    def make(
        cls,
        type: Attribute,
        index: int,
        *,
        name: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """Input `index` of type `type`."""
        return cls.build_step((), type, attributes, index=index, name=name)


@irdl_op_definition
class HostOutputOp(PlainStepOp):
    """Makes a value output `index` of the program. Text: `ge_task.output 0(%y) name "y"`."""

    name = "ge_task.output"
    HEAD: ClassVar[Clause | None] = Clause("", "index", Form.INT)
    CLAUSES: ClassVar[tuple[Clause, ...]] = (NAME,)
    HAS_RESULT: ClassVar[bool] = False

    index = prop_def(IntegerAttr[I64])
    io_name = opt_prop_def(StringAttr | BytesAttr, prop_name="name")
    value = operand_def(HOST_VALUE)

    @classmethod
    def make(
        cls,
        value: SSAValue,
        index: int,
        *,
        name: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """`value` as output `index`."""
        return cls.build_step((value,), None, attributes, index=index, name=name)


@irdl_op_definition
class HostConstOp(PlainStepOp):
    """A constant, brought to its placement once, when the program is loaded; nothing writes it.

    Text: `%w = ge_task.const dense<1> : tensor<2xi32> name "w" : device tensor<2xi32>`.
    """

    name = "ge_task.const"
    HEAD: ClassVar[Clause | None] = Clause("", "value", Form.ANY)
    CLAUSES: ClassVar[tuple[Clause, ...]] = (NAME,)
    HAS_OPERANDS: ClassVar[bool] = False

    value = prop_def(Attribute)
    io_name = opt_prop_def(StringAttr | BytesAttr, prop_name="name")
    result = result_def(HOST_VALUE)

    @classmethod
    def make(
        cls,
        type: Attribute,
        value: Attribute,
        *,
        name: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The constant `value` as a value of type `type`."""
        return cls.build_step((), type, attributes, value=value, name=name)


@irdl_op_definition
class HostVariableOp(PlainStepOp):
    """A tensor that lives as long as the loaded program and starts with `value` (zeros without one).

    Steps write it through the destination form. Text: `%v = ge_task.variable "w" value ... : device tensor<2xf32>`.
    """

    name = "ge_task.variable"
    HEAD: ClassVar[Clause | None] = Clause("", "name", Form.STRING)
    CLAUSES: ClassVar[tuple[Clause, ...]] = (Clause("value", "value", Form.ANY),)
    HAS_OPERANDS: ClassVar[bool] = False

    io_name = prop_def(StringAttr | BytesAttr, prop_name="name")
    value = opt_prop_def(Attribute)
    result = result_def(HOST_VALUE)

    @classmethod
    def make(
        cls,
        type: Attribute,
        name: str,
        *,
        value: Attribute | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """The variable `name` of type `type`."""
        return cls.build_step((), type, attributes, name=name, value=value)


HOST_VALUE_OPS = (HostInputOp, HostOutputOp, HostConstOp, HostVariableOp)
