"""Constant data: numpy arrays as attributes and back, without copies, and the forms that leave the bytes out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ge_dialect.dialects.assembly import parse_string
from ge_dialect.dialects.attrs import string_attr, text_of
from ge_dialect.dialects.ge.element_types import dtype_of, ir_element_type
from ge_dialect.formats.dtypes import DType, dtype_by_name, dtype_of_numpy
from ge_dialect.formats.errors import GeError

ELIDE_ABOVE_BYTES = 256
"""Constants of more bytes are printed without them unless asked for (design.md section 4, Weights)."""

GREATEST_RANK = 64
"""Dimensions of a tensor whose elements are looked at: numpy's limit."""

ELIDED_KEY = "__elided__"
"""The resource key that stands for bytes that were left out of a text."""


class WeightsError(GeError):
    """The bytes of a constant are needed but not there."""


@irdl_attr_definition
class StringElementsAttr(ParametrizedAttribute):
    """The elements of a string tensor: `#ge.strings<["a", "b"] : tensor<2x!ge.string>>`."""

    name = "ge.strings"
    elements: ArrayAttr[Attribute] = param_def()
    type: TensorType[Attribute] = param_def()

    def verify(self) -> None:
        """Raises VerifyException unless there are as many strings as the type says."""
        if any(not isinstance(x, StringAttr | BytesAttr) for x in self.elements.data):
            raise VerifyException("#ge.strings holds strings")
        shape = self.type.get_shape()
        if DYNAMIC_INDEX in shape or _product(shape) != len(self.elements.data):
            raise VerifyException(
                f"#ge.strings has {len(self.elements.data)} elements, which do not make a {self.type}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            elements = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_attribute
            )
            parser.parse_punctuation(":")
            tensor = parser.parse_type()
        if not isinstance(tensor, TensorType):
            parser.raise_error("#ge.strings needs a ranked tensor type")
        return [ArrayAttr(elements), tensor]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.elements)
            printer.print_string(" : ")
            printer.print_attribute(self.type)


@irdl_attr_definition
class ExternalAttr(ParametrizedAttribute):
    """Bytes in a file beside the text: `#ge.external<"model.weights", offset = 0, size = 16>`."""

    name = "ge.external"
    file: StringAttr = param_def()
    offset: IntAttr = param_def()
    size: IntAttr = param_def()

    def __init__(self, file: str, offset: int, size: int) -> None:
        super().__init__(StringAttr(file), IntAttr(offset), IntAttr(size))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            file = text_of(parse_string(parser)) or ""
            numbers: list[int] = []
            for key in ("offset", "size"):
                parser.parse_punctuation(",")
                parser.parse_keyword(key)
                parser.parse_punctuation("=")
                numbers.append(parser.parse_integer(allow_boolean=False, allow_negative=False))
        return [StringAttr(file), IntAttr(numbers[0]), IntAttr(numbers[1])]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.file.data)
            printer.print_string(f", offset = {self.offset.data}, size = {self.size.data}")


def ranked_tensor(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """The tensor type of an IR element type and a shape; -1 is an unknown dimension (xDSL has another number)."""
    return TensorType(element, [DYNAMIC_INDEX if dim < 0 else dim for dim in shape])


@lru_cache(maxsize=65536)
def _tensor_type(dtype: str, shape: tuple[int, ...]) -> TensorType[Attribute]:
    return ranked_tensor(ir_element_type(dtype_by_name(dtype)), shape)


def tensor_type(dtype: DType, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """The (interned) ranked tensor type without descriptor; -1 is an unknown dimension."""
    return _tensor_type(dtype.name, shape)


class _HashableArray(np.ndarray[Any, Any]):
    """An array whose memoryview can be hashed: Python hashes a view by its bytes, but only if the owner has a hash."""

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]


def elements_attr(array: np.ndarray) -> DenseIntOrFPElementsAttr | StringElementsAttr:
    """The attribute that holds `array`, over the array's own memory when that is contiguous and read-only.

    Elements of less than eight bits take one byte each. Raises KeyError for an element type that GE lacks.
    """
    dtype = dtype_of_numpy(array.dtype)
    kind = tensor_type(dtype, array.shape)
    if dtype.name == "STRING":
        texts = [
            BytesAttr(x) if isinstance(x, bytes) and not x.isascii() else string_attr(_text(x))
            for x in array.reshape(-1).tolist()
        ]
        return StringElementsAttr(ArrayAttr(texts), kind)
    flat = np.ascontiguousarray(array).reshape(-1)
    data: bytes | memoryview
    if flat.flags.writeable or flat.nbytes <= ELIDE_ABOVE_BYTES:
        data = flat.tobytes()
    else:
        data = flat.view(np.uint8).view(_HashableArray).data
    return DenseIntOrFPElementsAttr(kind, BytesAttr(data))  # pyright: ignore[reportArgumentType]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def array_of(value: Attribute, node: str = "constant", place: str | None = None) -> np.ndarray:
    """The elements of a constant's `value`: a read-only view of the attribute's bytes (strings: a new object array).

    Raises WeightsError, naming `node` and its `place`, when the bytes were left out of the text or lie in a file that
    is not loaded.
    """
    if isinstance(value, DenseIntOrFPElementsAttr):
        try:
            dtype = dtype_of(cast(Attribute, value.get_element_type())).numpy
        except KeyError:
            kind = cast(Attribute, value.get_element_type())
            message = f'"{node}" holds elements of type {kind}, which GE lacks'
            raise WeightsError(message, place) from None
        shape = value.get_shape()
        if len(shape) > GREATEST_RANK:
            raise WeightsError(
                f'"{node}" has {len(shape)} dimensions, more than the {GREATEST_RANK} that can be computed',
                place,
            )
        flat = np.frombuffer(value.data.data, dtype)
        return (
            np.broadcast_to(flat, shape)
            if flat.size == 1 != _product(shape)
            else flat.reshape(shape)
        )
    if isinstance(value, StringElementsAttr):
        strings = np.empty(len(value.elements.data), dtype=object)
        strings[:] = [text_of(x) or "" for x in value.elements.data]
        return strings.reshape(value.type.get_shape())
    if isinstance(value, DenseResourceAttr):
        raise WeightsError(
            f'the bytes of "{node}" were left out of this text; print it with --weights=inline or --weights=FILE',
            place,
        )
    if isinstance(value, ExternalAttr):
        raise WeightsError(
            f'the bytes of "{node}" lie in "{value.file.data}", which is not loaded; pass --weights={value.file.data}',
            place,
        )
    raise WeightsError(f'"{node}" holds {value}, which is not constant data', place)


def elements_type(value: Attribute) -> Attribute | None:
    """The tensor type that a constant's `value` carries itself, None when it carries none."""
    if isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr | StringElementsAttr):
        return cast(Attribute, cast(Any, value).type)
    return None


def _product(shape: tuple[int, ...]) -> int:
    size = 1
    for dim in shape:
        size *= dim
    return size
