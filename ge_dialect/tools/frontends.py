"""What ge-opt reads, by file extension or `-f`: text with places, ONNX models.

Registered in ge-opt only: a frontend key that two packages of one environment claim breaks every xDSL tool there.
"""

from __future__ import annotations

import bisect
import dataclasses
import os
from dataclasses import dataclass
from typing import IO, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    RankedStructure,
    StringAttr,
    UnknownLoc,
    i1,
)
from xdsl.frontend.mlir import MLIRFrontend
from xdsl.ir import Operation
from xdsl.parser import Parser, Span
from xdsl.utils.exceptions import (
    InvalidIRException,
    ParseError,
    UnregisteredConstructException,
    VerifyException,
)
from xdsl.utils.frontend import Frontend

from ge_dialect.formats.errors import GeError

_TEXT_FAULTS = (
    VerifyException,
    InvalidIRException,
    UnregisteredConstructException,
    ArithmeticError,
    AssertionError,
    NotImplementedError,
    ValueError,
)
"""What xDSL raises for text that has the right form and no meaning, some of it without words."""


class LocatingParser(Parser):
    """Gives every operation that has no `loc(...)` the place where it was written, as mlir-opt does.

    `line_offset` is the number of lines before `text` in its file (a chunk of `--split-input-file`).
    """

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        super().__init__(ctx, text, name)
        self._file = StringAttr(name)
        self._newlines = [i for i, character in enumerate(text) if character == "\n"]
        self._line_offset = line_offset

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            line = bisect.bisect_left(self._newlines, start)
            column = start - (self._newlines[line - 1] + 1 if line else 0) + 1
            op.location = FileLineColLoc(
                self._file, IntAttr(line + 1 + self._line_offset), IntAttr(column)
            )
        return op

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        """With 1 for true, as everywhere in this project; xDSL writes -1."""
        parsed = super().parse_dense_int_or_fp_elements_attr(type)
        data = parsed.data.data
        if parsed.get_element_type() == i1 and max(data, default=0) > 1:
            parsed = DenseIntOrFPElementsAttr(parsed.type, BytesAttr(bytes(map(bool, data))))
        return parsed

    def fail(self, message: str) -> NoReturn:
        """Raise a ParseError with `message` at the token that is being read."""
        span = Span(self.pos, self.pos + 1, self.lexer.input)
        raise ParseError(span, message)


@dataclass(frozen=True)
class LocatedMLIRFrontend(MLIRFrontend):
    """MLIR text; every operation knows its line and column, every error is a ParseError with a place."""

    name = "mlir"
    line_offset: int = 0

    def parse(self, ctx: Context, input: IO[bytes], input_name: str = "input") -> ModuleOp:
        """Raises ParseError for anything wrong with the text, GeError for bytes that are not UTF-8."""
        try:
            text = input.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise GeError(f"not UTF-8 text: byte {error.start} is invalid", input_name) from error
        parser = LocatingParser(ctx, text, input_name, self.line_offset)
        try:
            return self._parse_module(parser)
        except ParseError as error:
            error.span = dataclasses.replace(error.span, line_offset=self.line_offset)
            raise

    def _parse_module(self, parser: LocatingParser) -> ModuleOp:
        try:
            return parser.parse_module(not self.no_implicit_module)
        except RecursionError:
            parser.fail("nested too deeply")
        except _TEXT_FAULTS as error:
            # Attributes and types verify themselves when they are made and know nothing of the text.
            parser.fail(str(error) or "xDSL cannot read this")


@dataclass(frozen=True)
class OnnxFrontend(Frontend):
    """A binary ONNX model. `dims` fixes symbolic dimensions: `-f 'onnx{dims="batch=1","seq=8"}'`, `--dim batch=1`."""

    name = "onnx"
    dims: tuple[str, ...] = ()

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """Raises GeError when the model cannot be read or holds what the importer does not know."""
        from ge_dialect.lowering.onnx import import_onnx
        from ge_dialect.lowering.onnx.load import model_of_bytes

        dims = parse_dims(self.dims)
        if os.path.exists(input_name):  # by path, so that external data beside the model is found
            return import_onnx(input_name, dims=dims)
        return import_onnx(model_of_bytes(input.read(), input_name), dims=dims)


def parse_dims(settings: tuple[str, ...]) -> dict[str, int]:
    """`("batch=1", "seq=8")` as a dictionary.

    Raises GeError for anything but NAME=NUMBER with a number from 0 to 2^63 - 1, and for a name with two numbers.
    """
    dims: dict[str, int] = {}
    for setting in settings:
        name, _, value = setting.rpartition("=")
        if not name or not (value.isascii() and value.isdecimal()):
            raise GeError(f"a dimension takes NAME=NUMBER, got '{setting}'", "--dim")
        if len(value) > 19 or int(value) >= 1 << 63:
            raise GeError(f"dimension '{name}' cannot be {value}", "--dim")
        if dims.setdefault(name, int(value)) != int(value):
            raise GeError(f"dimension '{name}' is given twice: {dims[name]}, {int(value)}", "--dim")
    return dims
