"""Buffers of a task list: views of device memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, cast

from xdsl.dialects.builtin import (
    I64,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    NoneType,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.attrs import i64, string, text_of
from ge_dialect.dialects.ge_task.clauses import (
    Clause,
    Form,
    parse_clauses,
    print_clauses,
)
from ge_dialect.dialects.ge_task.types import (
    BufferType,
    TensorLike,
    as_tensor,
    tensor_bytes,
)

_PLACE_CLAUSES = (Clause("at", "offset", Form.INT), Clause("size", "size", Form.INT))
_ROLE_CLAUSES = (
    Clause("input", "input", Form.INT),
    Clause("output", "output", Form.INT),
    Clause("name", "name", Form.STRING),
    Clause("value", "value", Form.ANY),
)


@irdl_op_definition
class BufferOp(IRDLOperation):
    """A view of `size` bytes at `offset` of the memory `space`, seen as one tensor.

    Views overlap freely; a consumer that needs another descriptor has a view of its own. `space` is a key of the
    model's arenas (`hbm`, `weight`, `var`, `p2p`, `host`, ...). `input` / `output` number the model's inputs and
    outputs that live here. `value` is the content at load time (weights, constants).

    Text: `%x = ge_task.buffer hbm at 1024 size 256 input 0 : tensor<2x64xf16>`.
    """

    name = "ge_task.buffer"

    space = prop_def(StringAttr)
    offset = prop_def(IntegerAttr[I64])
    size = prop_def(IntegerAttr[I64])
    input = opt_prop_def(IntegerAttr[I64])
    output = opt_prop_def(IntegerAttr[I64])
    io_name = opt_prop_def(StringAttr | BytesAttr, prop_name="name")
    """The name of the model input or output (property `name`)."""
    value = opt_prop_def(Attribute)
    result = result_def(BufferType)

    @classmethod
    def make(
        cls,
        type: BufferType | TensorLike,
        space: str,
        offset: int,
        size: int,
        *,
        input: int | None = None,
        output: int | None = None,
        name: str | None = None,
        value: Attribute | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """A view of `size` bytes at `offset` of `space`; fast, nothing is checked before `verify`."""
        properties: dict[str, Attribute] = {
            "space": string(space),
            "offset": i64(offset),
            "size": i64(size),
        }
        if input is not None:
            properties["input"] = i64(input)
        if output is not None:
            properties["output"] = i64(output)
        if name is not None:
            properties["name"] = string(name)
        if value is not None:
            properties["value"] = value
        view = type if isinstance(type, BufferType) else BufferType(type)
        return cls.create(result_types=(view,), properties=properties, attributes=attributes or {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {
            "space": StringAttr(parser.parse_identifier_or_str_literal())
        }
        parse_clauses(parser, (*_PLACE_CLAUSES, *_ROLE_CLAUSES), properties)
        for clause in _PLACE_CLAUSES:
            if clause.prop not in properties:
                parser.raise_error(f"expected '{clause.keyword}' with the {clause.prop} in bytes")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        tensor = as_tensor(type)
        if tensor is None:
            parser.raise_error(f"expected a tensor type, got {type}")
        return cls.create(
            result_types=(BufferType(tensor),), properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_identifier_or_string_literal(self.space.data)
        print_clauses(printer, (*_PLACE_CLAUSES, *_ROLE_CLAUSES), self.properties)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor)

    @property
    def tensor(self) -> TensorLike:
        """The type of the tensor that the view holds."""
        type = self.results[0].type
        assert isinstance(type, BufferType)
        return type.tensor

    def describe(self) -> str:
        """The buffer in an error message: its name in the text, when it has one, and its bytes."""
        start, size = self.offset.value.data, self.size.value.data
        name = text_of(self.io_name) or self.results[0].name_hint
        shown = f" %{name}" if name else ""
        return f"buffer{shown} {self.space.data}[{start}, {start + size})"

    def verify_(self) -> None:
        for name in ("offset", "size", "input", "output"):
            number = self.properties.get(name)
            if isinstance(number, IntegerAttr) and number.value.data < 0:
                raise VerifyException(f"'{self.name}' {name} must be >= 0, got {number.value.data}")
        tensor = self.tensor
        exact = tensor_bytes(tensor)
        if exact is not None and exact != self.size.value.data:
            raise VerifyException(
                f"'{self.name}' size {self.size.value.data} should be {exact}, the bytes of {tensor}"
            )
        value = self.properties.get("value")
        if isinstance(value, DenseIntOrFPElementsAttr):
            held = tensor_bytes(cast("DenseIntOrFPElementsAttr", value).type)
            if held is not None and held != self.size.value.data:
                raise VerifyException(
                    f"'{self.name}' value of {held} bytes does not fill the {self.size.value.data} bytes of the buffer"
                )


@irdl_op_definition
class AbsentOp(IRDLOperation):
    """Stands in an input or output slot that is not wired."""

    name = "ge_task.absent"
    result = result_def(NoneType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    @classmethod
    def make(cls) -> Self:
        """A stand-in."""
        return cls.create(result_types=(NoneType(),))
